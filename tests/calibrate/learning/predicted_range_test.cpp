// Where figures of a few runs lie, against what is known of such draws.
#include <cmath>

#include <doctest/doctest.h>

#include "calibrate/learning/prediction.hpp"

using namespace paceline;

namespace {

PredictedRuns ending_at(const std::vector<double>& accuracies) {
  PredictedRuns runs;
  for (const double accuracy : accuracies) runs.runs.push_back({{{100.0, accuracy}}, {10.0}, 10.0, {}});
  return runs;
}

std::optional<double> mean_final(const PredictedRuns& runs) {
  return runs.mean_final();
}

}  // namespace

TEST_CASE("runs that all end alike leave a figure no range") {
  const PredictedRuns alike = ending_at({0.7, 0.7, 0.7});
  const Interval range = *predicted_range(alike, 5, mean_final);
  CHECK(range.low == doctest::Approx(0.7));
  CHECK(range.high == doctest::Approx(0.7));
}

TEST_CASE("the range of a mean narrows with the root of the number of runs") {
  // Ends spread evenly over 0 to 1 have a deviation of 0.2887; 90 % of means of n lie within ± 1.645 · 0.2887
  // / √n.
  std::vector<double> ends;
  for (int i = 0; i <= 200; ++i) ends.push_back(i / 200.0);
  const PredictedRuns even = ending_at(ends);
  for (const std::size_t n : {4U, 16U, 64U}) {
    const Interval range = *predicted_range(even, n, mean_final);
    const double half = 1.645 * 0.2887 / std::sqrt(static_cast<double>(n));
    CHECK(0.5 * (range.high - range.low) == doctest::Approx(half).epsilon(0.12));
    CHECK(0.5 * (range.high + range.low) == doctest::Approx(0.5).epsilon(0.06));
  }
}

TEST_CASE("sets without the figure are left out, and a figure that hardly any set has is given no range") {
  // Half of the runs reach 0.8, after 10 s each: three quarters of the sets of two have such a run.
  const PredictedRuns half = ending_at({0.9, 0.7});
  const auto time = [](const PredictedRuns& runs) { return reach(runs, 0.8).mean_time_s; };
  CHECK(predicted_range(half, 2, time)->high == 10.0);
  const auto never = [](const PredictedRuns& runs) { return reach(runs, 0.95).mean_time_s; };
  CHECK_FALSE(predicted_range(half, 2, never).has_value());
  CHECK_FALSE(predicted_range({}, 2, time).has_value());
  CHECK_FALSE(predicted_range(half, 0, time).has_value());
}

TEST_CASE("the first runs of each predicted set are a draw, from 20 sets on") {
  // Set k of three runs ends at k, k and 100 percent: means of the first two are k = 0 … 20, of which 5 %
  // and 95 % are 1 and 19.
  std::vector<double> ends;
  for (int k = 0; k <= 20; ++k)
    for (const double end : {k / 100.0, k / 100.0, 1.0}) ends.push_back(end);
  PredictedRuns sets = ending_at(ends);
  sets.runs_in_set = 3;
  const Interval range = *predicted_range(sets, 2, mean_final);
  CHECK(range.low == doctest::Approx(0.01));
  CHECK(range.high == doctest::Approx(0.19));
  sets.runs.resize(20 * 3);
  CHECK(predicted_range(sets, 3, mean_final).has_value());
  sets.runs.resize(19 * 3);
  CHECK_FALSE(predicted_range(sets, 3, mean_final).has_value());
}
