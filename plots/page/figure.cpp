#include "plots/page/figure.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "sim/base/check.hpp"

namespace paceline::plots {

Ink series_ink(std::size_t index) {
  return series_ink(index, 0);
}

Ink series_ink(std::size_t index, std::size_t variation) {
  constexpr std::array colours{"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                               "#E69F00", "#56B4E9", "#000000", "#808080"};
  constexpr std::array dashes{"solid",  "(12,4)", "(4,3)",         "(12,3,2,3)",
                              "(18,4)", "(2,2)",  "(9,3,2,3,2,3)", "(18,3,5,3)"};
  constexpr std::array markers{7, 5, 9, 13, 11, 6, 4, 8};
  // Beyond eight series the same colour returns with another dash and marker.
  const std::size_t round = index / colours.size() + variation;
  return {colours[index % 8], dashes[(index + round) % 8], markers[(index + round) % 8]};
}

Ink hollow(Ink ink) {
  if (ink.marker % 2 == 1) --ink.marker;
  return ink;
}

void Extent::include(double value) {
  low = std::min(low, value);
  high = std::max(high, value);
}

Axis Extent::axis(const std::string& title, double margin) const {
  return {.title = title, .from = low - margin, .to = high + margin};
}

Axis Extent::log_axis(const std::string& title, int base, double factor) const {
  return {.title = title, .from = low / factor, .to = high * factor, .log_base = base};
}

double tic_step(double span, int tics_max) {
  check(span > 0.0 && tics_max > 0, "an axis has a length, and tics");
  const double exact = span / static_cast<double>(tics_max);
  const double power = std::pow(10.0, std::floor(std::log10(exact)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= exact) return factor * power;
  return 10.0 * power;
}

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

Axis time_axis(const std::string& title, double end_s, TimeUnit unit) {
  return {.title = fmt::format("{} ({})", title, unit.symbol),
          .from = 0.0,
          .to = end_s > 0.0 ? end_s / unit.seconds : 1.0};
}

}  // namespace paceline::plots
