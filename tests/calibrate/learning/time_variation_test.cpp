// How job times vary, against deviations that were put in.
#include "calibrate/learning/time_variation.hpp"

#include <cmath>

#include <boost/math/distributions/students_t.hpp>
#include <doctest/doctest.h>

using namespace paceline;

namespace {

// Asynchronous jobs of 1,000 mini-batches at 0.1 s, each longer by a factor.
TrainingRun run_of(const std::string& policy, const std::string& day, double factor) {
  TrainingRun run;
  run.name = run.group = "net-4/" + policy;
  run.plan.workers = 4;
  run.plan.phases = {{false, 1000.0}};
  run.phases = {{false, 1000.0, 0.1 * factor}};
  run.training_time_s = 100.0 * factor;
  run.session = day;
  return run;
}

}  // namespace

TEST_CASE("values from Student's t with 3 degrees of freedom have its 90 % range, a far one hardly adds") {
  // In the middles of 40 parts of equal probability, scaled by 0.01: its 95 % quantile is 0.02353.
  const boost::math::students_t_distribution<double> t(3.0);
  std::vector<Weighted> values;
  for (int i = 0; i < 40; ++i) values.push_back({0.01 * boost::math::quantile(t, (i + 0.5) / 40.0)});
  const double deviation = robust_deviation(values);
  CHECK(1.645 * deviation == doctest::Approx(0.02353).epsilon(0.05));
  values.push_back({1.0});  // 100 scales away
  CHECK(robust_deviation(values) < 1.2 * deviation);
  CHECK(robust_deviation({}) == 0.0);
}

TEST_CASE("jobs that all take the time that the other policies tell do not vary") {
  std::vector<RunGroup> groups;
  for (const char* policy : {"asp", "asp-again", "asp-once-more"})
    groups.push_back({std::string("net-4/") + policy, {run_of(policy, "1", 1.0), run_of(policy, "2", 1.0)}});
  const TimeVariation none = time_variation(trace_groups(groups), {});
  CHECK(none.run == doctest::Approx(0.0));
  CHECK(none.cluster == doctest::Approx(0.0));
  CHECK(none.setting == doctest::Approx(0.0));
}

TEST_CASE("runs of a day, days, and settings are told apart") {
  // Runs of one day differ by 0.2 %, days of a policy by 4 %, policies not at all beyond that.
  const auto group = [](const char* policy) {
    return RunGroup{std::string("net-4/") + policy,
                    {run_of(policy, "1", 0.979), run_of(policy, "1", 0.981), run_of(policy, "2", 1.019),
                     run_of(policy, "2", 1.021)}};
  };
  const std::vector<RunGroup> groups{group("asp"), group("asp-again"), group("asp-once-more")};
  const TimeVariation variation = time_variation(trace_groups(groups), {});
  CHECK(variation.run < 0.004);
  CHECK(variation.cluster > 0.02);
  CHECK(variation.cluster < 0.06);
  CHECK(variation.setting < 0.01);
}

TEST_CASE(
    "the scale of two equal values is their size, of as many zeros beside them less, as the equation says") {
  // s² = p · 4 x² / (3 + x² / s²), p the weight of the values ± x: s² = x² (4 p - 1) / 3, for p = 1 x itself.
  // The 90 % range of t(3) is that of a normal distribution with 2.353 / 1.645 s.
  const double wide = 2.353 / 1.645;
  const std::vector<Weighted> equal{{0.02}, {-0.02}};
  CHECK(robust_deviation(equal) == doctest::Approx(wide * 0.02));
  const std::vector<Weighted> half{{0.02}, {0.0}, {-0.02}, {0.0}};
  CHECK(robust_deviation(half) == doctest::Approx(wide * 0.02 * std::sqrt(1.0 / 3.0)));
  const std::vector<Weighted> weighted{{0.02, 3.0}, {0.0, 1.0}};
  CHECK(robust_deviation(weighted) == doctest::Approx(wide * 0.02 * std::sqrt(2.0 / 3.0)));
  CHECK(robust_deviation(std::vector<Weighted>{{0.0}, {0.0}}) == 0.0);
}

namespace {

constexpr double wide = 2.353 / 1.645;

// ln of a factor to either side.
RunGroup days_of(const char* policy, double between_days, double within_days) {
  RunGroup group{std::string("net-4/") + policy, {}};
  for (const double day : {-1.0, 1.0})
    for (const double run : {-1.0, 1.0})
      group.runs.push_back(
          run_of(policy, day < 0.0 ? "1" : "2", std::exp(day * between_days + run * within_days)));
  return group;
}

}  // namespace

