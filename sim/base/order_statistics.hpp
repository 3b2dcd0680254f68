// Medians, quantiles and means of a sample.
//
// Equation:    quantile p of n sorted values: linear between the values at rank p (n − 1), from 0. The median
//              of an even number of values is the mean of the middle two.
// Units:       those of the values.
// Assumptions: not empty. A value may be infinite ("never"); whatever lies between a number and infinity is
// infinite.
// Source:      Hyndman and Fan 1996, definition 7.
#pragma once

#include <vector>

namespace paceline {

[[nodiscard]] double median(std::vector<double> values);
// p from 0 to 1.
[[nodiscard]] double quantile(std::vector<double> values, double p);

// Times the median beyond which a single duration is taken for a stall of something else.
inline constexpr double stall_bound = 3.0;
// Of those values that are at most `stall_bound` times the median.
[[nodiscard]] double mean_without_stalls(const std::vector<double>& values);

struct Spread {
  double mean = 0.0;
  double deviation = 0.0;  // sample standard deviation; 0 for one value
};
[[nodiscard]] Spread spread_of(const std::vector<double>& values);

}  // namespace paceline
