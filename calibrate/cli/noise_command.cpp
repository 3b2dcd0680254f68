// `paceline calibrate noise NETWORK`: the gradient noise scale along training.
#include <algorithm>
#include <optional>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "calibrate/cli/commands.hpp"
#include "calibrate/fit/measured_profile.hpp"
#include "calibrate/fit/report.hpp"
#include "calibrate/measure/data_option.hpp"
#include "kernels/interface/training_step.hpp"
#include "sim/base/diagnostic.hpp"

namespace paceline::calibrate {

namespace {

struct NoiseOptions {
  std::string network;
  std::optional<std::string> data;
  std::string into;
  bool json = false;
  kernels::NoiseMeasurement measurement;
};

bool parse(const std::vector<std::string>& arguments, NoiseOptions& options) {
  CLI::App app(
      "Estimates the gradient noise scale (McCandlish et al. 2018) at several points of training: the batch "
      "beyond which "
      "larger ones bring little.",
      "paceline calibrate noise");
  app.add_option("NETWORK", options.network, "A network for 32x32 images")->required();
  app.add_option("--data", options.data,
                 fmt::format("What to train on: {} (default: built-in-images)", data_kinds_text))
      ->type_name(data_option_type);
  app.add_option("--points", options.measurement.points, "Updates of training, at least 3, e.g. 25,100,400")
      ->delimiter(',')
      ->type_name("LIST");
  app.add_option("--repeats", options.measurement.repeats, "Pairs of batches at each point")
      ->check(CLI::Range(2, 100000))
      ->capture_default_str();
  app.add_option("--into", options.into, "Store the result in this profile of the same network")
      ->type_name("PROFILE");
  app.add_flag("--json", options.json, "Print for machines");
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}\n", app.help());
    return false;
  } catch (const CLI::ParseError& error) {
    throw UserError(error.what(), "`paceline calibrate noise --help`");
  }
  return true;
}

void check_options(const NoiseOptions& options) {
  const std::vector<std::int64_t>& points = options.measurement.points;
  if (points.size() < 3 || points.front() < 1 || !std::ranges::is_sorted(points))
    throw UserError("--points: at least 3 ascending numbers of updates are needed, none of them 0",
                    "the noise scale grows along training, and at initialization it says nothing about it");
  if (options.into.empty()) return;
  if (const Profile profile = read_profile(options.into); profile.network != options.network)
    throw UserError(
        fmt::format("{} is a profile of {}, not of {}", options.into, profile.network, options.network),
        "name a profile of the same network");
}

}  // namespace

int noise_command(const std::vector<std::string>& arguments) {
  NoiseOptions options;
  if (!parse(arguments, options)) return exit_done;
  check_options(options);
  kernels::NoiseMeasurement& measurement = options.measurement;
  if (options.data) {
    const DataChoice data = parse_data_option(*options.data);
    measurement.data.kind = data.kind;
    measurement.data.path = data.path;
  }
  kernels::set_compute_threads(1);
  NoiseRecord record{
      measurement.data.kind, measurement.small_batch, measurement.large_batch, measurement.repeats, {}};
  for (const kernels::NoisePoint& point : kernels::measure_gradient_noise(options.network, measurement))
    record.points.push_back({point.updates, point.loss,
                             noise_scale(point.repeats, static_cast<double>(measurement.small_batch),
                                         static_cast<double>(measurement.large_batch))});
  if (!options.into.empty()) store_noise(options.into, record);
  if (options.json) {
    nlohmann::ordered_json json = to_json(record);
    json["network"] = options.network;
    fmt::print("{}\n", json.dump(2));
  } else {
    fmt::print("{}", noise_text(record));
  }
  return exit_done;
}

}  // namespace paceline::calibrate
