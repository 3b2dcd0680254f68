#include "calibrate/fit.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <Eigen/Dense>

#include "calibrate/jitter.hpp"
#include "sim/base/check.hpp"

namespace paceline::calibrate {
namespace {

// Times the median beyond which a single iteration is taken for a stall.
constexpr double stall_bound = 3.0;

// What an iteration of one process takes on average, stalls left out.
double mean_seconds(const std::vector<double>& seconds) {
  const double bound = stall_bound * median(seconds);
  double sum = 0.0;
  double count = 0.0;
  for (const double s : seconds) {
    if (s > bound) continue;
    sum += s;
    count += 1.0;
  }
  return sum / count;
}

// Median over processes of the mean over iterations, by batch.
std::vector<BatchTime> batch_times(const std::vector<Sample>& samples, Operation operation, int cores) {
  std::map<std::int64_t, std::vector<double>> process_means;
  for (const Sample& sample : samples)
    if (sample.operation == operation && sample.cores == cores)
      process_means[sample.batch].push_back(mean_seconds(sample.seconds));
  std::vector<BatchTime> times;
  for (const auto& [batch, means] : process_means) times.push_back({batch, median(means)});
  return times;
}

double typical_seconds(const std::vector<Sample>& samples, Operation operation, int cores) {
  std::vector<double> values;
  for (const BatchTime& time : batch_times(samples, operation, cores)) values.push_back(time.seconds);
  check(!values.empty(), "every operation of a profile was measured");
  return median(values);
}

ComputeFit fit_compute(const std::vector<Sample>& samples, int cores) {
  const std::vector<BatchTime> times = batch_times(samples, Operation::forward_backward, cores);
  const AffineLine line = fit_line(times);
  ComputeFit fit;
  fit.cores = cores;
  fit.intercept = Seconds{line.intercept_s};
  fit.slope_per_sample = Seconds{line.slope_s_per_sample};
  fit.leave_one_out_error = leave_one_out_error(times);
  fit.batch_min_samples = times.front().batch_samples;
  fit.batch_max_samples = times.back().batch_samples;
  fit.optimizer_step = Seconds{typical_seconds(samples, Operation::optimizer_step, cores)};
  return fit;
}

}  // namespace

double median(std::vector<double> values) {
  check(!values.empty(), "median of nothing");
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return 0.5 * (*middle + *std::max_element(values.begin(), middle));
}

AffineLine fit_line(std::span<const BatchTime> points) {
  // Rows divided by the measured time turn relative residuals into plain least squares with target 1.
  const auto rows = static_cast<Eigen::Index>(points.size());
  Eigen::MatrixX2d scaled(rows, 2);
  std::set<std::int64_t> batches;
  for (Eigen::Index i = 0; i < rows; ++i) {
    const BatchTime& point = points[static_cast<std::size_t>(i)];
    check(point.seconds > 0.0 && std::isfinite(point.seconds), "measured times are positive");
    batches.insert(point.batch_samples);
    scaled(i, 0) = 1.0 / point.seconds;
    scaled(i, 1) = static_cast<double>(point.batch_samples) / point.seconds;
  }
  check(batches.size() >= 2, "a line needs two different batches");
  const Eigen::VectorXd target = Eigen::VectorXd::Ones(rows);
  const Eigen::Vector2d both = scaled.colPivHouseholderQr().solve(target);
  if (both(0) < 0.0) return {0.0, scaled.col(1).dot(target) / scaled.col(1).squaredNorm()};
  if (both(1) < 0.0) return {scaled.col(0).dot(target) / scaled.col(0).squaredNorm(), 0.0};
  return {both(0), both(1)};
}

double leave_one_out_error(std::span<const BatchTime> points) {
  check(points.size() >= 3, "leaving one batch out needs three");
  double sum = 0.0;
  for (std::size_t left_out = 0; left_out < points.size(); ++left_out) {
    std::vector<BatchTime> others(points.begin(), points.end());
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(left_out));
    const AffineLine line = fit_line(others);
    const BatchTime& point = points[left_out];
    const double predicted =
        line.intercept_s + line.slope_s_per_sample * static_cast<double>(point.batch_samples);
    sum += std::abs(predicted - point.seconds) / point.seconds;
  }
  return sum / static_cast<double>(points.size());
}

ProfileFits fit_profile(const std::vector<Sample>& samples, Bytes parameter_bytes) {
  std::set<int> core_counts;
  for (const Sample& sample : samples) core_counts.insert(sample.cores);
  check(!core_counts.empty(), "a profile needs samples");
  ProfileFits fits;
  for (const int cores : core_counts) fits.compute.push_back(fit_compute(samples, cores));
  const int server_cores = *core_counts.begin();
  const auto rate = [&](Operation operation) {
    return parameter_bytes / Seconds{typical_seconds(samples, operation, server_cores)};
  };
  fits.server_accumulate_rate = rate(Operation::server_accumulate);
  fits.server_step_rate = rate(Operation::server_step);
  fits.jitter = fit_jitter(samples);
  return fits;
}

}  // namespace paceline::calibrate
