// A duration as a person reads it.
#pragma once

#include <string>

#include "sim/base/quantity.hpp"

namespace paceline {

// "7.32 s", "12.5 min", "3.08 h": three significant digits.
[[nodiscard]] std::string format_time(Seconds time);

}  // namespace paceline
