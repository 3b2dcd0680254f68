#include "calibrate/jitter.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <Eigen/Dense>

#include "calibrate/fit.hpp"
#include "sim/base/check.hpp"

namespace paceline::calibrate {
namespace {

// Median absolute deviation to standard deviation, for a normal distribution: 1 / Φ⁻¹(3/4).
constexpr double normal_consistency = 1.4826;

double coefficient_of_variation(double log_variance) {
  return std::sqrt(std::expm1(std::max(0.0, log_variance)));
}

std::vector<double> logarithms(const std::vector<double>& values) {
  std::vector<double> logs;
  for (const double value : values) logs.push_back(std::log(value));
  return logs;
}

double iteration_log_variance(const std::vector<Sample>& samples) {
  std::vector<double> deviations;
  for (const Sample& sample : samples) {
    const std::vector<double> logs = logarithms(sample.seconds);
    if (logs.size() < 2) continue;
    const double center = median(logs);
    const auto n = static_cast<double>(logs.size());
    for (const double log : logs) deviations.push_back(std::abs(log - center) * std::sqrt(n / (n - 1.0)));
  }
  check(!deviations.empty(), "iteration jitter needs repeated iterations");
  const double sigma = normal_consistency * median(deviations);
  return sigma * sigma;
}

// Logarithms of the group medians of one core count: a row for each process, a column for each batch.
Eigen::ArrayXXd log_medians(const std::vector<Sample>& samples, int cores) {
  std::map<int, std::map<std::int64_t, double>> table;
  for (const Sample& sample : samples)
    if (sample.cores == cores) table[sample.process][sample.batch] = std::log(median(sample.seconds));
  Eigen::ArrayXXd values(static_cast<Eigen::Index>(table.size()),
                         static_cast<Eigen::Index>(table.begin()->second.size()));
  Eigen::Index row = 0;
  for (const auto& [process, batches] : table) {
    check(static_cast<Eigen::Index>(batches.size()) == values.cols(),
          "every process measured the same batches");
    Eigen::Index column = 0;
    for (const auto& [batch, log] : batches) values(row, column++) = log;
    ++row;
  }
  return values;
}

// The variance component between processes, which noise can make negative.
double run_log_variance(const Eigen::ArrayXXd& y) {
  const auto processes = static_cast<double>(y.rows());
  const auto batches = static_cast<double>(y.cols());
  check(y.rows() >= 2 && y.cols() >= 2, "run jitter needs several processes and batches");
  const double grand_mean = y.mean();
  const Eigen::ArrayXd process_means = y.rowwise().mean();
  const Eigen::RowVectorXd batch_means = y.colwise().mean();
  const Eigen::ArrayXXd rest =
      ((y.colwise() - process_means).matrix().rowwise() - batch_means).array() + grand_mean;
  const double mean_square_run = batches * (process_means - grand_mean).square().sum() / (processes - 1.0);
  const double mean_square_rest = rest.square().sum() / ((processes - 1.0) * (batches - 1.0));
  return (mean_square_run - mean_square_rest) / batches;
}

}  // namespace

JitterFit fit_jitter(const std::vector<Sample>& all_samples) {
  std::vector<Sample> samples;
  std::set<int> core_counts;
  std::set<int> processes;
  for (const Sample& sample : all_samples) {
    if (sample.operation != Operation::forward_backward) continue;
    samples.push_back(sample);
    core_counts.insert(sample.cores);
    processes.insert(sample.process);
  }
  JitterFit fit;
  fit.iteration_cv = coefficient_of_variation(iteration_log_variance(samples));
  fit.processes = static_cast<int>(processes.size());
  if (fit.processes < minimum_processes_for_run_cv) return fit;
  double sum = 0.0;
  for (const int cores : core_counts) sum += run_log_variance(log_medians(samples, cores));
  fit.run_cv = coefficient_of_variation(sum / static_cast<double>(core_counts.size()));
  return fit;
}

}  // namespace paceline::calibrate
