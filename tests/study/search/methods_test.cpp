#include "sim/study/search/methods.hpp"

#include <cmath>

#include <doctest/doctest.h>

using namespace paceline;
using namespace paceline::search;

namespace {

RunSummary run(std::optional<double> time_to_accuracy_s, double end_time_s, std::optional<double> accuracy,
               double core_hours) {
  RunSummary run;
  if (time_to_accuracy_s) run.time_to_accuracy = Seconds{*time_to_accuracy_s};
  run.end_time = Seconds{end_time_s};
  run.final_accuracy = accuracy;
  run.core_hours = core_hours;
  return run;
}

// Runs whose time is `seconds(setting)` in every replication, with the accuracy `accuracy(setting)`.
template <class Time>
search::Evaluate runs_taking(const Time& seconds) {
  return [=](double setting, int replications) {
    const double time_s = seconds(setting);
    return Outcome(static_cast<std::size_t>(replications), run(time_s, time_s, 0.9, time_s / 3600.0));
  };
}

AxisRange unit_interval() {
  AxisRange range;
  range.to = 1.0;
  return range;
}

AxisRange whole_numbers(double from, double to) {
  AxisRange range;
  range.whole = true;
  range.from = from;
  range.to = to;
  return range;
}

}  // namespace

TEST_CASE("a setting that is asked again costs only its further replications") {
  int asked = 0;
  Trials trials([&](double, int replications) {
    ++asked;
    return Outcome(static_cast<std::size_t>(replications), run(2.0, 4.0, 0.5, 0.5));
  });
  CHECK(trials.of(1.0, 3).size() == 3);
  CHECK(trials.of(1.0, 2).size() == 3);
  CHECK(asked == 1);
  CHECK(trials.of(1.0, 5).size() == 5);
  CHECK(trials.of(2.0, 1).size() == 1);
  // Cost: 2 settings, 5 + 1 runs of 4 s and half a core-hour.
  CHECK(trials.cost().settings == 2);
  CHECK(trials.cost().runs == 6);
  CHECK(trials.cost().simulated_s == 24.0);
  CHECK(trials.cost().simulated_core_hours == 3.0);
}

TEST_CASE("the score is the mean, and the share of runs that never reached comes before it") {
  const Outcome outcome{run(10.0, 10.0, 0.9, 1.0), run(std::nullopt, 30.0, 0.7, 3.0)};
  CHECK(score(outcome, {}) == Score{0.5, (10.0 + 30.0) / 2});
  CHECK(score(outcome, {}, 1) == Score{0.0, 10.0});
  CHECK(score(outcome, {.minimize = SearchObjective::core_hours}) == Score{0.0, 2.0});
  CHECK(score(outcome, {.minimize = SearchObjective::money, .price_per_core_hour = 0.5}) == Score{0.0, 1.0});
}

TEST_CASE("money is what the workers cost, where they have a price") {
  // 1.20 in the first run, 0.80 in the second, whatever a core-hour would cost: these have no price.
  const Outcome outcome{{run(10.0, 10.0, 0.9, 1.0), 1.2}, {run(20.0, 20.0, 0.9, 3.0), 0.8}};
  CHECK(score(outcome, {.minimize = SearchObjective::money}) == Score{0.0, (1.2 + 0.8) / 2});
}

TEST_CASE("settings are alike where 0 lies in the interval of their paired difference") {
  const auto runs = [](const std::vector<double>& seconds) {
    Outcome outcome;
    for (const double s : seconds) outcome.emplace_back(run(s, s, 0.9, s));
    return outcome;
  };
  const Outcome base = runs({10, 20, 30, 40, 50, 60});
  CHECK(are_alike(base, base, {}));
  // Differences 1, -1, 1, -1, 1, -1: mean 0.
  CHECK(are_alike(base, runs({11, 19, 31, 39, 51, 59}), {}));
  // 1 to 1.5 longer in every pair, however far the runs of one setting lie apart.
  CHECK_FALSE(are_alike(base, runs({11, 21.5, 31, 41.5, 51, 61.5}), {}));
  // Four pairs have no interval; equal ones need none.
  CHECK_FALSE(are_alike(runs({1, 2, 3, 4}), runs({2, 1, 4, 3}), {}));
  CHECK(are_alike(runs({1, 2}), runs({1, 2}), {}));
  // One of six never reaches: P(faster) of one win and five ties is no proof.
  Outcome one_never = base;
  one_never[0].time_to_accuracy = std::nullopt;
  CHECK(are_alike(base, one_never, {}));
  CHECK_FALSE(are_alike(base, base, {.accuracy = 0.95}));
}

