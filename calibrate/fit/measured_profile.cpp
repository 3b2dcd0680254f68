#include "calibrate/fit/measured_profile.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "calibrate/fit/profile_writer.hpp"
#include "calibrate/measure/measure_protocol.hpp"
#include "sim/base/atomic_file.hpp"
#include "sim/base/diagnostic.hpp"

namespace paceline::calibrate {
namespace {

MeasurementPlan plan_of(const nlohmann::json& measurement, const std::string& network) {
  MeasurementPlan plan;
  plan.network = measurement.contains("network_file") && measurement.at("network_file").is_string()
                     ? measurement.at("network_file").get<std::string>()
                     : network;
  measurement.at("cores").get_to(plan.cores);
  measurement.at("batches").get_to(plan.batches);
  measurement.at("processes").get_to(plan.processes);
  measurement.at("seconds_per_point").get_to(plan.seconds_per_point);
  measurement.at("minimum_iterations").get_to(plan.minimum_iterations);
  if (measurement.contains("dropped")) measurement.at("dropped").get_to(plan.dropped);
  if (measurement.contains("input_shape")) measurement.at("input_shape").get_to(plan.input_shape);
  if (measurement.contains("data")) plan.data = parse_data(measurement.at("data"));
  if (measurement.contains("classes")) measurement.at("classes").get_to(plan.classes);
  return plan;
}

void read_measurement(const nlohmann::json& json, MeasuredProfile& read) {
  const nlohmann::json& measurement = json.at("measurement");
  read.plan = plan_of(measurement, read.profile.network);
  measurement.at("command").get_to(read.command);
  measurement.at("date").get_to(read.date);
  const nlohmann::json& software = json.at("software");
  read.software = fmt::format("LibTorch {}, {}", software.at("libtorch").get<std::string>(),
                              software.at("blas").get<std::string>());
  for (const nlohmann::json& entry : json.at("samples")) {
    read.samples.push_back(parse_sample(entry.dump()));
    const std::vector<double>& seconds = read.samples.back().seconds;
    const bool positive = std::ranges::all_of(seconds, [](double s) { return s > 0.0 && std::isfinite(s); });
    if (!positive || seconds.empty()) throw std::runtime_error("a sample is not a positive duration");
  }
}

double bound(const nlohmann::json& value) {
  return value.is_null() ? std::numeric_limits<double>::infinity() : value.get<double>();
}

NoiseRecord noise_of(const nlohmann::json& json) {
  NoiseRecord noise{json.at("data"), json.at("small_batch"), json.at("large_batch"), json.at("repeats"), {}};
  for (const nlohmann::json& point : json.at("points"))
    noise.points.push_back(
        {point.at("updates"),
         point.at("loss"),
         {bound(point.at("noise_scale_samples")), bound(point.at("low")), bound(point.at("high"))}});
  return noise;
}

}  // namespace

nlohmann::ordered_json to_json(const NoiseRecord& noise) {
  const auto or_null = [](double value) {
    return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
  };
  nlohmann::ordered_json points = nlohmann::ordered_json::array();
  for (const NoiseRecord::Point& point : noise.points)
    points.push_back({{"updates", point.updates},
                      {"loss", point.loss},
                      {"noise_scale_samples", or_null(point.scale.samples)},
                      {"low", or_null(point.scale.low)},
                      {"high", or_null(point.scale.high)}});
  return {{"data", noise.data},
          {"small_batch", noise.small_batch},
          {"large_batch", noise.large_batch},
          {"repeats", noise.repeats},
          {"points", points}};
}

void store_noise(const std::filesystem::path& path, const NoiseRecord& noise) {
  static_cast<void>(read_profile(path));
  auto json = nlohmann::ordered_json::parse(read_file(path));
  json["noise_scale"] = to_json(noise);
  write_file_atomically(path, profile_file_text(json));
}

MeasuredProfile read_measured_profile(const std::filesystem::path& path) {
  MeasuredProfile read;
  read.profile = read_profile(path);
  const auto json = nlohmann::json::parse(read_file(path));
  if (json.contains("sources")) json.at("sources").get_to(read.sources);
  if (read.profile.is_derived) return read;
  try {
    if (json.contains("noise_scale")) read.noise = noise_of(json.at("noise_scale"));
    read.machine_memory = Bytes{json.at("machine").at("memory_bytes").get<double>()};
    read_measurement(json, read);
  } catch (const std::exception& error) {
    throw UserError(
        fmt::format("{}: measurement and samples cannot be read: {}", path.string(), error.what()),
        "a profile is made by `paceline calibrate NETWORK -o FILE`");
  }
  return read;
}

}  // namespace paceline::calibrate
