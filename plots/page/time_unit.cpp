#include "plots/page/time_unit.hpp"

#include <fmt/format.h>

namespace paceline::plots {

TimeUnit time_unit_for(double longest_s) {
  for (const TimeUnit unit : {TimeUnit{"d", 86400.0}, TimeUnit{"h", 3600.0}, TimeUnit{"min", 60.0}}) {
    if (longest_s >= 5.0 * unit.seconds) return unit;
  }
  return {"s", 1.0};
}

std::string time_text(double time_s, TimeUnit unit) {
  const double value = time_s / unit.seconds;
  if (value >= 99.95) return fmt::format("{:.0f} {}", value, unit.symbol);
  return fmt::format("{:#.3g} {}", value, unit.symbol);
}

}  // namespace paceline::plots
