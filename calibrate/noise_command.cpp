// `paceline calibrate noise NETWORK`: the gradient noise scale along training on the built-in images.
#include <cmath>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "calibrate/commands.hpp"
#include "calibrate/noise_scale.hpp"
#include "kernels/training_step.hpp"
#include "sim/base/diagnostic.hpp"

namespace paceline::calibrate {

int noise_command(const std::vector<std::string>& arguments) {
  std::string network;
  bool json = false;
  kernels::NoiseMeasurement measurement;
  CLI::App app(
      "Estimates the gradient noise scale (McCandlish et al. 2018) at several points of training on the "
      "built-in images.",
      "paceline calibrate noise");
  app.add_option("NETWORK", network, "A network for 32x32 images")->required();
  app.add_option("--points", measurement.points, "Updates of training, at least 3, e.g. 25,100,400")
      ->delimiter(',')
      ->type_name("LIST");
  app.add_option("--repeats", measurement.repeats, "Pairs of batches at each point")
      ->check(CLI::Range(2, 100000))
      ->capture_default_str();
  app.add_flag("--json", json, "Print for machines");
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}\n", app.help());
    return exit_done;
  } catch (const CLI::ParseError& error) {
    throw UserError(error.what(), "`paceline calibrate noise --help`");
  }
  if (measurement.points.size() < 3 || measurement.points.front() < 1 ||
      !std::ranges::is_sorted(measurement.points))
    throw UserError("--points: at least 3 ascending numbers of updates are needed, none of them 0",
                    "the noise scale grows along training, and at initialization it says nothing about it");

  kernels::set_compute_threads(1);
  const auto small = static_cast<double>(measurement.small_batch);
  const auto large = static_cast<double>(measurement.large_batch);
  nlohmann::ordered_json entries = nlohmann::ordered_json::array();
  const auto or_null = [](double value) {
    return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
  };
  if (!json) fmt::print("updates   loss   noise scale (samples), 95 % interval\n");
  for (const kernels::NoisePoint& point : kernels::measure_gradient_noise(network, measurement)) {
    const NoiseScale scale = noise_scale(point.repeats, small, large);
    entries.push_back({{"updates", point.updates},
                       {"loss", point.loss},
                       {"noise_scale_samples", or_null(scale.samples)},
                       {"low", or_null(scale.low)},
                       {"high", or_null(scale.high)}});
    if (!json)
      fmt::print("{:>7}  {:>5.2f}   {:.3g} ({:.3g} … {:.3g})\n", point.updates, point.loss, scale.samples,
                 scale.low, scale.high);
  }
  if (json)
    fmt::print("{}\n", nlohmann::ordered_json{{"network", network},
                                              {"data", "built-in images"},
                                              {"small_batch", measurement.small_batch},
                                              {"large_batch", measurement.large_batch},
                                              {"repeats", measurement.repeats},
                                              {"points", entries}}
                           .dump(2));
  return exit_done;
}

}  // namespace paceline::calibrate