TEST_CASE("a short job that never reaches its target does not win against a long one that does") {
  // never after 4 s against 200 s
  const Outcome gives_up{run(std::nullopt, 4.0, 0.2, 1.0)};
  const Outcome arrives{run(200.0, 300.0, 0.9, 1.0)};
  CHECK(is_better(score(arrives, {}), score(gives_up, {})));
  CHECK_FALSE(is_better(score(gives_up, {}), score(arrives, {})));
}

TEST_CASE("a setting whose mean accuracy is too low is infeasible and worse than every number") {
  const Outcome outcome{run(10.0, 10.0, 0.9, 1.0), run(20.0, 30.0, 0.7, 3.0)};
  // Mean accuracy 0.8.
  CHECK(score(outcome, {.accuracy = 0.8}).has_value());
  CHECK_FALSE(score(outcome, {.accuracy = 0.81}).has_value());
  CHECK(is_better(Score{1.0, 1e300}, std::nullopt));
  CHECK_FALSE(is_better(std::nullopt, Score{1.0, 1e300}));
  CHECK_FALSE(is_better(std::nullopt, std::nullopt));
  // A job that does not learn has no accuracy to be high enough.
  CHECK_FALSE(score({run(std::nullopt, 1.0, std::nullopt, 1.0)}, {.accuracy = 0.1}).has_value());
}

TEST_CASE("exhaustive search tries everything and returns the first of the best") {
  Trials trials(runs_taking([](double x) { return 1.0 + std::abs(x - 2.5); }));
  const Found found = exhaustive({0, 1, 2, 3, 4}, {.replications = 3}, trials);
  // |2 - 2.5| = |3 - 2.5|: the first of the two.
  CHECK(found.setting == 2.0);
  CHECK(found.score == Score{0.0, 1.5});
  CHECK(trials.cost().runs == 5 * 3);
}

TEST_CASE("exhaustive search without a feasible setting finds none") {
  Trials trials(runs_taking([](double) { return 1.0; }));
  const Found found = exhaustive({0, 1}, {.accuracy = 0.95, .replications = 1}, trials);
  CHECK_FALSE(found.setting.has_value());
}

TEST_CASE("golden section closes in on the bottom of a valley in the number of settings its formula says") {
  for (const double bottom : {0.1, 0.3141, 0.5, 0.97}) {
    Trials trials(runs_taking([=](double x) { return 1.0 + (x - bottom) * (x - bottom); }));
    const Found found = golden_section(unit_interval(), {.replications = 2}, trials);
    REQUIRE(found.setting.has_value());
    // Whoever is lowest of all tried lies in the last interval or beside it.
    CHECK(std::abs(*found.setting - bottom) <= 0.01);
    // Interior: 2 + ceil(ln(0.01) / ln(0.618)) = 2 + 10; and the two ends.
    const double shrinks = std::ceil(std::log(0.01) / std::log((std::sqrt(5.0) - 1.0) / 2.0));
    CHECK(trials.cost().settings == 4 + static_cast<std::size_t>(shrinks));
  }
}

TEST_CASE("golden section stops where nothing makes a difference") {
  Trials trials(runs_taking([](double) { return 7.0; }));
  const Found found = golden_section(unit_interval(), {.replications = 2}, trials);
  CHECK(found.setting == 0.0);
  // The ends and the first two points between.
  CHECK(trials.cost().settings == 4);
}

TEST_CASE("golden section goes down beside a plateau, towards the better end") {
  // Flat from 0.3 on, and lower before it: both first points, 0.38 and 0.62, are equal.
  Trials trials(runs_taking([](double x) { return x < 0.3 ? 7.0 + x : 7.3; }));
  const Found found = golden_section(unit_interval(), {.replications = 1}, trials);
  CHECK(found.setting == 0.0);
  CHECK(trials.tried().back().setting < 0.02);
}

TEST_CASE("golden section finds the valley at the edge of a plateau that reaches to an end") {
  // 9 at 0, down to 6.7 at 0.15, up to 7 at 0.3, and 7 from there on.
  Trials trials(runs_taking([](double x) {
    return x < 0.15 ? 6.7 + (0.15 - x) * 2.3 / 0.15 : x < 0.3 ? 6.7 + (x - 0.15) * 2.0 : 7.0;
  }));
  const Found found = golden_section(unit_interval(), {.replications = 1}, trials);
  CHECK(std::abs(*found.setting - 0.15) <= 0.01);
}

