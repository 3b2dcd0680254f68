#include "calibrate/fit/jitter.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <boost/math/distributions/fisher_f.hpp>

#include "calibrate/fit/iteration_factor.hpp"
#include "calibrate/logs/statistics.hpp"
#include "sim/base/check.hpp"
#include "sim/base/order_statistics.hpp"

namespace paceline::calibrate {
namespace {

constexpr double limit_tail = 0.05;

double coefficient_of_variation(double log_variance) {
  return std::sqrt(std::expm1(log_variance));
}

std::optional<double> known_cv(double log_variance) {
  if (!(log_variance > 0.0)) return std::nullopt;
  return coefficient_of_variation(log_variance);
}

double iteration_log_variance(const std::vector<Sample>& samples) {
  std::vector<double> deviations;
  for (const Sample& sample : samples) {
    std::vector<double> logs;
    for (const double seconds : sample.seconds) logs.push_back(std::log(seconds));
    if (logs.size() < 2) continue;
    const double center = median(logs);
    const auto n = static_cast<double>(logs.size());
    for (const double log : logs) deviations.push_back((log - center) * std::sqrt(n / (n - 1.0)));
  }
  check(!deviations.empty(), "iteration jitter needs repeated iterations");
  const double sigma = robust_scale(deviations);
  return sigma * sigma;
}

// Logarithms of the stretches' medians minus their mean over passes, by pass and cores.
using Deviations = std::map<int, std::map<int, std::vector<double>>>;

Deviations deviations_of(const std::vector<Sample>& samples) {
  std::map<std::pair<int, std::int64_t>, std::map<int, double>> logs;  // by cores and batch, then by process
  for (const Sample& sample : samples)
    logs[{sample.cores, sample.batch}][sample.process] = std::log(median(sample.seconds));
  Deviations z;
  for (const auto& [point, by_process] : logs) {
    double mean = 0.0;
    for (const auto& [process, log] : by_process) mean += log / static_cast<double>(by_process.size());
    for (const auto& [process, log] : by_process) z[process][point.first].push_back(log - mean);
  }
  return z;
}

double mean_of(const std::vector<double>& values) {
  double sum = 0.0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

struct MeanSquare {
  double value = 0.0;
  double freedom = 0.0;
};

struct AnalysisOfVariance {
  MeanSquare run;
  MeanSquare process;  // no degrees of freedom with one core count
  MeanSquare rest;
  double stretches_of_run = 1.0;
  double stretches_of_process = 1.0;
};

struct Extent {
  double passes = 0.0;
  double core_counts = 0.0;
  double processes = 0.0;
  double points = 0.0;  // (cores, batch)
  double stretches = 0.0;
};

Extent extent_of(const Deviations& z, const std::vector<Sample>& samples) {
  std::set<int> core_counts;
  std::set<std::pair<int, std::int64_t>> points;
  for (const Sample& sample : samples) {
    core_counts.insert(sample.cores);
    points.insert({sample.cores, sample.batch});
  }
  Extent extent{static_cast<double>(z.size()), static_cast<double>(core_counts.size()), 0.0,
                static_cast<double>(points.size()), 0.0};
  for (const auto& [pass, by_cores] : z)
    for (const auto& [cores, values] : by_cores) {
      extent.processes += 1.0;
      extent.stretches += static_cast<double>(values.size());
    }
  return extent;
}

// Where passes lack stretches (set aside), the numbers in each are means, which is exact where they agree.
AnalysisOfVariance analyse(const Deviations& z, const Extent& extent) {
  AnalysisOfVariance result;
  result.stretches_of_run = extent.stretches / extent.passes;
  result.stretches_of_process = extent.stretches / extent.processes;
  for (const auto& [pass, by_cores] : z) {
    std::vector<double> process_means;
    for (const auto& [cores, values] : by_cores) {
      process_means.push_back(mean_of(values));
      for (const double value : values)
        result.rest.value += (value - process_means.back()) * (value - process_means.back());
    }
    const double run_mean = mean_of(process_means);
    result.run.value += result.stretches_of_run * run_mean * run_mean;
    for (const double mean : process_means)
      result.process.value += result.stretches_of_process * (mean - run_mean) * (mean - run_mean);
  }
  result.run.freedom = extent.passes - 1.0;
  result.process.freedom = extent.processes - extent.passes - extent.core_counts + 1.0;
  result.rest.freedom = extent.stretches - extent.processes - extent.points + extent.core_counts;
  for (MeanSquare* square : {&result.run, &result.process, &result.rest})
    if (square->freedom > 0.0) square->value /= square->freedom;
  return result;
}

void fit_components(const std::vector<Sample>& samples, JitterFit& fit) {
  const Deviations z = deviations_of(samples);
  const AnalysisOfVariance anova = analyse(z, extent_of(z, samples));
  if (anova.rest.freedom <= 0.0) return;  // so much was set aside that nothing can be told apart
  const bool has_processes = anova.process.freedom > 0.0;
  const MeanSquare below = has_processes ? anova.process : anova.rest;
  fit.run_cv = known_cv((anova.run.value - below.value) / anova.stretches_of_run);
  if (has_processes)
    fit.process_cv = known_cv((anova.process.value - anova.rest.value) / anova.stretches_of_process);
  const double fisher = boost::math::quantile(
      boost::math::fisher_f_distribution<>(anova.run.freedom, below.freedom), limit_tail);
  fit.run_cv_upper = known_cv((anova.run.value / fisher - below.value) / anova.stretches_of_run);
}

// Factors t / mean of their stretch by pass, stalls left out as in the fit.
std::vector<std::vector<double>> factors_by_pass(const std::vector<Sample>& samples) {
  std::map<int, std::vector<double>> factors;
  for (const Sample& sample : samples) {
    const double mean = mean_without_stalls(sample.seconds);
    const double bound = stall_bound * median(sample.seconds);
    for (const double seconds : sample.seconds)
      if (seconds <= bound) factors[sample.process].push_back(seconds / mean);
  }
  std::vector<std::vector<double>> passes;
  for (auto& [process, of_pass] : factors) passes.push_back(std::move(of_pass));
  return passes;
}

void fit_shape(const std::vector<Sample>& samples, JitterFit& fit) {
  const std::vector<std::vector<double>> passes = factors_by_pass(samples);
  if (passes.size() < 2 || empirical_advantage_nats(passes) < empirical_must_win_by_nats) return;
  std::vector<double> all;
  for (const std::vector<double>& of_pass : passes) all.insert(all.end(), of_pass.begin(), of_pass.end());
  fit.iteration_quantiles = factor_quantiles(all);
  fit.iteration_cv = quantiles_cv(fit.iteration_quantiles);
}

}  // namespace

JitterFit fit_jitter(const std::vector<Sample>& all_samples) {
  std::vector<Sample> samples;
  std::set<int> processes;
  for (const Sample& sample : all_samples) {
    if (sample.operation != Operation::forward_backward) continue;
    samples.push_back(sample);
    processes.insert(sample.process);
  }
  JitterFit fit;
  fit.iteration_cv = coefficient_of_variation(iteration_log_variance(samples));
  fit.processes = static_cast<int>(processes.size());
  if (fit.processes < minimum_processes_for_run_cv) return fit;
  fit_components(samples, fit);
  fit_shape(samples, fit);
  return fit;
}

}  // namespace paceline::calibrate
