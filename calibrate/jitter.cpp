#include "calibrate/jitter.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include <boost/math/distributions/fisher_f.hpp>

#include "calibrate/iteration_factor.hpp"
#include "calibrate/statistics.hpp"
#include "sim/base/check.hpp"

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

// Logarithms of the stretches' medians minus their mean over passes: z[pass][cores][batch].
using Deviations = std::vector<std::vector<std::vector<double>>>;

Deviations deviations_of(const std::vector<Sample>& samples) {
  std::map<int, std::map<std::int64_t, std::map<int, double>>> logs;  // by cores, batch, process
  for (const Sample& sample : samples)
    logs[sample.cores][sample.batch][sample.process] = std::log(median(sample.seconds));
  const std::size_t passes = logs.begin()->second.begin()->second.size();
  Deviations z(passes);
  for (const auto& [cores, by_batch] : logs) {
    for (auto& pass : z) pass.emplace_back();
    for (const auto& [batch, by_process] : by_batch) {
      check(by_process.size() == passes, "every pass measured the same points");
      double mean = 0.0;
      for (const auto& [process, log] : by_process) mean += log / static_cast<double>(passes);
      std::size_t pass = 0;
      for (const auto& [process, log] : by_process) z[pass++].back().push_back(log - mean);
    }
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

// Core counts may differ in their number of batches; B is then the mean, which is exact where they agree.
AnalysisOfVariance analyse(const Deviations& z) {
  AnalysisOfVariance result;
  const auto passes = static_cast<double>(z.size());
  const auto core_counts = static_cast<double>(z.front().size());
  double batches = 0.0;
  for (const auto& of_cores : z.front()) batches += static_cast<double>(of_cores.size()) / core_counts;
  for (const auto& pass : z) {
    std::vector<double> process_means;
    for (const auto& of_cores : pass) {
      process_means.push_back(mean_of(of_cores));
      for (const double value : of_cores)
        result.rest.value += (value - process_means.back()) * (value - process_means.back());
    }
    const double run_mean = mean_of(process_means);
    result.run.value += core_counts * batches * run_mean * run_mean;
    for (const double mean : process_means)
      result.process.value += batches * (mean - run_mean) * (mean - run_mean);
  }
  result.run.freedom = passes - 1.0;
  result.process.freedom = (passes - 1.0) * (core_counts - 1.0);
  result.rest.freedom = (passes - 1.0) * core_counts * (batches - 1.0);
  for (MeanSquare* square : {&result.run, &result.process, &result.rest})
    if (square->freedom > 0.0) square->value /= square->freedom;
  result.stretches_of_run = core_counts * batches;
  result.stretches_of_process = batches;
  return result;
}

void fit_components(const std::vector<Sample>& samples, JitterFit& fit) {
  const AnalysisOfVariance anova = analyse(deviations_of(samples));
  check(anova.rest.freedom > 0.0, "run jitter needs several processes and batches");
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
