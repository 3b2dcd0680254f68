// `paceline calibrate noise NETWORK`: the gradient noise scale along training.
#include <algorithm>

#include <fmt/format.h>

#include "calibrate/cli/commands.hpp"
#include "calibrate/fit/profile_file.hpp"
#include "kernels/interface/training_step.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/base/json.hpp"

namespace paceline::calibrate {
namespace {

void check_arguments(const NoiseArguments& arguments) {
  if (arguments.points.size() < 3 || !std::ranges::is_sorted(arguments.points))
    throw UserError("--points: at least 3 ascending numbers of updates are needed",
                    "the noise scale grows along training");
  if (arguments.into.empty()) return;
  if (const Profile profile = read_profile(arguments.into); profile.network != arguments.network)
    throw UserError(
        fmt::format("{} is a profile of {}, not of {}", arguments.into, profile.network, arguments.network),
        "name a profile of the same network");
}

}  // namespace

int run(const NoiseArguments& arguments) {
  check_arguments(arguments);
  kernels::NoiseMeasurement measurement;
  measurement.points = arguments.points;
  measurement.repeats = arguments.repeats;
  if (arguments.data) {
    measurement.data.kind = arguments.data->kind;
    measurement.data.path = arguments.data->path;
  }
  kernels::set_compute_threads(1);
  NoiseRecord record{
      measurement.data.kind, measurement.small_batch, measurement.large_batch, measurement.repeats, {}};
  for (const kernels::NoisePoint& point : kernels::measure_gradient_noise(arguments.network, measurement))
    record.points.push_back({point.updates, point.loss,
                             noise_scale(point.repeats, static_cast<double>(measurement.small_batch),
                                         static_cast<double>(measurement.large_batch))});
  if (!arguments.into.empty()) store_noise(arguments.into, record);
  nlohmann::ordered_json json = record;
  json["network"] = arguments.network;
  fmt::print("{}", arguments.json ? json.dump(2) + "\n" : noise_text(record));
  return exit_done;
}

}  // namespace paceline::calibrate
