#include "calibrate/summary.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace paceline::calibrate {
namespace {

std::string core_text(int cores) {
  return fmt::format("{} core{}", cores, cores == 1 ? "" : "s");
}

// Three significant digits in the unit that keeps them readable.
std::string duration_text(double seconds) {
  if (seconds >= 1.0) return fmt::format("{:.3g} s", seconds);
  if (seconds >= 1e-3) return fmt::format("{:.3g} ms", 1e3 * seconds);
  return fmt::format("{:.3g} us", 1e6 * seconds);
}

// Throughput is compared at the middle one of the measured batches.
std::int64_t reference_batch(const MeasurementPlan& plan) {
  return plan.batches[plan.batches.size() / 2];
}

double samples_per_second(const ComputeFit& fit, std::int64_t batch) {
  const auto samples = static_cast<double>(batch);
  return samples / (fit.intercept + samples * fit.slope_per_sample).value();
}

}  // namespace

std::vector<std::string> warnings_about(const Calibration& calibration) {
  std::vector<std::string> warnings;
  const JitterFit& jitter = calibration.fits.jitter;
  if (calibration.other_load && *calibration.other_load > disturbing_load)
    warnings.push_back(
        fmt::format("other programs took {:.0f} % of the measured cores: times are too long, the more cores "
                    "the worse; end "
                    "them and calibrate again",
                    100.0 * *calibration.other_load));
  if (jitter.iteration_cv > noisy_iteration_cv)
    warnings.push_back(fmt::format(
        "iteration times vary by {:.0f} %: the machine is noisy; end other programs and calibrate again",
        100.0 * jitter.iteration_cv));
  if (jitter.run_cv && *jitter.run_cv > noisy_iteration_cv)
    warnings.push_back(fmt::format(
        "processes differ from each other by {:.0f} %: the machine's speed changed while measuring; end "
        "other programs and calibrate again",
        100.0 * *jitter.run_cv));
  for (const ComputeFit& fit : calibration.fits.compute)
    if (fit.leave_one_out_error > poor_leave_one_out_error)
      warnings.push_back(
          fmt::format("{}: the line misses left-out batches by {:.0f} %: the machine is noisy or the time is "
                      "not affine in the batch; calibrate again, or over a narrower range of --batches",
                      core_text(fit.cores), 100.0 * fit.leave_one_out_error));
  if (calibration.software.blas.starts_with("reference"))
    warnings.push_back(
        "LibTorch runs on the reference BLAS, some 25 times slower than OpenBLAS: install "
        "libopenblas0-pthread "
        "and calibrate again");
  return warnings;
}

std::string summary_table(const Calibration& calibration) {
  const ProfileFits& fits = calibration.fits;
  const std::int64_t batch = reference_batch(calibration.plan);
  const std::string throughput_head = fmt::format("samples/s at {}", batch);
  std::string text = fmt::format("{} ({} parameters) on {}\n\n", calibration.network.name,
                                 calibration.network.parameter_count, calibration.machine.cpu_model);
  text += fmt::format("{:>5}  {:>10}  {:>12}  {:>16}  {:>14}  {:>19}\n", "cores", "intercept", "per sample",
                      throughput_head, "optimizer step", "leave-one-out error");
  for (const ComputeFit& fit : fits.compute)
    text += fmt::format("{:>5}  {:>10}  {:>12}  {:>16.0f}  {:>14}  {:>17.1f} %\n", fit.cores,
                        duration_text(fit.intercept.value()), duration_text(fit.slope_per_sample.value()),
                        samples_per_second(fit, batch), duration_text(fit.optimizer_step.value()),
                        100.0 * fit.leave_one_out_error);
  const std::string run_text = fits.jitter.run_cv ? fmt::format("{:.1f} %", 100.0 * *fits.jitter.run_cv)
                                                  : "unknown (needs 3 processes)";
  text += fmt::format("\njitter: {:.1f} % from iteration to iteration, {} from process to process\n",
                      100.0 * fits.jitter.iteration_cv, run_text);
  text += fmt::format("server ({}): adds gradients at {:.3g} GB/s, updates parameters at {:.3g} GB/s\n",
                      core_text(fits.compute.front().cores), fits.server_accumulate_rate.value() / 1e9,
                      fits.server_step_rate.value() / 1e9);
  return text;
}

std::string summary_json(const Calibration& calibration, const std::string& profile_path) {
  const ProfileFits& fits = calibration.fits;
  const std::int64_t batch = reference_batch(calibration.plan);
  nlohmann::ordered_json compute = nlohmann::ordered_json::array();
  for (const ComputeFit& fit : fits.compute)
    compute.push_back({{"cores", fit.cores},
                       {"intercept_s", fit.intercept.value()},
                       {"slope_s_per_sample", fit.slope_per_sample.value()},
                       {"batch", batch},
                       {"samples_per_s", samples_per_second(fit, batch)},
                       {"optimizer_step_s", fit.optimizer_step.value()},
                       {"leave_one_out_error", fit.leave_one_out_error}});
  nlohmann::ordered_json summary = {{"profile", profile_path},
                                    {"network", calibration.network.name},
                                    {"cpu_model", calibration.machine.cpu_model},
                                    {"compute", compute},
                                    {"server_accumulate_bytes_per_s", fits.server_accumulate_rate.value()},
                                    {"server_step_bytes_per_s", fits.server_step_rate.value()},
                                    {"iteration_cv", fits.jitter.iteration_cv},
                                    {"run_cv", nullptr},
                                    {"other_load", nullptr},
                                    {"warnings", warnings_about(calibration)}};
  if (fits.jitter.run_cv) summary["run_cv"] = *fits.jitter.run_cv;
  if (calibration.other_load) summary["other_load"] = *calibration.other_load;
  return summary.dump(2) + "\n";
}

}  // namespace paceline::calibrate
