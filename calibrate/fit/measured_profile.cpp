#include "calibrate/fit/measured_profile.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "calibrate/fit/profile_writer.hpp"
#include "calibrate/measure/json_records.hpp"
#include "sim/base/atomic_file.hpp"
#include "sim/base/diagnostic.hpp"

namespace paceline::calibrate {
namespace {

MeasurementPlan plan_of(const nlohmann::json& measurement, const std::string& network) {
  auto plan = measurement.get<MeasurementPlan>();
  plan.network = measurement.value("network_file", std::optional<std::string>()).value_or(network);
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
  json.at("samples").get_to(read.samples);
  for (const Sample& sample : read.samples) {
    const bool positive =
        std::ranges::all_of(sample.seconds, [](double s) { return s > 0.0 && std::isfinite(s); });
    if (!positive || sample.seconds.empty()) throw std::runtime_error("a sample is not a positive duration");
  }
}

// JSON knows no infinity: null stands for it.
std::optional<double> if_finite(double value) {
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}
double or_infinity(const nlohmann::json& value) {
  return value.get<std::optional<double>>().value_or(std::numeric_limits<double>::infinity());
}

}  // namespace

void to_json(nlohmann::ordered_json& json, const NoiseRecord::Point& point) {
  json = {{"updates", point.updates},
          {"loss", point.loss},
          {"noise_scale_samples", if_finite(point.scale.samples)},
          {"low", if_finite(point.scale.low)},
          {"high", if_finite(point.scale.high)}};
}

void to_json(nlohmann::ordered_json& json, const NoiseRecord& noise) {
  json = {{"data", noise.data},
          {"small_batch", noise.small_batch},
          {"large_batch", noise.large_batch},
          {"repeats", noise.repeats},
          {"points", noise.points}};
}

void from_json(const nlohmann::json& json, NoiseRecord::Point& point) {
  json.at("updates").get_to(point.updates);
  json.at("loss").get_to(point.loss);
  point.scale = {or_infinity(json.at("noise_scale_samples")), or_infinity(json.at("low")),
                 or_infinity(json.at("high"))};
}

void from_json(const nlohmann::json& json, NoiseRecord& noise) {
  json.at("data").get_to(noise.data);
  json.at("small_batch").get_to(noise.small_batch);
  json.at("large_batch").get_to(noise.large_batch);
  json.at("repeats").get_to(noise.repeats);
  json.at("points").get_to(noise.points);
}

void store_noise(const std::filesystem::path& path, const NoiseRecord& noise) {
  static_cast<void>(read_profile(path));
  auto json = nlohmann::ordered_json::parse(read_file(path));
  json["noise_scale"] = noise;
  write_file_atomically(path, profile_file_text(json));
}

MeasuredProfile read_measured_profile(const std::filesystem::path& path) {
  MeasuredProfile read;
  read.profile = read_profile(path);
  const auto json = nlohmann::json::parse(read_file(path));
  if (json.contains("sources")) json.at("sources").get_to(read.sources);
  if (read.profile.is_derived) return read;
  try {
    read.noise = json.value("noise_scale", std::optional<NoiseRecord>());
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
