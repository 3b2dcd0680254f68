// What a calibration warns its user of.
#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "calibrate/fit/report.hpp"
#include "calibrate/measure/measure.hpp"

namespace paceline::calibrate {
namespace {

// Above these a profile's predictions deserve distrust.
constexpr double noisy_cv = 0.10;  // of iterations, and of runs
constexpr double poor_leave_one_out_error = 0.10;
constexpr double unsteady_clock = 0.05;  // spread of the reference loop's time over the processes
constexpr double wide_interval = 0.05;   // either side of a point's mean

// Between the slowest and the fastest process, each at its best.
double clock_spread(const std::vector<Sample>& samples) {
  double fastest = std::numeric_limits<double>::infinity();
  double slowest = 0.0;
  for (const Sample& sample : samples) {
    if (sample.operation != Operation::reference_loop) continue;
    const double best = std::ranges::min(sample.seconds);
    fastest = std::min(fastest, best);
    slowest = std::max(slowest, best);
  }
  return slowest > 0.0 ? slowest / fastest - 1.0 : 0.0;
}

}  // namespace

std::vector<std::string> warnings_about(const Calibration& calibration) {
  std::vector<std::string> warnings = warnings_about(calibration.core_states);
  // `sentence` has a place for the percentage.
  const auto warn_above = [&](double bound, double share, const std::string& sentence) {
    if (share > bound && std::isfinite(share))
      warnings.push_back(fmt::format(fmt::runtime(sentence), fmt::format("{:.0f} %", 100.0 * share)));
  };
  warn_above(disturbing_load, calibration.other_load.value_or(0.0),
             "other programs took {} of the measured cores: times are too long, the more cores the worse; "
             "end them and calibrate again");
  warn_above(noisy_cv, calibration.fits.jitter.iteration_cv,
             "iteration times vary by {}: the machine is noisy; end other programs and calibrate again");
  warn_above(noisy_cv, calibration.fits.jitter.run_cv.value_or(0.0),
             "processes differ from each other by {}: the machine's speed changed while measuring; end "
             "other programs and calibrate again");
  for (const ComputeFit& fit : calibration.fits.compute)
    warn_above(poor_leave_one_out_error, fit.leave_one_out_error,
               fmt::format("{} core{}", fit.cores, fit.cores == 1 ? "" : "s") +
                   ": the fit misses left-out batches by {}: the machine is noisy or no law fits; calibrate "
                   "again, or over a narrower range of --batches");
  warn_above(
      wide_interval, interval_half_width(calibration.samples),
      "the mean of a point is only known to ± {} (95 %): give it more time with --budget or --processes");
  warn_above(unsteady_clock, clock_spread(calibration.samples),
             "the same arithmetic took up to {} longer in one process than in another: the clock's speed "
             "changed, or other programs ran; fix the frequency and calibrate again");
  if (const auto& quota = calibration.machine.quota;
      quota && quota->cores < calibration.machine.logical_cores)
    warnings.push_back(fmt::format(
        "this process may use the time of {0:g} cores in each {1:g} ms. The times are without the pauses "
        "that this means; simulated workers have them with `quota: {{cores: {0:g}, period: {1:g} ms}}`",
        quota->cores, 1e3 * quota->period.value()));
  if (calibration.software.blas.starts_with("reference"))
    warnings.push_back(
        "LibTorch runs on the reference BLAS, some 25 times slower than OpenBLAS: install "
        "libopenblas0-pthread and calibrate again");
  return warnings;
}

}  // namespace paceline::calibrate
