#include "sim/report/statistics/ranking.hpp"

#include <cmath>

#include <doctest/doctest.h>

#include "sim/report/statistics/sensitivity.hpp"

using namespace paceline;

namespace {

// One run for each time, with seeds in common; a negative time never reached its target and ended there.
ComparedRuns runs_taking(const std::string& name, const std::vector<double>& times, double accuracy = 0.9) {
  ComparedRuns runs{{.name = name, .target_accuracy = 0.5, .workload_epochs = 1, .epoch_samples = 1}, {}};
  for (std::size_t r = 0; r < times.size(); ++r) {
    RunSummary run;
    run.seed = {1, static_cast<std::uint32_t>(r)};
    run.end_time = Seconds{std::abs(times[r])};
    if (times[r] > 0) run.time_to_accuracy = run.end_time;
    run.final_accuracy = accuracy;
    runs.runs.push_back(run);
  }
  return runs;
}

std::vector<double> twenty(double first, double step) {
  std::vector<double> times;
  for (int i = 0; i < 20; ++i) times.push_back(first + step * i);
  return times;
}

}  // namespace

TEST_CASE("combinations are ranked by their median time, those that never reach last") {
  const std::vector<Ranked> ranked = rank(
      {runs_taking("never", {-9, -9, 1}), runs_taking("slow", {5, 6, 7}), runs_taking("fast", {1, 2, 3})});
  CHECK(ranked[0].index == 2);
  CHECK(ranked[0].time->value() == 2.0);
  CHECK(ranked[1].index == 1);
  CHECK(ranked[2].index == 0);
  CHECK_FALSE(ranked[2].time.has_value());
}

TEST_CASE("what the runs do not tell apart shares a rank, and what they do gets the next place") {
  // b beats a in half of 20 pairs: w = 10, P = 1/2. c loses all 20: P(faster) = 0.5/21 = 0.02.
  std::vector<double> close = twenty(10, 0.1);
  for (std::size_t i = 0; i < close.size(); ++i) close[i] += i % 2 == 0 ? 0.01 : -0.01;
  const std::vector<Ranked> ranked =
      rank({runs_taking("a", twenty(10, 0.1)), runs_taking("b", close), runs_taking("c", twenty(20, 0.1))});
  CHECK(ranked[0].rank == 1);
  CHECK(ranked[0].is_tied);
  CHECK(ranked[1].rank == 1);
  CHECK(ranked[1].is_tied);
  CHECK(ranked[2].rank == 3);
  CHECK_FALSE(ranked[2].is_tied);
  CHECK(ranked[2].index == 2);
  CHECK(ranked[2].against_leader->p_faster.value == doctest::Approx(0.5 / 21));
}

TEST_CASE("with one pair nothing can be told apart") {
  const std::vector<Ranked> ranked = rank({runs_taking("a", {1}), runs_taking("b", {100})});
  CHECK(ranked[1].rank == 1);
  CHECK(ranked[1].is_tied);
}

TEST_CASE("the Pareto front holds whoever is more accurate than all that are faster") {
  std::vector<ComparedRuns> combinations{runs_taking("fast", {1, 1}, 0.7), runs_taking("worse", {2, 2}, 0.6),
                                         runs_taking("good", {3, 3}, 0.9), runs_taking("late", {4, 4}, 0.9)};
  // Jobs that stop at a target end with its accuracy, whatever they could reach: there is no front.
  for (const Ranked& one : rank(combinations)) CHECK_FALSE(one.is_on_front);
  for (ComparedRuns& one : combinations) one.target_accuracy.reset();
  std::vector<bool> front(4);
  for (const Ranked& one : rank(combinations)) front[one.index] = one.is_on_front;
  CHECK(front == std::vector<bool>{true, false, true, false});
}

