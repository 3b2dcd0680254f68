#include "calibrate/fit/profile_writer.hpp"

#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "calibrate/measure/measure.hpp"
#include "calibrate/measure/measure_protocol.hpp"
#include "sim/base/check.hpp"

namespace paceline::calibrate {
namespace {

using Json = nlohmann::ordered_json;

double finite(double value) {
  check(std::isfinite(value), "a profile holds finite numbers only");
  return value;
}

Json quota_json(const std::optional<CpuQuota>& quota) {
  if (!quota) return nullptr;
  return {{"cores", finite(quota->cores)}, {"period_s", finite(quota->period.value())}};
}

Json machine_json(const Machine& machine) {
  return {{"cpu_model", machine.cpu_model},
          {"logical_cores", machine.logical_cores},
          {"physical_cores", machine.physical_cores},
          {"memory_bytes", machine.memory_bytes},
          {"cpu_quota", quota_json(machine.quota)},
          {"governor", machine.governor ? Json(*machine.governor) : Json(nullptr)},
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
          {"other_load", calibration.other_load ? Json(finite(*calibration.other_load)) : Json(nullptr)},
          {"dropped", plan.dropped},
          {"network_file", plan.input_shape.empty() ? Json(nullptr) : Json(plan.network)},
          {"input_shape", plan.input_shape},
          {"classes", plan.classes},
          {"data", data_json(plan.data)},
          {"environment", measuring_environment(plan.cores.front())}};
}

Json knee_json(const std::optional<BatchKnee>& knee) {
  if (!knee) return nullptr;
  return {{"at_samples", finite(knee->at_samples)},
          {"extra_slope_s_per_sample", finite(knee->extra_slope.value())}};
}

Json candidates_json(const BatchLawChoice& choice) {
  Json candidates = {{{"law", "affine"}, {"leave_one_out_error", finite(choice.affine_error)}}};
  if (choice.knee_error)
    candidates.push_back({{"law", "knee"}, {"leave_one_out_error", finite(*choice.knee_error)}});
  return candidates;
}

Json or_null(const std::optional<double>& value) {
  return value ? Json(finite(*value)) : Json(nullptr);
}

struct LawMembers {
  Json& json;
  void operator()(const AmdahlLaw& law) const { json["serial_share"] = finite(law.serial_share); }
  void operator()(const PowerLaw& law) const { json["exponent"] = finite(law.exponent); }
  void operator()(const UniversalLaw& law) const {
    json["serial_share"] = finite(law.serial_share);
    json["coherence"] = finite(law.coherence);
  }
};

Json core_scaling_json(const std::optional<CoreScalingFit>& scaling) {
  if (!scaling) return nullptr;
  Json json = {{"law", law_name(scaling->law)}};
  std::visit(LawMembers{json}, scaling->law);
  json["leave_one_out_error"] = or_null(scaling->leave_one_out_error);
  json["cores_min"] = scaling->cores_min;
  json["cores_max"] = scaling->cores_max;
  return json;
}

Json memory_json(const std::optional<MemoryFit>& memory) {
  if (!memory) return nullptr;
  return {{"base_bytes", finite(memory->base.value())},
          {"bytes_per_sample", finite(memory->per_sample.value())}};
}

Json loading_json(const std::optional<LoadingFit>& loading) {
  if (!loading) return nullptr;
  return {{"data", loading->data},
          {"intercept_s", finite(loading->intercept.value())},
          {"slope_s_per_sample", finite(loading->per_sample.value())}};
}

Json ensemble_json(const std::vector<ProfileDraw>& ensemble) {
  Json draws = Json::array();
  for (const ProfileDraw& draw : ensemble) {
    Json fits = Json::array();
    for (const ComputeFit& fit : draw.compute)
      fits.push_back({fit.cores, finite(fit.intercept.value()), finite(fit.slope_per_sample.value()),
                      fit.knee ? finite(fit.knee->at_samples) : 0.0,
                      fit.knee ? finite(fit.knee->extra_slope.value()) : 0.0});
    draws.push_back(std::move(fits));
  }
  return draws;
}

Json fits_json(const ProfileFits& fits) {
  Json compute = Json::array();
  Json optimizer_step = Json::array();
  for (std::size_t i = 0; i < fits.compute.size(); ++i) {
    const ComputeFit& fit = fits.compute[i];
    compute.push_back({{"cores", fit.cores},
                       {"law", fit.knee ? "knee" : "affine"},
                       {"intercept_s", finite(fit.intercept.value())},
                       {"slope_s_per_sample", finite(fit.slope_per_sample.value())},
                       {"knee", knee_json(fit.knee)},
                       {"leave_one_out_error", finite(fit.leave_one_out_error)},
                       {"relative_half_width", or_null(fit.relative_half_width)},
                       {"batch_min", fit.batch_min_samples},
                       {"batch_max", fit.batch_max_samples},
                       {"candidates", candidates_json(fits.choices[i])}});
    optimizer_step.push_back({{"cores", fit.cores}, {"seconds", finite(fit.optimizer_step.value())}});
  }
  return {{"compute", compute},
          {"optimizer_step", optimizer_step},
          {"server_accumulate_bytes_per_s", finite(fits.server_accumulate_rate.value())},
          {"server_step_bytes_per_s", finite(fits.server_step_rate.value())},
          {"core_scaling", core_scaling_json(fits.core_scaling)},
          {"memory", memory_json(fits.memory)},
          {"data_loading", loading_json(fits.loading)},
          {"ensemble", ensemble_json(fits.ensemble)}};
}

Json jitter_json(const JitterFit& jitter) {
  const bool empirical = !jitter.iteration_quantiles.empty();
  return {{"iteration_cv", finite(jitter.iteration_cv)},
          {"run_cv", or_null(jitter.run_cv)},
          {"processes", jitter.processes},
          {"process_cv", or_null(jitter.process_cv)},
          {"run_cv_upper", or_null(jitter.run_cv_upper)},
          {"iteration_law", empirical ? "empirical" : "log_normal"},
          {"iteration_quantiles", empirical ? Json(jitter.iteration_quantiles) : Json(nullptr)}};
}

Json sample_json(const Sample& sample) {
  for (const double seconds : sample.seconds) static_cast<void>(finite(seconds));
  return Json::parse(to_line(sample));
}

}  // namespace

Bytes parameter_bytes(const kernels::NetworkFacts& network) {
  return Bytes{4.0 * static_cast<double>(network.parameter_count)};
}

std::string profile_file_text(const Json& profile) {
  std::string text = "{";
  for (const auto& [name, value] : profile.items()) {
    text += fmt::format("{}\n  {}: ", text.size() == 1 ? "" : ",", Json(name).dump());
    if (name != "samples") {
      text += value.dump();
      continue;
    }
    std::string lines;
    for (const Json& sample : value)
      lines += fmt::format("{}\n    {}", lines.empty() ? "" : ",", sample.dump());
    text += "[" + lines + "\n  ]";
  }
  return text + "\n}\n";
}

std::string profile_text(const Calibration& calibration) {
  Json samples = Json::array();
  for (const Sample& sample : calibration.samples) samples.push_back(sample_json(sample));
  return profile_file_text(
      {{"format", "paceline-profile"},
       {"version", 2},
       {"origin", "measured"},
       {"sources", Json::array()},
       {"network",
        {{"name", calibration.network.name},
         {"parameter_count", calibration.network.parameter_count},
         {"parameter_bytes", static_cast<std::int64_t>(parameter_bytes(calibration.network).value())}}},
       {"machine", machine_json(calibration.machine)},
       {"software", software_json(calibration.software)},
       {"measurement", measurement_json(calibration)},
       {"fits", fits_json(calibration.fits)},
       {"jitter", jitter_json(calibration.fits.jitter)},
       {"samples", samples}});
}

}  // namespace paceline::calibrate
