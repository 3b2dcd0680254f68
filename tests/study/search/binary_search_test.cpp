// Sync-Switch's search on a job whose accuracy and time are formulas of the share.
#include "sim/study/search/binary_search.hpp"

#include <cmath>
#include <utility>

#include <doctest/doctest.h>

using namespace paceline;
using namespace paceline::search;

namespace {

// Accuracy 0.92 from a share of 0.2 on, below it 0.1 · (0.2 - share) less; 100 s + 900 s · share. Odd
// replications end 0.002 higher, even ones 0.002 lower.
Outcome knee(double share, int replications) {
  Outcome outcome;
  for (int r = 0; r < replications; ++r) {
    const double mean = share >= 0.2 ? 0.92 : 0.92 - 0.1 * (0.2 - share);
    outcome.emplace_back();
    outcome.back().end_time = Seconds{100.0 + 900.0 * share};
    outcome.back().final_accuracy = mean + (r % 2 == 0 ? -0.002 : 0.002);
  }
  return outcome;
}

TimingRules rules() {
  return {.tolerance = 0.005, .replications = 4, .settings = 5, .fresh_replications = 20};
}

}  // namespace

TEST_CASE("the interval is halved: good shares become its upper end, the others its lower end") {
  // 0.005 below 0.92 at share 0.15: good from there on. 50 % good, 25 % good, 12.5 % bad (0.0075), 18.75 %
  // good, 15.625 % good.
  Trials trials(knee);
  const TimingResult result = binary_search(rules(), trials);
  REQUIRE(result.choice.has_value());
  std::vector<std::pair<double, bool>> tried;
  for (const TriedShare& share : result.choice->tried) tried.emplace_back(share.share, share.is_good);
  CHECK(tried == std::vector<std::pair<double, bool>>{
                     {0.5, true}, {0.25, true}, {0.125, false}, {0.1875, true}, {0.15625, true}});
  CHECK(result.choice->chosen == 0.15625);
  CHECK(result.choice->target_accuracy == doctest::Approx(0.92));
}

TEST_CASE("the cost is every run of the search, and the pay-off what it takes to earn that back") {
  // 6 settings of 4 runs; times: 1000, 550, 325, 212.5, 268.75, 240.625 s, four each: 10,387.5 s. A job saves
  // 1000 - 240.625 s = 759.375 s: after 14 jobs.
  Trials trials(knee);
  const TimingChoice choice = *binary_search(rules(), trials).choice;
  CHECK(choice.cost.runs == 24);
  CHECK(choice.cost.simulated_s == doctest::Approx(10387.5));
  CHECK(choice.jobs_to_pay_off == 14.0);
}

TEST_CASE("one replication of a setting has no spread, and two have theirs") {
  // 0.918 and 0.922 at every share from 0.2 on: sd = 0.002 √2.
  for (const auto& [replications, deviation] : {std::pair{1, 0.0}, {2, 0.002 * std::sqrt(2.0)}}) {
    Trials trials(knee);
    TimingRules few = rules();
    few.replications = replications;
    CHECK(binary_search(few, trials).choice->tried[0].accuracy_deviation == doctest::Approx(deviation));
  }
}

TEST_CASE("the chosen share and the next lower one are run again on seeds the search has not seen") {
  // At 15.625 % the mean is 0.004375 low: within 0.005 for the higher half of the runs (0.002375), not for
  // the lower (0.006375). At 12.5 %, 0.0075 low: 0.0055 at best, never.
  Trials trials(knee);
  const TimingChoice choice = *binary_search(rules(), trials).choice;
  REQUIRE(choice.fresh.size() == 2);
  CHECK(choice.fresh[0].share == 0.15625);
  CHECK(choice.fresh[0].runs == 20);
  CHECK(choice.fresh[0].within_tolerance == 10);
  CHECK(choice.fresh[0].p_within() == doctest::Approx(10.5 / 21.0));
  CHECK(choice.fresh[1].share == 0.125);
  CHECK(choice.fresh[1].within_tolerance == 0);
  CHECK(choice.fresh[1].p_within() > 0.0);
}

TEST_CASE("fresh seeds that agree with the search, or contradict it, are told apart") {
  // The runs of the search end `bonus` higher than all later ones.
  const auto contradicted_with = [](double bonus) -> std::optional<double> {
    Trials trials([bonus](double share, int replications) {
      Outcome outcome = knee(share, replications);
      for (std::size_t r = 0; r < 4 && share < 1.0; ++r) *outcome[r].final_accuracy += bonus;
      return outcome;
    });
    const std::optional<FreshRuns> against = contradiction(*binary_search(rules(), trials).choice);
    return against ? std::optional(against->share) : std::nullopt;
  };
  // 0.004375 low at 15.625 %, 0.0075 at 12.5 %: as the search saw them.
  CHECK_FALSE(contradicted_with(0.0).has_value());
  // 0.004 too high in the search: 12.5 % is chosen (0.0035 low there), and is 0.0075 low in truth.
  CHECK(contradicted_with(0.004) == 0.125);
  // 0.002 too low: 18.75 % is chosen (15.625 % seems 0.006375 low), and 15.625 % suffices in truth.
  CHECK(contradicted_with(-0.002) == 0.15625);
}

TEST_CASE("a target below what synchronous training reaches is refused two-sided, and one-sided taken") {
  TimingRules to_085 = rules();
  to_085.target_accuracy = 0.905;
  Trials two(knee);
  const TimingResult refused = binary_search(to_085, two);
  CHECK_FALSE(refused.choice.has_value());  // 0.92 is 0.015 too good, with a tolerance of 0.01
  REQUIRE(refused.out_of_reach.has_value());
  CHECK(refused.out_of_reach->reached == doctest::Approx(0.92));
  to_085.sides = Sides::one;
  Trials one(knee);
  const TimingResult taken = binary_search(to_085, one);
  REQUIRE(taken.choice.has_value());
  CHECK(taken.choice->chosen == 1.0 / 32.0);  // 0.9031 is enough
}

TEST_CASE("a target that synchronous training alone does not reach is refused, with what it reaches") {
  TimingRules impossible = rules();
  impossible.target_accuracy = 0.95;
  Trials trials(knee);
  const TimingResult result = binary_search(impossible, trials);
  CHECK_FALSE(result.choice.has_value());
  REQUIRE(result.out_of_reach.has_value());
  CHECK(result.out_of_reach->reached == doctest::Approx(0.92));
  CHECK(trials.cost().settings == 1);
}

TEST_CASE("a search that saves nothing never pays off") {
  Trials trials([](double, int replications) {
    RunSummary run;
    run.end_time = Seconds{10.0};
    run.final_accuracy = 0.9;
    return Outcome(static_cast<std::size_t>(replications), run);
  });
  CHECK_FALSE(binary_search(rules(), trials).choice->jobs_to_pay_off.has_value());
}
