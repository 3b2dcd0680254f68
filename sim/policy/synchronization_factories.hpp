// One line for each synchronization policy; the classes stay private to their files.
#pragma once

#include <memory>

#include "sim/policy/synchronization.hpp"

namespace paceline {

[[nodiscard]] std::unique_ptr<SynchronizationPolicy> make_bsp();
[[nodiscard]] std::unique_ptr<SynchronizationPolicy> make_asp();
[[nodiscard]] std::unique_ptr<SynchronizationPolicy> make_k_sync(std::size_t gradients_per_update);
[[nodiscard]] std::unique_ptr<SynchronizationPolicy> make_backup_workers(std::size_t backups);

}  // namespace paceline
