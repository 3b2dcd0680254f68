#include "calibrate/fit/profile_file.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include <fmt/format.h>

#include "calibrate/logs/text.hpp"
#include "calibrate/measure/json_records.hpp"
#include "calibrate/measure/measure.hpp"
#include "sim/base/atomic_file.hpp"
#include "sim/base/check.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/base/process.hpp"

namespace paceline {

using Json = nlohmann::ordered_json;

static void to_json(Json& json, const CpuQuota& quota) {
  json = {{"cores", quota.cores}, {"period_s", quota.period}};
}

static void to_json(Json& json, const BatchKnee& knee) {
  json = {{"at_samples", knee.at_samples}, {"extra_slope_s_per_sample", knee.extra_slope}};
}

static void to_json(Json& json, const MemoryFit& memory) {
  json = {{"base_bytes", memory.base}, {"bytes_per_sample", memory.per_sample}};
}

static void to_json(Json& json, const LoadingFit& loading) {
  json = {
      {"data", loading.data}, {"intercept_s", loading.intercept}, {"slope_s_per_sample", loading.per_sample}};
}

static void to_json(Json& json, const CoreScalingFit& scaling) {
  json = {{"law", law_name(scaling.law)}};
  if (const auto* amdahl = std::get_if<AmdahlLaw>(&scaling.law)) json["serial_share"] = amdahl->serial_share;
  if (const auto* power = std::get_if<PowerLaw>(&scaling.law)) json["exponent"] = power->exponent;
  if (const auto* universal = std::get_if<UniversalLaw>(&scaling.law)) {
    json["serial_share"] = universal->serial_share;
    json["coherence"] = universal->coherence;
  }
  json["leave_one_out_error"] = scaling.leave_one_out_error;
  json["cores_min"] = scaling.cores_min;
  json["cores_max"] = scaling.cores_max;
}

static void to_json(Json& json, const JitterFit& jitter) {
  const bool empirical = !jitter.iteration_quantiles.empty();
  json = {{"iteration_cv", jitter.iteration_cv},
          {"run_cv", jitter.run_cv},
          {"processes", jitter.processes},
          {"process_cv", jitter.process_cv},
          {"run_cv_upper", jitter.run_cv_upper},
          {"iteration_law", empirical ? "empirical" : "log_normal"},
          {"iteration_quantiles", empirical ? Json(jitter.iteration_quantiles) : Json(nullptr)}};
}

// cores, intercept, slope, and the knee, where 0 stands for none
static void to_json(Json& json, const ProfileDraw& draw) {
  json = Json::array();
  for (const ComputeFit& fit : draw.compute) {
    const BatchKnee knee = fit.knee.value_or(BatchKnee{});
    json.push_back({fit.cores, fit.intercept, fit.slope_per_sample, knee.at_samples, knee.extra_slope});
  }
}

}  // namespace paceline

