#include "calibrate/fit/jitter.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <optional>
#include <set>
#include <utility>

#include <boost/math/distributions/fisher_f.hpp>

#include "calibrate/logs/statistics.hpp"
#include "sim/base/check.hpp"

namespace paceline::calibrate {
namespace {

constexpr double limit_tail = 0.05;
constexpr double empirical_must_win_by_nats = 0.05;
constexpr std::size_t bins = 16;
constexpr double narrowest_bin = 1e-4;  // clocks tick: equal durations must not become a certainty
constexpr double mixed_in = 0.01;

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

struct MeanSquare {
  double sum = 0.0;
  double freedom = 0.0;
  [[nodiscard]] double value() const { return freedom > 0.0 ? sum / freedom : sum; }
};

struct AnalysisOfVariance {
  MeanSquare run;
  MeanSquare process;  // no degrees of freedom with one core count
  MeanSquare rest;
  double stretches_of_run = 1.0;
  double stretches_of_process = 1.0;
};

// Where passes lack stretches (set aside), the numbers in each are means, which is exact where they agree.
AnalysisOfVariance analyse(const std::vector<Sample>& samples) {
  std::map<std::pair<int, std::int64_t>, std::map<int, double>> logs;  // by cores and batch, then by pass
  std::set<int> core_counts;
  for (const Sample& sample : samples) {
    logs[{sample.cores, sample.batch}][sample.process] = std::log(median(sample.seconds));
    core_counts.insert(sample.cores);
  }
  // The logarithms minus their mean over passes, by pass and cores.
  std::map<int, std::map<int, std::vector<double>>> z;
  double stretches = 0.0;
  for (const auto& [point, by_pass] : logs) {
    double mean = 0.0;
    for (const auto& [pass, log] : by_pass) mean += log / static_cast<double>(by_pass.size());
    for (const auto& [pass, log] : by_pass) z[pass][point.first].push_back(log - mean);
    stretches += static_cast<double>(by_pass.size());
  }
  const auto passes = static_cast<double>(z.size());
  double processes = 0.0;
  for (const auto& [pass, by_cores] : z) processes += static_cast<double>(by_cores.size());
  const auto counts = static_cast<double>(core_counts.size());
  AnalysisOfVariance result{{0.0, passes - 1.0},
                            {0.0, processes - passes - counts + 1.0},
                            {0.0, stretches - processes - static_cast<double>(logs.size()) + counts},
                            stretches / passes,
                            stretches / processes};
  const auto square = [](double value) { return value * value; };
  for (const auto& [pass, by_cores] : z) {
    std::vector<double> process_means;
    for (const auto& [cores, values] : by_cores) {
      process_means.push_back(spread_of(values).mean);
      for (const double value : values) result.rest.sum += square(value - process_means.back());
    }
    const double run_mean = spread_of(process_means).mean;
    result.run.sum += result.stretches_of_run * square(run_mean);
    for (const double mean : process_means)
      result.process.sum += result.stretches_of_process * square(mean - run_mean);
  }
  return result;
}

void fit_components(const std::vector<Sample>& samples, JitterFit& fit) {
  const AnalysisOfVariance anova = analyse(samples);
  if (anova.rest.freedom <= 0.0) return;  // so much was set aside that nothing can be told apart
  const bool has_processes = anova.process.freedom > 0.0;
  const MeanSquare& below = has_processes ? anova.process : anova.rest;
  fit.run_cv = known_cv((anova.run.value() - below.value()) / anova.stretches_of_run);
  if (has_processes)
    fit.process_cv = known_cv((anova.process.value() - anova.rest.value()) / anova.stretches_of_process);
  const double fisher = boost::math::quantile(
      boost::math::fisher_f_distribution<>(anova.run.freedom, below.freedom), limit_tail);
  fit.run_cv_upper = known_cv((anova.run.value() / fisher - below.value()) / anova.stretches_of_run);
}

// Factors t / mean of their stretch by pass, stalls left out as in the fit.
std::map<int, std::vector<double>> factors_by_pass(const std::vector<Sample>& samples) {
  std::map<int, std::vector<double>> factors;
  for (const Sample& sample : samples) {
    const double mean = mean_without_stalls(sample.seconds);
    const double bound = stall_bound * median(sample.seconds);
    for (const double seconds : sample.seconds)
      if (seconds <= bound) factors[sample.process].push_back(seconds / mean);
  }
  return factors;
}

// Of equally likely bins.
std::vector<double> edges_of(const std::vector<double>& factors) {
  std::vector<double> edges;
  for (std::size_t i = 0; i <= bins; ++i)
    edges.push_back(quantile(factors, static_cast<double>(i) / static_cast<double>(bins)));
  return edges;
}

double histogram_density(const std::vector<double>& edges, double x) {
  if (x < edges.front() || x > edges.back()) return 0.0;
  const auto above = std::upper_bound(edges.begin() + 1, edges.end() - 1, x);
  const double width = std::max(narrowest_bin, *above - *(above - 1));
  return 1.0 / (static_cast<double>(bins) * width);
}

double log_normal_density(double x, double mu, double sigma) {
  const double z = (std::log(x) - mu) / sigma;
  return std::exp(-0.5 * z * z) / (x * sigma * std::sqrt(2.0 * std::numbers::pi));
}

// Mean over left-out passes of the log-likelihood of an iteration under the histogram of the others minus
// that under their log-normal, in nats.
double empirical_advantage_nats(const std::map<int, std::vector<double>>& factors) {
  double sum = 0.0;
  double count = 0.0;
  for (const auto& [left_out, left_out_factors] : factors) {
    std::vector<double> others;
    for (const auto& [pass, of_pass] : factors)
      if (pass != left_out) others.insert(others.end(), of_pass.begin(), of_pass.end());
    if (others.size() < bins) continue;
    const std::vector<double> edges = edges_of(others);
    for (double& other : others) other = std::log(other);
    const auto [mu, deviation] = spread_of(others);
    const double sigma = std::max(narrowest_bin, deviation);
    for (const double x : left_out_factors) {
      const double floor = mixed_in * log_normal_density(x, mu, 10.0 * sigma) + 1e-12;
      sum += std::log((1.0 - mixed_in) * histogram_density(edges, x) + floor) -
             std::log((1.0 - mixed_in) * log_normal_density(x, mu, sigma) + floor);
      count += 1.0;
    }
  }
  return count > 0.0 ? sum / count : 0.0;
}

void fit_shape(const std::vector<Sample>& samples, JitterFit& fit) {
  const std::map<int, std::vector<double>> factors = factors_by_pass(samples);
  if (factors.size() < 2 || empirical_advantage_nats(factors) < empirical_must_win_by_nats) return;
  std::vector<double> all;
  for (const auto& [pass, of_pass] : factors) all.insert(all.end(), of_pass.begin(), of_pass.end());
  std::vector<double> quantiles = edges_of(all);
  // Linear between the quantiles: ∫ Q = Σ (a + b)/2 and ∫ Q² = Σ (a² + ab + b²)/3 over the pieces.
  double mean = 0.0;
  double square = 0.0;
  for (std::size_t i = 0; i < bins; ++i) {
    const double a = quantiles[i];
    const double b = quantiles[i + 1];
    mean += 0.5 * (a + b) / static_cast<double>(bins);
    square += (a * a + a * b + b * b) / 3.0 / static_cast<double>(bins);
  }
  for (double& quantile : quantiles) quantile /= mean;
  fit.iteration_quantiles = std::move(quantiles);
  fit.iteration_cv = std::sqrt(std::max(0.0, square / (mean * mean) - 1.0));
}

}  // namespace

JitterFit fit_jitter(std::vector<Sample> samples) {
  std::erase_if(samples,
                [](const Sample& sample) { return sample.operation != Operation::forward_backward; });
  std::set<int> processes;
  for (const Sample& sample : samples) processes.insert(sample.process);
  JitterFit fit;
  fit.iteration_cv = coefficient_of_variation(iteration_log_variance(samples));
  fit.processes = static_cast<int>(processes.size());
  if (fit.processes < minimum_processes_for_run_cv) return fit;
  fit_components(samples, fit);
  fit_shape(samples, fit);
  return fit;
}

}  // namespace paceline::calibrate
