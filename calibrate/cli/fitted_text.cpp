#include "calibrate/cli/fitted_text.hpp"

#include <fmt/format.h>

#include "calibrate/live/machine_load.hpp"
#include "calibrate/logs/text.hpp"
#include "sim/base/json.hpp"

namespace paceline::calibrate {

std::string fitted_text(const live::FittedTime& fit) {
  const auto with_interval = [](double seconds, const std::optional<double>& half_width) {
    return half_width ? fmt::format("{} ± {}", duration_text(seconds), duration_text(*half_width))
                      : duration_text(seconds);
  };
  const std::optional<double> per_megabyte =
      fit.per_byte_half_width ? std::optional(1e6 * *fit.per_byte_half_width) : std::nullopt;
  return fmt::format("{} and {} a MB; mean error {:.0f} %",
                     with_interval(fit.fixed_s, fit.fixed_half_width_s),
                     with_interval(1e6 * fit.seconds_per_byte, per_megabyte), 100.0 * fit.error);
}

nlohmann::ordered_json fitted_json(const live::FittedTime& fit) {
  return {{"fixed_s", fit.fixed_s},
          {"fixed_half_width_s", fit.fixed_half_width_s},
          {"seconds_per_byte", fit.seconds_per_byte},
          {"seconds_per_byte_half_width", fit.per_byte_half_width},
          {"mean_error", fit.error}};
}

void warn_of_load(double load) {
  if (load > live::most_other_load)
    fmt::print(stderr, "warning: {:.0f} % of the machine's processor time goes to other programs\n",
               100.0 * load);
}

void say_if_unsteady(const live::SteadyPasses& passes) {
  if (const std::string note = passes.note(); !note.empty()) fmt::print(stderr, "note: {}\n", note);
}

nlohmann::ordered_json steadiness_json(const live::SteadyPasses& passes) {
  return {{"passes_taken", passes.taken()}, {"slowness", passes.kept_of(passes.slowness())}};
}

}  // namespace paceline::calibrate