TEST_CASE("golden section tries numbers with few digits: to a tenth of the tolerance") {
  AxisRange range;
  range.from = 5.0;
  range.to = 95.0;
  Trials trials(runs_taking([](double x) { return 1.0 + std::abs(x - 33.0); }));
  const Found found = golden_section(range, {.replications = 1, .tolerance = 0.9}, trials);
  CHECK(std::abs(*found.setting - 33.0) <= 0.9);
  for (const Tried& tried : trials.tried()) CHECK(tried.setting == std::round(100.0 * tried.setting) / 100.0);
}

TEST_CASE("golden section finds a lowest point at an end") {
  for (const double end : {0.0, 1.0}) {
    Trials trials(runs_taking([=](double x) { return 1.0 + std::abs(x - end); }));
    CHECK(golden_section(unit_interval(), {.replications = 1, .tolerance = 0.05}, trials).setting == end);
  }
}

TEST_CASE("golden section tries whole numbers only, each once, where nothing else makes sense") {
  Trials trials(runs_taking([](double x) { return 1.0 + std::abs(x - 11.0); }));
  const Found found = golden_section(whole_numbers(1, 32), {.replications = 1, .tolerance = 1}, trials);
  CHECK(found.setting == 11.0);
  for (const Tried& tried : trials.tried()) CHECK(tried.setting == std::round(tried.setting));
}

TEST_CASE("golden section stays among feasible settings") {
  // Below 0.4 runs are fast and wrong: the cheapest feasible setting is at 0.4.
  Trials trials([](double x, int replications) {
    return Outcome(static_cast<std::size_t>(replications), run(x, x, x < 0.4 ? 0.5 : 0.9, x));
  });
  const Found found = golden_section(unit_interval(), {.accuracy = 0.8, .replications = 1}, trials);
  REQUIRE(found.setting.has_value());
  CHECK(*found.setting >= 0.4);
  CHECK(*found.setting <= 0.42);
}

TEST_CASE("successive halving spends little on bad settings and finds the best") {
  Trials trials(runs_taking([](double x) { return 10.0 + x; }));
  std::vector<double> settings;
  for (int i = 26; i >= 0; --i) settings.push_back(i);
  const Found found =
      successive_halving(settings, {.replications = 18, .first_replications = 2, .keep_one_of = 3}, trials);
  CHECK(found.setting == 0.0);
  CHECK(found.score == Score{0.0, 10.0});
  // Rounds: 27 settings x 2, 9 x 6, 3 x 18 replications; a setting's earlier runs are not paid again:
  // 18 x 2 + 6 x 6 + 3 x 18 = 126 of 27 x 18 = 486 runs.
  CHECK(trials.cost().runs == 126);
}

TEST_CASE("successive halving takes replications up to the limit and no further") {
  Trials trials(runs_taking([](double x) { return x; }));
  CHECK(successive_halving({1, 2}, {.replications = 5, .first_replications = 4, .keep_one_of = 2}, trials)
            .setting == 1.0);
  // 2 x 4, and a fifth of the one that is left.
  CHECK(trials.cost().runs == 9);
  CHECK_FALSE(successive_halving({1, 2}, {.accuracy = 1.0}, trials).setting.has_value());
}

TEST_CASE("golden section goes towards the best setting where neither point is feasible") {
  // Only settings from 0.9 on are accurate, and the smallest of them is the fastest: 0.38 and 0.62 say
  // nothing.
  Trials trials([](double x, int replications) {
    return Outcome(static_cast<std::size_t>(replications), run(x, x, x < 0.9 ? 0.5 : 0.9, x));
  });
  const Found found = golden_section(unit_interval(), {.accuracy = 0.8, .replications = 1}, trials);
  REQUIRE(found.setting.has_value());
  CHECK(*found.setting >= 0.9);
  CHECK(*found.setting <= 0.92);
}

TEST_CASE("successive halving rounds up what goes on") {
  // One of three of 5 settings is 2, of these 1: 5 x 2 + 2 x 4 + 1 x 12 runs.
  Trials trials(runs_taking([](double x) { return x; }));
  CHECK(successive_halving({1, 2, 3, 4, 5}, {.replications = 18, .first_replications = 2, .keep_one_of = 3},
                           trials)
            .setting == 1.0);
  CHECK(trials.cost().runs == 5 * 2 + 2 * 4 + 12);
}
