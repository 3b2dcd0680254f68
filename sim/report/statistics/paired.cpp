#include "sim/report/statistics/paired.hpp"

#include <algorithm>
#include <cmath>

#include <boost/math/distributions/students_t.hpp>

#include "sim/base/check.hpp"
#include "sim/base/order_statistics.hpp"

namespace paceline {
namespace {

// Of the second: 1, or 1/2 for a tie.
double win(const TimePair& pair) {
  if (pair.first == pair.second) return 0.5;
  if (!pair.first || !pair.second) return pair.second ? 1.0 : 0.0;
  return *pair.second < *pair.first ? 1.0 : 0.0;
}

struct LogTimes {
  std::vector<double> first;
  std::vector<double> second;
};

// Of the pairs where both took some time.
LogTimes log_times(const std::vector<TimePair>& pairs) {
  LogTimes logs;
  for (const TimePair& pair : pairs) {
    if (!pair.first || !pair.second || *pair.first <= Seconds{} || *pair.second <= Seconds{}) continue;
    logs.first.push_back(std::log(pair.first->value()));
    logs.second.push_back(std::log(pair.second->value()));
  }
  return logs;
}

double mean(const std::vector<double>& values) {
  return spread_of(values).mean;
}

// Of the 90 % interval of a mean over n values.
double half_width(double variance, double n) {
  return boost::math::quantile(boost::math::students_t(n - 1.0), 1.0 - interval_tail) *
         std::sqrt(variance / n);
}

// Sum of products of deviations; of squares when both are the same.
double co_deviation(const std::vector<double>& a, const std::vector<double>& b) {
  const double mean_a = mean(a);
  const double mean_b = mean(b);
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - mean_a) * (b[i] - mean_b);
  return sum;
}

std::optional<double> correlation(const LogTimes& logs) {
  if (logs.first.size() < 3) return std::nullopt;
  const double squares = co_deviation(logs.first, logs.first) * co_deviation(logs.second, logs.second);
  // Equal times leave rounding errors of the mean, not variance.
  constexpr double rounding = 1e-24;
  if (squares <= rounding * rounding) return std::nullopt;
  return std::clamp(co_deviation(logs.first, logs.second) / std::sqrt(squares), -1.0, 1.0);
}

// ln of the speed-up of each pair; nothing unless all of them reached.
std::vector<double> log_ratios(const LogTimes& logs, std::size_t pairs) {
  std::vector<double> ratios;
  if (logs.first.size() < pairs) return ratios;
  for (std::size_t i = 0; i < pairs; ++i) ratios.push_back(logs.first[i] - logs.second[i]);
  return ratios;
}

double relative_square(Seconds grid, const std::vector<double>& logs) {
  double sum_s = 0.0;
  for (const double log : logs) sum_s += std::exp(log);
  const double relative = grid.value() * static_cast<double>(logs.size()) / sum_s;
  return relative * relative;
}

std::optional<Interval> speedup_interval(const std::vector<double>& ratios, const LogTimes& logs,
                                         const EvaluationGrid& grid) {
  const std::size_t pairs = ratios.size();
  if (pairs < least_for_interval) return std::nullopt;
  const auto n = static_cast<double>(pairs);
  const double least = relative_square(grid.first, logs.first) + relative_square(grid.second, logs.second);
  const double half = half_width(std::max(co_deviation(ratios, ratios) / (n - 1.0), least / 12.0), n);
  return Interval{std::exp(mean(ratios) - half), std::exp(mean(ratios) + half)};
}

std::optional<PairedDifference> difference_of(const std::vector<TimePair>& pairs,
                                              const EvaluationGrid& grid) {
  if (pairs.size() < least_for_interval) return std::nullopt;
  std::vector<double> differences;
  for (const TimePair& pair : pairs) {
    if (!pair.first || !pair.second) return std::nullopt;
    differences.push_back((*pair.second - *pair.first).value());
  }
  const auto n = static_cast<double>(pairs.size());
  const double first = grid.first.value();
  const double second = grid.second.value();
  const double least = (first * first + second * second) / 12.0;
  const double half = half_width(std::max(co_deviation(differences, differences) / (n - 1.0), least), n);
  const double middle = mean(differences);
  return PairedDifference{middle, {middle - half, middle + half}};
}

}  // namespace

PairedComparison compare_paired(const std::vector<TimePair>& pairs, const EvaluationGrid& grid) {
  check(!pairs.empty(), "a paired comparison needs pairs");
  double wins = 0.0;
  for (const TimePair& pair : pairs) wins += win(pair);
  const LogTimes logs = log_times(pairs);
  const std::vector<double> ratios = log_ratios(logs, pairs.size());
  return {.pairs = static_cast<int>(pairs.size()),
          .p_faster = jeffreys(wins, static_cast<double>(pairs.size())),
          .correlation = correlation(logs),
          .speedup = ratios.empty() ? std::nullopt : std::optional(std::exp(mean(ratios))),
          .speedup_interval = speedup_interval(ratios, logs, grid),
          .difference = difference_of(pairs, grid)};
}

}  // namespace paceline
