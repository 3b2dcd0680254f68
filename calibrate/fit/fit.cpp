#include "calibrate/fit/fit.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "calibrate/fit/jitter.hpp"
#include "calibrate/fit/laws.hpp"
#include "calibrate/logs/statistics.hpp"
#include "calibrate/measure/core_states.hpp"
#include "sim/base/check.hpp"
#include "sim/base/order_statistics.hpp"
#include "sim/base/random.hpp"

namespace paceline::calibrate {
namespace {

constexpr double interval_tail = 0.025;

// Logarithms of the process means: one entry for each process that counts, which a bootstrap may repeat.
using LogMeans = std::map<std::int64_t, std::map<int, double>>;  // by batch, then by process

LogMeans log_means_of(const std::vector<Sample>& samples, int cores) {
  LogMeans means;
  for (const Sample& sample : samples)
    if (sample.operation == Operation::forward_backward && sample.cores == cores)
      means[sample.batch][sample.process] = std::log(mean_without_stalls(sample.seconds));
  return means;
}

std::vector<int> processes_of(const std::map<int, LogMeans>& means) {
  std::set<int> processes;
  for (const auto& [cores, by_batch] : means)
    for (const auto& [batch, by_process] : by_batch)
      for (const auto& [process, log_mean] : by_process) processes.insert(process);
  return {processes.begin(), processes.end()};
}

// How far processes that are no outliers lie off. A resample takes that of all processes: its own would be
// too small where it holds one of them twice.
double process_scale(const LogMeans& means) {
  std::vector<double> deviations;
  for (const auto& [batch, by_process] : means) {
    std::vector<double> values;
    for (const auto& [process, log_mean] : by_process) values.push_back(log_mean);
    const double center = median(values);
    for (const double value : values) deviations.push_back(value - center);
  }
  return robust_scale(deviations);
}

// `processes` may name one several times.
std::vector<BatchTime> robust_times(const LogMeans& means, const std::vector<int>& processes, double scale) {
  std::map<std::int64_t, std::vector<double>> values;
  for (const auto& [batch, by_process] : means)
    for (const int process : processes)
      if (const auto found = by_process.find(process); found != by_process.end())
        values[batch].push_back(found->second);
  std::vector<BatchTime> times;
  for (const auto& [batch, logs] : values) times.push_back({batch, std::exp(robust_location(logs, scale))});
  return times;
}

// The means of an operation's stretches on so many cores, by batch.
std::map<std::int64_t, std::vector<double>> means_by_batch(const std::vector<Sample>& samples,
                                                           Operation operation, int cores) {
  std::map<std::int64_t, std::vector<double>> means;
  for (const Sample& sample : samples)
    if (sample.operation == operation && sample.cores == cores)
      means[sample.batch].push_back(mean_without_stalls(sample.seconds));
  return means;
}

double typical_seconds(const std::vector<Sample>& samples, Operation operation, int cores) {
  std::vector<double> of_batches;
  for (const auto& [batch, of_processes] : means_by_batch(samples, operation, cores))
    of_batches.push_back(median(of_processes));
  check(!of_batches.empty(), "every operation of a profile was measured");
  return median(of_batches);
}

ComputeFit compute_fit(int cores, const BatchLine& line) {
  ComputeFit fit;
  fit.cores = cores;
  fit.intercept = Seconds{line.intercept_s};
  fit.slope_per_sample = Seconds{line.slope_s_per_sample};
  fit.knee = line.knee;
  return fit;
}

// Where points were set aside, some processes lack some batches.
bool meets_every_point(const std::vector<int>& processes, const std::map<int, LogMeans>& means) {
  for (const auto& [cores, by_batch] : means)
    for (const auto& [batch, by_process] : by_batch)
      if (std::ranges::none_of(processes, [&](int process) { return by_process.contains(process); }))
        return false;
  return true;
}

// P − 1 of the P processes, with replacement; drawn again until every point was measured by one of them.
std::vector<int> resampled(const std::vector<int>& processes, const std::map<int, LogMeans>& means,
                           RandomStream& stream) {
  std::vector<int> drawn;
  do {
    drawn.clear();
    for (std::size_t i = 1; i < processes.size(); ++i)
      drawn.push_back(processes[stream.below(processes.size())]);
  } while (!meets_every_point(drawn, means));
  return drawn;
}

std::vector<ProfileDraw> bootstrap(const std::map<int, LogMeans>& means, const ProfileFits& fits) {
  std::vector<ProfileDraw> ensemble;
  const std::vector<int> processes = processes_of(means);
  if (static_cast<int>(processes.size()) < minimum_processes_for_run_cv) return ensemble;
  std::vector<double> scales;
  for (const auto& [cores, of_cores] : means) scales.push_back(process_scale(of_cores));
  for (std::uint32_t k = 0; k < ensemble_size; ++k) {
    RandomStream stream(Seed{}, Purpose::bootstrap, k);
    const std::vector<int> drawn = resampled(processes, means, stream);
    ProfileDraw draw;
    std::size_t i = 0;
    for (const auto& [cores, of_cores] : means) {
      draw.compute.push_back(
          compute_fit(cores, fit_batch_law(robust_times(of_cores, drawn, scales[i]), fits.choices[i].law)));
      ++i;
    }
    ensemble.push_back(std::move(draw));
  }
  return ensemble;
}

// The widest over the measured batches.
double relative_half_width(const std::vector<ProfileDraw>& ensemble, std::size_t index,
                           const BatchLawChoice& choice, const std::vector<BatchTime>& times) {
  double widest = 0.0;
  for (const BatchTime& time : times) {
    const auto batch = static_cast<double>(time.batch_samples);
    std::vector<double> drawn;
    for (const ProfileDraw& draw : ensemble) {
      const ComputeFit& fit = draw.compute[index];
      drawn.push_back(BatchLine{fit.intercept.value(), fit.slope_per_sample.value(), fit.knee}.at(batch));
    }
    const double width = quantile(drawn, 1.0 - interval_tail) - quantile(drawn, interval_tail);
    widest = std::max(widest, 0.5 * width / choice.line.at(batch));
  }
  return widest;
}

}  // namespace

std::vector<BatchTime> batch_times(const std::vector<Sample>& samples, int cores) {
  const LogMeans means = log_means_of(samples, cores);
  check(!means.empty(), "the core count was measured");
  return robust_times(means, processes_of({{cores, means}}), process_scale(means));
}

std::optional<MemoryFit> fit_memory(const std::vector<Sample>& samples) {
  std::map<std::int64_t, double> peaks;
  for (const Sample& sample : samples)
    if (sample.peak_memory_bytes)
      peaks[sample.batch] = std::max(peaks[sample.batch], *sample.peak_memory_bytes);
  if (peaks.size() < 2) return std::nullopt;
  std::vector<LinearEquation> equations;
  for (const auto& [batch, peak] : peaks) equations.push_back({peak, {1.0, static_cast<double>(batch)}});
  const std::vector<double> x = relative_least_squares(equations).unknowns;
  return MemoryFit{Bytes{x[0]}, Bytes{x[1]}};
}

std::optional<LoadingFit> fit_loading(const std::vector<Sample>& samples) {
  std::optional<int> fewest_cores;
  for (const Sample& sample : samples)
    if (sample.operation == Operation::load_batch)
      fewest_cores = std::min(sample.cores, fewest_cores.value_or(sample.cores));
  if (!fewest_cores) return std::nullopt;
  std::vector<BatchTime> times;
  for (const auto& [batch, of_processes] : means_by_batch(samples, Operation::load_batch, *fewest_cores))
    times.push_back({batch, median(of_processes)});
  const BatchLine line = fit_batch_law(times, BatchLaw::affine);
  return LoadingFit{"", Seconds{line.intercept_s}, Seconds{line.slope_s_per_sample}};
}

ProfileFits fit_profile(const std::vector<Sample>& measured, Bytes parameter_bytes) {
  const std::vector<Sample> samples = counted(measured);
  std::set<int> core_counts;
  for (const Sample& sample : samples)
    if (sample.operation == Operation::forward_backward) core_counts.insert(sample.cores);
  check(!core_counts.empty(), "a profile needs samples");
  ProfileFits fits;
  TimeTable table;
  std::map<int, LogMeans> means;
  for (const int cores : core_counts) {
    const std::vector<BatchTime> times = batch_times(samples, cores);
    fits.choices.push_back(choose_batch_law(times));
    ComputeFit& fit = fits.compute.emplace_back(compute_fit(cores, fits.choices.back().line));
    fit.leave_one_out_error = fits.choices.back().leave_one_out_error;
    fit.batch_min_samples = times.front().batch_samples;
    fit.batch_max_samples = times.back().batch_samples;
    fit.optimizer_step = Seconds{typical_seconds(samples, Operation::optimizer_step, cores)};
    for (const BatchTime& time : times) table[cores][time.batch_samples] = time.seconds;
    means[cores] = log_means_of(samples, cores);
  }
  fits.ensemble = bootstrap(means, fits);
  for (std::size_t i = 0; i < fits.compute.size() && !fits.ensemble.empty(); ++i)
    fits.compute[i].relative_half_width =
        relative_half_width(fits.ensemble, i, fits.choices[i], batch_times(samples, fits.compute[i].cores));
  const auto rate = [&](Operation operation) {
    return parameter_bytes / Seconds{typical_seconds(samples, operation, *core_counts.begin())};
  };
  fits.server_accumulate_rate = rate(Operation::server_accumulate);
  fits.server_step_rate = rate(Operation::server_step);
  fits.core_scaling = fit_core_scaling(table);
  fits.memory = fit_memory(measured);  // does not depend on where the cores are
  fits.loading = fit_loading(samples);
  fits.jitter = fit_jitter(samples);
  return fits;
}

}  // namespace paceline::calibrate
