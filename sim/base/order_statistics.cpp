#include "sim/base/order_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "sim/base/check.hpp"

namespace paceline {

double median(std::vector<double> values) {
  check(!values.empty(), "a median of something");
  std::ranges::sort(values);
  const double low = values[(values.size() - 1) / 2];
  const double high = values[values.size() / 2];
  return low == high ? low : (low + high) / 2.0;  // two infinities have no mean
}

double quantile(std::vector<double> values, double p) {
  check(!values.empty() && p >= 0.0 && p <= 1.0, "a quantile of something, from 0 to 1");
  std::ranges::sort(values);
  const double position = p * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const double share = position - static_cast<double>(below);
  if (share == 0.0 || values[below] == values[below + 1]) return values[below];
  return values[below] + share * (values[below + 1] - values[below]);
}

double mean_without_stalls(const std::vector<double>& values) {
  const double bound = stall_bound * median(values);
  double sum = 0.0;
  double count = 0.0;
  for (const double value : values) {
    if (value > bound) continue;
    sum += value;
    count += 1.0;
  }
  return sum / count;
}

Spread spread_of(const std::vector<double>& values) {
  check(!values.empty(), "a mean of something");
  const auto count = static_cast<double>(values.size());
  double sum = 0.0;
  for (const double value : values) sum += value;
  Spread spread{sum / count, 0.0};
  double squares = 0.0;
  for (const double value : values) squares += (value - spread.mean) * (value - spread.mean);
  if (values.size() > 1) spread.deviation = std::sqrt(squares / (count - 1.0));
  return spread;
}

}  // namespace paceline