TEST_CASE("days differ by what their means do beyond what runs explain") {
  // Two runs of a day at ± 1 %: √2 % each, as of independent values. Two days at ± 3 %: √2 · 3 %, of which
  // the mean of two runs explains half of the runs' variance.
  const TimeVariation variation = time_variation(trace_groups({days_of("asp", 0.03, 0.01)}), {});
  const double run = wide * std::sqrt(2.0) * 0.01;
  CHECK(variation.run == doctest::Approx(run));
  CHECK(variation.cluster ==
        doctest::Approx(std::sqrt(std::pow(wide * std::sqrt(2.0) * 0.03, 2) - run * run / 2.0)));
  // One policy: there are no others to tell its time.
  CHECK(variation.setting == 0.0);
  // Days that differ by less than their runs explain do not vary.
  CHECK(time_variation(trace_groups({days_of("asp", 0.001, 0.01)}), {}).cluster == 0.0);
}

TEST_CASE("settings differ by what the other policies miss, beyond days and runs") {
  // Three policies, one a factor e^0.1 slower. Of each the others' steps, half of the mini-batches each, tell
  // the time: the slow one is 0.1 slower than they, the two fast ones are faster than half way to it.
  const std::vector<RunGroup> groups{{"net-4/asp", {run_of("asp", "1", 1.0)}},
                                     {"net-4/asp-again", {run_of("asp-again", "1", 1.0)}},
                                     {"net-4/asp-slow", {run_of("asp-slow", "1", std::exp(0.1))}}};
  const double fast = -std::log(0.5 * (1.0 + std::exp(0.1)));
  const std::vector<Weighted> deviations{{fast}, {fast}, {0.1}};
  const TimeVariation variation = time_variation(trace_groups(groups), {});
  CHECK(variation.run == 0.0);
  CHECK(variation.cluster == 0.0);
  CHECK(variation.setting == doctest::Approx(robust_deviation(deviations)));
  // Two policies are too few; a policy of delayed workers is none of them.
  const std::vector<RunGroup> two(groups.begin() + 1, groups.end());
  CHECK(time_variation(trace_groups(two), {}).setting == 0.0);
  std::vector<RunGroup> with_delayed = two;
  with_delayed.push_back({"net-4/asp-1straggler", {run_of("asp-1straggler", "1", 1.3)}});
  with_delayed.back().runs.front().plan.delayed_workers = 1;
  CHECK(time_variation(trace_groups(with_delayed), {}).setting == 0.0);
}

TEST_CASE("other campaigns together count as much as one group of one's own, and one policy") {
  // One group whose two runs of a day are alike: two values 0. Of another campaign two groups whose runs lie
  // ± 2 % apart: four values at half the weight. Half of the weight: s² = x² / 3.
  const auto pair = [](const char* policy, double apart) {
    return RunGroup{std::string("net-4/") + policy,
                    {run_of(policy, "1", std::exp(apart)), run_of(policy, "1", std::exp(-apart))}};
  };
  const std::vector<TracedGroup> own = trace_groups({pair("asp", 0.0)});
  const std::vector<std::vector<RunGroup>> others{{pair("asp", 0.02), pair("asp-again", 0.02)}};
  CHECK(time_variation(own, others).run ==
        doctest::Approx(wide * std::sqrt(2.0) * 0.02 * std::sqrt(1.0 / 3.0)));

  // Three policies of one's own that agree, and three of others: those count as one of four.
  const auto three = [](double slower) {
    return std::vector<RunGroup>{{"net-4/asp", {run_of("asp", "1", 1.0)}},
                                 {"net-4/asp-again", {run_of("asp-again", "1", 1.0)}},
                                 {"net-4/asp-slow", {run_of("asp-slow", "1", slower)}}};
  };
  const double fast = -std::log(0.5 * (1.0 + std::exp(0.1)));
  const std::vector<Weighted> deviations{{0.0},           {0.0}, {0.0}, {fast, 1.0 / 3.0}, {fast, 1.0 / 3.0},
                                         {0.1, 1.0 / 3.0}};
  const std::vector<std::vector<RunGroup>> one_campaign{three(std::exp(0.1))};
  CHECK(time_variation(trace_groups(three(1.0)), one_campaign).setting ==
        doctest::Approx(robust_deviation(deviations)));
}
