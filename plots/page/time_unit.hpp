// The unit a time axis is read best in.
//
// Models:      the largest unit of s, min, h, d in which the longest time is at least 5.
// Units:       seconds in, the chosen unit out.
// Assumptions: one unit for a whole figure.
// Not modelled: mixed notation such as 1:30:00.
// Source:      none.
#pragma once

#include <string>

namespace paceline::plots {

struct TimeUnit {
  const char* symbol;
  double seconds;
};

[[nodiscard]] TimeUnit time_unit_for(double longest_s);

// Three significant digits and the unit, e.g. "12.3 s", "1.20 h".
[[nodiscard]] std::string time_text(double time_s, TimeUnit unit);

}  // namespace paceline::plots
