// One line for each synchronization policy; the classes stay private to their files.
#pragma once

#include <memory>

#include "sim/policy/synchronization.hpp"

namespace paceline {

[[nodiscard]] std::unique_ptr<SynchronizationPolicy> make_bsp();
[[nodiscard]] std::unique_ptr<SynchronizationPolicy> make_asp();

}  // namespace paceline
