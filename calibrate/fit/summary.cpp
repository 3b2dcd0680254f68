#include "calibrate/fit/summary.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "calibrate/measure/measure.hpp"
#include "sim/cost/compute_law.hpp"

namespace paceline::calibrate {
namespace {

std::string core_text(int cores) {
  return fmt::format("{} core{}", cores, cores == 1 ? "" : "s");
}

// Throughput is compared at the middle one of the measured batches.
std::int64_t reference_batch(const MeasurementPlan& plan) {
  return plan.batches[plan.batches.size() / 2];
}

double samples_per_second(const ComputeFit& fit, std::int64_t batch) {
  const auto samples = static_cast<double>(batch);
  return samples / law_seconds(fit, samples).value();
}

// Between the slowest and the fastest process, each at its best.
double clock_spread(const std::vector<Sample>& samples) {
  double fastest = std::numeric_limits<double>::infinity();
  double slowest = 0.0;
  for (const Sample& sample : samples) {
    if (sample.operation != Operation::reference_loop) continue;
    const double best = *std::ranges::min_element(sample.seconds);
    fastest = std::min(fastest, best);
    slowest = std::max(slowest, best);
  }
  return slowest > 0.0 ? slowest / fastest - 1.0 : 0.0;
}

void warn_about_points(const Calibration& calibration, std::vector<std::string>& warnings) {
  const double width = interval_half_width(calibration.samples);
  if (std::isfinite(width) && width > wide_interval)
    warnings.push_back(
        fmt::format("the mean of a point is only known to ± {:.0f} % (95 %): give it more time with --budget "
                    "or --processes",
                    100.0 * width));
  if (const double spread = clock_spread(calibration.samples); spread > unsteady_clock)
    warnings.push_back(
        fmt::format("the same arithmetic took up to {:.0f} % longer in one process than in another: the "
                    "clock's speed changed, or "
                    "other programs ran; fix the frequency and calibrate again",
                    100.0 * spread));
  if (const auto& quota = calibration.machine.quota;
      quota && quota->cores < calibration.machine.logical_cores)
    warnings.push_back(fmt::format(
        "this process may use the time of {0:g} cores in each {1:g} ms. The times are without the pauses "
        "that this means; simulated workers have them with `quota: {{cores: {0:g}, period: {1:g} ms}}`",
        quota->cores, 1e3 * quota->period.value()));
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
          fmt::format("{}: the fit misses left-out batches by {:.0f} %: the machine is noisy or no law fits; "
                      "calibrate again, or over a narrower range of --batches",
                      core_text(fit.cores), 100.0 * fit.leave_one_out_error));
  warn_about_points(calibration, warnings);
  for (std::string& warning : warnings_about(calibration.core_states)) warnings.push_back(std::move(warning));
  if (calibration.software.blas.starts_with("reference"))
    warnings.push_back(
        "LibTorch runs on the reference BLAS, some 25 times slower than OpenBLAS: install "
        "libopenblas0-pthread "
        "and calibrate again");
  return warnings;
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
                                    {"dropped", calibration.plan.dropped},
                                    {"other_load", nullptr},
                                    {"warnings", warnings_about(calibration)}};
  if (fits.jitter.run_cv) summary["run_cv"] = *fits.jitter.run_cv;
  if (calibration.other_load) summary["other_load"] = *calibration.other_load;
  return summary.dump(2) + "\n";
}

}  // namespace paceline::calibrate
