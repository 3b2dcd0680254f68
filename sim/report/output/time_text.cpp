#include "sim/report/output/time_text.hpp"

#include <fmt/format.h>

namespace paceline {

std::string format_time(Seconds time) {
  const double s = time.value();
  if (s < 100.0) return fmt::format("{:#.3g} s", s);
  if (s < 6000.0) return fmt::format("{:#.3g} min", s / 60.0);
  return fmt::format("{:#.3g} h", s / 3600.0);
}

}  // namespace paceline