namespace paceline::calibrate {
namespace {

// Others would be written as null, and read as "not known".
void check_finite(const Json& json) {
  if (json.is_number_float()) check(std::isfinite(json.get<double>()), "a profile holds finite numbers only");
  if (json.is_structured())
    for (const Json& value : json) check_finite(value);
}

Json machine_json(const Machine& machine) {
  return {{"cpu_model", machine.cpu_model},
          {"logical_cores", machine.logical_cores},
          {"physical_cores", machine.physical_cores},
          {"memory_bytes", machine.memory_bytes},
          {"cpu_quota", machine.quota},
          {"governor", machine.governor},
          {"cpu_flags", machine.cpu_flags}};
}

Json software_json(const kernels::KernelSoftware& software) {
  return {{"paceline", PACELINE_VERSION},
          {"libtorch", software.libtorch},
          {"blas", software.blas},
          {"compiler", fmt::format("g++ {}", __VERSION__)}};
}

Json measurement_json(const Calibration& calibration) {
  const MeasurementPlan& plan = calibration.plan;
  return {{"command", calibration.command},
          {"date", calibration.date},
          {"processes", plan.processes},
          {"batches", plan.batches},
          {"cores", plan.cores},
          {"seconds_per_point", plan.seconds_per_point},
          {"minimum_iterations", plan.minimum_iterations},
          {"clock", share_of_time(calibration.machine) < 1.0 ? "processor" : "wall"},
          {"other_load", calibration.other_load},
          {"dropped", plan.dropped},
          {"network_file", plan.input_shape.empty() ? Json(nullptr) : Json(plan.network)},
          {"input_shape", plan.input_shape},
          {"classes", plan.classes},
          {"data", plan.data},
          {"environment", compute_environment(plan.cores.front())}};
}

Json candidates_json(const BatchLawChoice& choice) {
  Json candidates = {{{"law", "affine"}, {"leave_one_out_error", choice.affine_error}}};
  if (choice.knee_error) candidates.push_back({{"law", "knee"}, {"leave_one_out_error", *choice.knee_error}});
  return candidates;
}

Json fits_json(const ProfileFits& fits) {
  Json compute = Json::array();
  Json optimizer_step = Json::array();
  for (std::size_t i = 0; i < fits.compute.size(); ++i) {
    const ComputeFit& fit = fits.compute[i];
    compute.push_back({{"cores", fit.cores},
                       {"law", fit.knee ? "knee" : "affine"},
                       {"intercept_s", fit.intercept},
                       {"slope_s_per_sample", fit.slope_per_sample},
                       {"knee", fit.knee},
                       {"leave_one_out_error", fit.leave_one_out_error},
                       {"relative_half_width", fit.relative_half_width},
                       {"batch_min", fit.batch_min_samples},
                       {"batch_max", fit.batch_max_samples},
                       {"candidates", candidates_json(fits.choices[i])}});
    optimizer_step.push_back({{"cores", fit.cores}, {"seconds", fit.optimizer_step}});
  }
  return {{"compute", compute},
          {"optimizer_step", optimizer_step},
          {"server_accumulate_bytes_per_s", fits.server_accumulate_rate},
          {"server_step_bytes_per_s", fits.server_step_rate},
          {"core_scaling", fits.core_scaling},
          {"memory", fits.memory},
          {"data_loading", fits.loading},
          {"ensemble", fits.ensemble}};
}

void read_measurement(const nlohmann::json& json, MeasuredProfile& read) {
  const nlohmann::json& measurement = json.at("measurement");
  read.plan = measurement.get<MeasurementPlan>();
  read.plan.network =
      measurement.value("network_file", std::optional<std::string>()).value_or(read.profile.network);
  measurement.at("command").get_to(read.command);
  measurement.at("date").get_to(read.date);
  read.software = software_text(json.at("software").at("libtorch"), json.at("software").at("blas"));
  read.machine_memory = Bytes{json.at("machine").at("memory_bytes").get<double>()};
  json.at("samples").get_to(read.samples);
  if (!std::ranges::all_of(read.samples, is_plausible))
    throw std::runtime_error("a sample is not a positive duration");
}

constexpr std::int64_t bytes_of_a_number = 4;

std::vector<std::int64_t> variable_bytes(const kernels::NetworkFacts& network) {
  std::vector<std::int64_t> bytes;
  for (const std::int64_t count : network.variables) bytes.push_back(bytes_of_a_number * count);
  return bytes;
}

// As shares of the iteration.
std::vector<double> variable_ready(const Sample& sample) {
  std::vector<double> shares;
  for (const double seconds : sample.seconds)
    shares.push_back(std::min(1.0, seconds / sample.seconds.back()));
  shares.pop_back();
  return shares;
}

Json network_json(const Calibration& calibration) {
  const kernels::NetworkFacts& network = calibration.network;
  Json json = {{"name", network.name},
               {"parameter_count", network.parameter_count},
               {"parameter_bytes", static_cast<std::int64_t>(parameter_bytes(network).value())},
               {"variable_bytes", variable_bytes(network)}};
  const auto ready = std::ranges::find(calibration.samples, Operation::gradients_ready, &Sample::operation);
  if (ready != calibration.samples.end()) json["variable_ready"] = variable_ready(*ready);
  return json;
}

}  // namespace

Bytes parameter_bytes(const kernels::NetworkFacts& network) {
  return Bytes{static_cast<double>(bytes_of_a_number * network.parameter_count)};
}

std::string profile_text(const Calibration& calibration) {
  const Json profile = {{"format", "paceline-profile"},
                        {"version", 2},
                        {"origin", "measured"},
                        {"sources", Json::array()},
                        {"network", network_json(calibration)},
                        {"dataset",
                         {{"name", calibration.plan.data ? Json(calibration.plan.data->kind) : Json(nullptr)},
                          {"classes", calibration.network.classes}}},
                        {"machine", machine_json(calibration.machine)},
                        {"software", software_json(calibration.software)},
                        {"measurement", measurement_json(calibration)},
                        {"fits", fits_json(calibration.fits)},
                        {"jitter", calibration.fits.jitter},
                        {"samples", calibration.samples}};
  check_finite(profile);
  return profile_file_text(profile);
}

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

std::string software_text(const std::string& libtorch, const std::string& blas) {
  return fmt::format("LibTorch {}, {}", libtorch, blas);
}

}  // namespace paceline::calibrate
