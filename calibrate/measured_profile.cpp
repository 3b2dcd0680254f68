#include "calibrate/measured_profile.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "calibrate/measure_protocol.hpp"
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

}  // namespace

MeasuredProfile read_measured_profile(const std::filesystem::path& path) {
  MeasuredProfile read;
  read.profile = read_profile(path);
  const auto json = nlohmann::json::parse(read_file(path));
  if (json.contains("sources")) json.at("sources").get_to(read.sources);
  if (read.profile.is_derived) return read;
  try {
    read_measurement(json, read);
  } catch (const std::exception& error) {
    throw UserError(
        fmt::format("{}: measurement and samples cannot be read: {}", path.string(), error.what()),
        "a profile is made by `paceline calibrate NETWORK -o FILE`");
  }
  return read;
}

}  // namespace paceline::calibrate
