#include "sim/report/statistics/paired.hpp"

#include <cmath>

#include <doctest/doctest.h>

#include "sim/report/statistics/comparison.hpp"

using namespace paceline;

namespace {

TimePair pair(double first_s, double second_s) {
  return {Seconds{first_s}, Seconds{second_s}};
}

constexpr double student_4 = 2.131846786327;  // t_{0.95,4}

}  // namespace

TEST_CASE("a win counts one, a tie half, and never is slower than any time") {
  const std::optional<Seconds> never;
  // wins of the second: yes, tie, yes (the first never reached), tie (neither), no
  const std::vector<TimePair> pairs = {
      pair(2, 1), pair(3, 3), {never, Seconds{9}}, {never, never}, {Seconds{9}, never}};
  // (1 + 1/2 + 1 + 1/2 + 0 + 1/2) / (5 + 1)
  CHECK(compare_paired(pairs).p_faster.value == doctest::Approx(3.5 / 6.0));
  CHECK(compare_paired(pairs).pairs == 5);
}

TEST_CASE("neither the probability nor its interval is ever 0 or 1, however one-sided the pairs") {
  const PairedComparison always = compare_paired(std::vector<TimePair>(50, pair(2, 1)));
  CHECK(always.p_faster.value == doctest::Approx(50.5 / 51.0));
  CHECK(always.p_faster.interval.high < 1.0);
  const PairedComparison never = compare_paired(std::vector<TimePair>(50, pair(1, 2)));
  CHECK(never.p_faster.interval.low > 0.0);
  CHECK(never.p_faster.value == doctest::Approx(1.0 - always.p_faster.value));
  CHECK(never.p_faster.interval.low == doctest::Approx(1.0 - always.p_faster.interval.high));
}

TEST_CASE("after one tie every probability is equally likely: the interval is 5 % to 95 %") {
  // w = 1/2 of n = 1: Beta(1, 1) is uniform.
  const PairedComparison tie = compare_paired({pair(1, 1)});
  CHECK(tie.p_faster.value == 0.5);
  CHECK(tie.p_faster.interval.low == doctest::Approx(0.05));
  CHECK(tie.p_faster.interval.high == doctest::Approx(0.95));
}

TEST_CASE("the correlation is Pearson's r of log times") {
  // ln a = 0, 1, 2 and ln b = 0, 2, 1: deviations (-1, 0, 1) and (-1, 1, 0): r = 1 / 2
  const double e1 = std::exp(1.0);
  const double e2 = std::exp(2.0);
  CHECK(*compare_paired({pair(1, 1), pair(e1, e2), pair(e2, e1)}).correlation == doctest::Approx(0.5));
  // b = 3·a is perfectly correlated, b = 1/a perfectly against it.
  CHECK(*compare_paired({pair(1, 3), pair(2, 6), pair(5, 15)}).correlation == doctest::Approx(1.0));
  CHECK(*compare_paired({pair(1, 1), pair(2, 0.5), pair(4, 0.25)}).correlation == doctest::Approx(-1.0));
}

TEST_CASE("too few pairs, or times that do not vary, have no correlation") {
  CHECK_FALSE(compare_paired({pair(1, 3), pair(2, 6)}).correlation.has_value());
  CHECK_FALSE(compare_paired({pair(7, 3), pair(7, 6), pair(7, 2)}).correlation.has_value());
  // Three pairs, of which only two reached.
  CHECK_FALSE(compare_paired({pair(1, 3), pair(2, 6), {Seconds{3}, std::nullopt}}).correlation.has_value());
}

TEST_CASE("the speed-up lies inside its interval, Student's t on log ratios") {
  // d = ln 2, ln 2, ln 4, ln 8, ln 8: mean 2 ln 2, s = ln 2, n = 5: half width = t_{0.95,4} · s / √5
  const PairedComparison compared =
      compare_paired({pair(2, 1), pair(2, 1), pair(4, 1), pair(8, 1), pair(16, 2)});
  const double half_width = student_4 * std::log(2.0) / std::sqrt(5.0);
  CHECK(*compared.speedup == doctest::Approx(4.0));
  CHECK(compared.speedup_interval->low == doctest::Approx(4.0 * std::exp(-half_width)).epsilon(1e-9));
  CHECK(compared.speedup_interval->high == doctest::Approx(4.0 * std::exp(half_width)).epsilon(1e-9));
}

TEST_CASE("equal ratios are not certain beyond the evaluation grids") {
  // G_a = G_b = 0.2 s, so g_a = 0.1 and g_b = 0.2: s² = (0.01 + 0.04) / 12 of the ratio,
  // (0.04 + 0.04) / 12 s² of the difference.
  const PairedComparison compared = compare_paired(std::vector(5, pair(2, 1)), {Seconds{0.2}, Seconds{0.2}});
  const double half_width = student_4 * std::sqrt(0.05 / 12.0 / 5.0);
  CHECK(compared.speedup_interval->high == doctest::Approx(2.0 * std::exp(half_width)).epsilon(1e-9));
  const double half_width_s = student_4 * std::sqrt(0.08 / 12.0 / 5.0);
  CHECK(compared.difference->interval_s.high == doctest::Approx(-1.0 + half_width_s).epsilon(1e-9));
}

