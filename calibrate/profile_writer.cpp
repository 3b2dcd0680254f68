#include "calibrate/profile_writer.hpp"

#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "calibrate/measure.hpp"
#include "sim/base/check.hpp"

namespace paceline::calibrate {
namespace {

using Json = nlohmann::ordered_json;

double finite(double value) {
  check(std::isfinite(value), "a profile holds finite numbers only");
  return value;
}

Json machine_json(const Machine& machine) {
  return {{"cpu_model", machine.cpu_model},
          {"logical_cores", machine.logical_cores},
          {"physical_cores", machine.physical_cores},
          {"memory_bytes", machine.memory_bytes},
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
          {"other_load", calibration.other_load ? Json(finite(*calibration.other_load)) : Json(nullptr)},
          {"environment", measuring_environment(plan.cores.front())}};
}

Json fits_json(const ProfileFits& fits) {
  Json compute = Json::array();
  Json optimizer_step = Json::array();
  for (const ComputeFit& fit : fits.compute) {
    compute.push_back({{"cores", fit.cores},
                       {"intercept_s", finite(fit.intercept.value())},
                       {"slope_s_per_sample", finite(fit.slope_per_sample.value())},
                       {"leave_one_out_error", finite(fit.leave_one_out_error)},
                       {"batch_min", fit.batch_min_samples},
                       {"batch_max", fit.batch_max_samples}});
    optimizer_step.push_back({{"cores", fit.cores}, {"seconds", finite(fit.optimizer_step.value())}});
  }
  return {{"compute", compute},
          {"optimizer_step", optimizer_step},
          {"server_accumulate_bytes_per_s", finite(fits.server_accumulate_rate.value())},
          {"server_step_bytes_per_s", finite(fits.server_step_rate.value())}};
}

Json jitter_json(const JitterFit& jitter) {
  return {{"iteration_cv", finite(jitter.iteration_cv)},
          {"run_cv", jitter.run_cv ? Json(finite(*jitter.run_cv)) : Json(nullptr)},
          {"processes", jitter.processes}};
}

Json sample_json(const Sample& sample) {
  for (const double seconds : sample.seconds) static_cast<void>(finite(seconds));
  return {{"cores", sample.cores},
          {"batch", sample.batch},
          {"process", sample.process},
          {"operation", operation_name(sample.operation)},
          {"seconds", sample.seconds}};
}

// One element a line: thousands of durations stay within reach of grep and diff.
std::string lines_of(const std::vector<Sample>& samples) {
  std::string text = "[";
  for (std::size_t i = 0; i < samples.size(); ++i)
    text += fmt::format("{}\n    {}", i == 0 ? "" : ",", sample_json(samples[i]).dump());
  return text + "\n  ]";
}

}  // namespace

Bytes parameter_bytes(const kernels::NetworkFacts& network) {
  return Bytes{4.0 * static_cast<double>(network.parameter_count)};
}

std::string profile_text(const Calibration& calibration) {
  const std::vector<std::pair<std::string, Json>> members = {
      {"format", "paceline-profile"},
      {"version", 1},
      {"network",
       {{"name", calibration.network.name},
        {"parameter_count", calibration.network.parameter_count},
        {"parameter_bytes", static_cast<std::int64_t>(parameter_bytes(calibration.network).value())}}},
      {"machine", machine_json(calibration.machine)},
      {"software", software_json(calibration.software)},
      {"measurement", measurement_json(calibration)},
      {"fits", fits_json(calibration.fits)},
      {"jitter", jitter_json(calibration.fits.jitter)}};
  std::string text = "{\n";
  for (const auto& [name, value] : members)
    text += fmt::format("  {}: {},\n", Json(name).dump(), value.dump());
  return text + fmt::format("  \"samples\": {}\n}}\n", lines_of(calibration.samples));
}

}  // namespace paceline::calibrate
