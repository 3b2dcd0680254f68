#include "calibrate/fit/summary.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "calibrate/measure/measure.hpp"

namespace paceline::calibrate {
namespace {

std::string core_text(int cores) {
  return fmt::format("{} core{}", cores, cores == 1 ? "" : "s");
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

}  // namespace paceline::calibrate