TEST_CASE("a speed-up has no interval when some run never reached, or there are fewer than five pairs") {
  std::vector<TimePair> pairs(5, pair(2, 1));
  CHECK(compare_paired(pairs).difference.has_value());
  pairs.back().second.reset();
  CHECK_FALSE(compare_paired(pairs).speedup_interval);
  CHECK_FALSE(compare_paired(pairs).speedup);
  pairs.pop_back();
  CHECK_FALSE(compare_paired(pairs).speedup_interval);
  CHECK_FALSE(compare_paired(pairs).difference);
  CHECK(*compare_paired(pairs).speedup == doctest::Approx(2.0));
}

namespace {

ScenarioResults throughput_only(const char* name, std::vector<double> ends_s, double epochs = 1.0) {
  ScenarioResults results;
  results.loaded.scenario.name = name;
  results.loaded.scenario.stop.epochs = epochs;
  for (std::size_t r = 0; r < ends_s.size(); ++r) {
    RunResult run;
    run.seed = {1, static_cast<std::uint32_t>(r)};
    run.end_time = Seconds{ends_s[r]};
    run.samples = 100;
    results.runs.push_back(run);
  }
  return results;
}

}  // namespace

TEST_CASE("jobs without a target are compared by the end of the same workload, and of no other") {
  const auto compared =
      compare(compared_runs({throughput_only("a", {4, 5, 6}), throughput_only("b", {2, 2.5, 3}),
                             throughput_only("longer", {9, 9, 9}, 2.0)}));
  CHECK(*compared[1].speedup == doctest::Approx(2.0));
  CHECK(compared[1].against_first->p_faster.value == doctest::Approx(3.5 / 4.0));
  CHECK(*compared[1].against_first->correlation == doctest::Approx(1.0));
  CHECK(compared[1].end_times.median.value() == 2.5);
  CHECK_FALSE(compared[0].against_first.has_value());
  CHECK_FALSE(compared[2].speedup.has_value());
  CHECK_FALSE(compared[2].against_first.has_value());
  const std::string table = comparison_table(compared);
  for (const char* part : {"P(faster)", "2.00x", "0.88 [", "1.00"})
    CHECK(table.find(part) != std::string::npos);
}

TEST_CASE("a job without a target that diverges at once is not the fastest: it never does its work") {
  ScenarioResults diverged = throughput_only("diverged", {0.1, 0.1, 0.1});
  for (RunResult& run : diverged.runs) run.end_reason = "diverged";
  const auto compared = compare(compared_runs({throughput_only("a", {4, 5, 6}), diverged}));
  CHECK_FALSE(compared[1].speedup.has_value());
  // No win of three: (0 + 1/2) / 4
  CHECK(compared[1].against_first->p_faster.value == doctest::Approx(0.5 / 4.0));
  CHECK(compared[1].end_times.median.value() == 0.1);
  const std::string table = comparison_table(compared);
  CHECK(table.find("diverges (3 diverged of 3)") != std::string::npos);
}

TEST_CASE(
    "without a target the table shows the median behind the speed-up: a job cut short is slower than any "
    "other") {
  ScenarioResults some = throughput_only("some", {0.1, 0.1, 4, 5, 6});
  some.runs[0].end_reason = some.runs[1].end_reason = "diverged";
  ScenarioResults most = throughput_only("most", {0.1, 0.1, 0.1, 4, 5});
  for (std::size_t r = 0; r < 3; ++r) most.runs[r].end_reason = "stalled";
  const auto compared = compare(compared_runs({throughput_only("a", {12, 12, 12, 12, 12}), some, most}));
  // 4, 5, 6, never, never: the middle one is 6, and 12 / 6 = 2. Of all ends 0.1, 0.1, 4, 5, 6 it is 4.
  CHECK(compared[1].median == Seconds{6.0});
  CHECK(*compared[1].speedup == doctest::Approx(2.0));
  CHECK(compared[1].end_times.median.value() == 4.0);
  CHECK_FALSE(compared[2].median.has_value());
  const std::string table = comparison_table(compared);
  for (const char* part : {"6.00 s (2 diverged of 5)", "stalls (3 stalled of 5)"})
    CHECK(table.find(part) != std::string::npos);
  CHECK(comparison_json(compared).find("\"outcome\": \"stalls\"") != std::string::npos);
  CHECK(comparison_json(compared).find("\"cut_short\": 2") != std::string::npos);
}

TEST_CASE("runs are paired by their seeds, not by their place: a replication that failed is left out") {
  ScenarioResults first = throughput_only("a", {4, 5, 6});
  first.runs.erase(first.runs.begin());
  // Replications 1 and 2 of the first: 5 and 6. Of the second: 7 and 3. One win of two: (1 + 1/2) / 3
  const auto compared = compare(compared_runs({first, throughput_only("b", {1, 7, 3})}));
  CHECK(compared[1].against_first->pairs == 2);
  CHECK(compared[1].against_first->p_faster.value == doctest::Approx(0.5));
  // Another seed altogether: nothing to pair.
  ScenarioResults other = throughput_only("c", {1, 2});
  for (RunResult& run : other.runs) run.seed.seed = 9;
  CHECK_FALSE(compare(compared_runs({first, other}))[1].against_first.has_value());
}

TEST_CASE("a speed-up is the mean of the pairs' ratios, not the ratio of the medians") {
  // Ratios 2, 2 and 6: ∛24 = 2.88; medians 5 and 2: 2.5.
  const auto compared =
      compare(compared_runs({throughput_only("a", {4, 5, 6}), throughput_only("b", {2, 2.5, 1})}));
  CHECK(*compared[1].speedup == doctest::Approx(std::cbrt(24.0)));
}