TEST_CASE("paired differences are those of the second less the first, with a t interval") {
  // Differences 1, 1, 2, 3, 3: mean 2, sd 1, half width t(0.95, 4) / sqrt(5) = 2.131847 / 2.236068.
  const auto paired =
      compare_pairs(runs_taking("a", {10, 10, 20, 30, 30}), runs_taking("b", {11, 11, 22, 33, 33}));
  REQUIRE(paired->difference.has_value());
  CHECK(paired->difference->mean_s == doctest::Approx(2.0));
  CHECK(paired->difference->interval_s.high ==
        doctest::Approx(2.0 + 2.131847 / std::sqrt(5.0)).epsilon(1e-6));
  CHECK_FALSE(compare_pairs(runs_taking("a", {1, 2, 3, 4, 5}), runs_taking("b", {1, 2, 3, 4, -5}))
                  ->difference.has_value());
}

namespace {

// Times of a full table over two columns: `time(i, j)`.
template <class Time>
ComparedTable table_of(std::size_t rows, std::size_t columns, const Time& time) {
  ComparedTable table{.columns = {"a", "b"}, .labels = {}, .runs = {}};
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j) {
      table.labels.push_back({std::to_string(i), std::to_string(j)});
      const double t = time(static_cast<double>(i), static_cast<double>(j));
      table.runs.push_back(runs_taking("", {t, t}));
    }
  return table;
}

}  // namespace

TEST_CASE("total effects of independent factors are their shares of the variance, and sum to 1") {
  // ln t = 2 i + j, i in {0, 1}, j in {0, 1, 2}: variances 4 · 1/4 = 1 and 2/3.
  const auto effects = sensitivities(table_of(2, 3, [](double i, double j) { return std::exp(2 * i + j); }));
  CHECK(*effects[0].total_effect == doctest::Approx(1.0 / (1.0 + 2.0 / 3.0)));
  CHECK(*effects[1].total_effect == doctest::Approx((2.0 / 3.0) / (1.0 + 2.0 / 3.0)));
  // Alone, from (0, 0): exp(2) and exp(2).
  CHECK(*effects[0].alone == doctest::Approx(std::exp(2.0)));
  CHECK(*effects[1].alone == doctest::Approx(std::exp(2.0)));
}

TEST_CASE("factors that act only together have a total effect but none alone") {
  // ln t = i j on {0, 1}²: values 0, 0, 0, 1, variance 3/16. Var given j: 0 or 1/4, mean 1/8; so 2/3 each.
  const auto effects = sensitivities(table_of(2, 2, [](double i, double j) { return std::exp(i * j); }));
  CHECK(*effects[0].total_effect == doctest::Approx(2.0 / 3.0));
  CHECK(*effects[1].total_effect == doctest::Approx(2.0 / 3.0));
  CHECK(*effects[0].alone == doctest::Approx(1.0));
}

TEST_CASE("what does not matter has no effect, and equal times have none to share out") {
  const auto effects = sensitivities(table_of(2, 2, [](double i, double) { return std::exp(i); }));
  CHECK(*effects[1].total_effect == doctest::Approx(0.0));
  CHECK_FALSE(sensitivities(table_of(2, 2, [](double, double) { return 3.0; }))[0].total_effect.has_value());
}

TEST_CASE("the winner along a column changes where its times cross") {
  // a = 0 takes 10, a = 1 takes 5 + 4 j: it wins for j = 0, 1 and loses from j = 2 on.
  const auto changes =
      winners_along(table_of(2, 4, [](double i, double j) { return i == 0 ? 10.0 : 5.0 + 4.0 * j; }), "a");
  REQUIRE(changes.size() == 1);
  CHECK(changes[0].along == "b");
  CHECK(changes[0].changes());
  REQUIRE(changes[0].winners.size() == 4);
  CHECK(changes[0].winners[1].winner == "1");
  CHECK(changes[0].winners[2].winner == "0");
  CHECK(changes[0].winners[2].over_second->pairs == 2);
}
