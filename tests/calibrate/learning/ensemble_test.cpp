// What members of an ensemble say of policies they did not see, where all of them are the truth: then only
// the runs' own deviations are left, which are put in.
#include "calibrate/learning/ensemble.hpp"

#include <cmath>
#include <vector>

#include <boost/math/distributions/students_t.hpp>
#include <doctest/doctest.h>

#include "sim/base/order_statistics.hpp"
#include "tests/calibrate/learning/made_runs.hpp"

using namespace paceline;
using test::known_form;
using test::made_by;

namespace {

FittedLearner true_learner() {
  return {known_form(), {}, {0.0, 1.0, 0.001}};
}

// Runs of the truth that end by so much above it.
RunGroup ending(const FittedForm& truth, const std::string& policy, std::vector<PlanPhase> phases,
                const std::vector<double>& above) {
  RunGroup group = made_by(truth, "net-4/" + policy, std::move(phases));
  const TrainingRun run = group.runs.front();
  group.runs.assign(above.size(), run);
  for (std::size_t r = 0; r < above.size(); ++r) group.runs[r].final_accuracy += above[r];
  return group;
}

std::vector<std::vector<double>> members_like(const FittedLearner& learner, std::size_t count) {
  return std::vector<std::vector<double>>(count, learner.form.values);
}

// The factor for so many policies: t(95 %) over the normal's.
double widened(double policies) {
  const boost::math::students_t_distribution<double> t(policies);
  return boost::math::quantile(t, 0.95) / 1.645;
}

const std::vector<PlanPhase> bsp_plan{{true, 4000.0}};
const std::vector<PlanPhase> asp_plan{{false, 4000.0}};
const std::vector<PlanPhase> half{{true, 2000.0}, {false, 2000.0}};
const std::vector<PlanPhase> quarter{{true, 1000.0}, {false, 3000.0}};

}  // namespace

TEST_CASE("the error of unseen policies is what recorded means miss, less what runs differ by") {
  // Means 0.02, -0.01, 0.03 and 0.01 off. Within groups ± 0.005 of two runs (variance 0.00005, one degree
  // each of three groups), and ± 0.01 and 0 of three (0.0001, two degrees): pooled 0.00035 / 5 = 0.00007.
  const FittedLearner learner = true_learner();
  const std::vector<TracedGroup> groups =
      trace_groups({ending(learner.form, "bsp", bsp_plan, {0.015, 0.025}),
                    ending(learner.form, "asp", asp_plan, {-0.015, -0.005}),
                    ending(learner.form, "bsp50-asp50", half, {0.025, 0.035}),
                    ending(learner.form, "bsp25-asp75", quarter, {0.0, 0.01, 0.02})});
  const std::optional<ModelError> error = error_unseen(learner, groups, members_like(learner, 40));
  REQUIRE(error.has_value());
  const double pooled = 0.00007;
  const double squares = (0.0004 + 0.0001 + 0.0009 - 3.0 * pooled / 2.0) + (0.0001 - pooled / 3.0);
  CHECK(error->final_accuracy == doctest::Approx(std::sqrt(squares / 4.0) * widened(4.0)));
  // Their curves are the truth's: there is nothing to shift.
  CHECK(error->speed == doctest::Approx(0.0));
  CHECK(error->noise == doctest::Approx(0.0));
}

TEST_CASE("means that lie nearer than runs differ leave no error, and few unseen policies an unknown one") {
  const FittedLearner learner = true_learner();
  const std::vector<TracedGroup> near =
      trace_groups({ending(learner.form, "bsp", bsp_plan, {-0.03, 0.03}),
                    ending(learner.form, "bsp50-asp50", half, {-0.03, 0.03}),
                    ending(learner.form, "bsp25-asp75", quarter, {-0.03, 0.03})});
  CHECK(error_unseen(learner, near, members_like(learner, 40))->final_accuracy == 0.0);
  const std::vector<TracedGroup> two(near.begin(), near.begin() + 2);
  CHECK_FALSE(error_unseen(learner, two, members_like(learner, 40)).has_value());
  // A policy that only one member has not seen tells nothing.
  CHECK_FALSE(error_unseen(learner, near, members_like(learner, 1)).has_value());
}

TEST_CASE("the only synchronous, or asynchronous, policy is seen by every member") {
  // It is in every draw, so what its runs end with is no error of a policy not seen: three others count.
  const FittedLearner learner = true_learner();
  for (const bool is_synchronous : {true, false}) {
    INFO(is_synchronous);
    const std::vector<PlanPhase>& rare = is_synchronous ? bsp_plan : asp_plan;
    const std::vector<PlanPhase>& common = is_synchronous ? asp_plan : bsp_plan;
    const auto error_with = [&](double of_rare) {
      const std::vector<TracedGroup> groups = trace_groups(
          {ending(learner.form, "rare", rare, {of_rare}), ending(learner.form, "a", common, {0.01}),
           ending(learner.form, "b", common, {0.02}), ending(learner.form, "c", common, {0.03})});
      return error_unseen(learner, groups, members_like(learner, 40))->final_accuracy;
    };
    CHECK(error_with(0.0) == doctest::Approx(std::sqrt(0.0014 / 3.0) * widened(3.0)));
    CHECK(error_with(0.2) == error_with(0.0));
  }
}

TEST_CASE("speed and noise err by the shifts of unseen policies, less what a mean over runs is known by") {
  // Runs of groups that learn faster or more slowly than the truth; the shifts themselves are those of
  // speed_shift and noise_shift.
  const FittedLearner learner = true_learner();
  std::vector<TracedGroup> groups = trace_groups({ending(learner.form, "bsp", bsp_plan, {0.0, 0.0}),
                                                  ending(learner.form, "bsp50-asp50", half, {0.0, 0.0}),
                                                  ending(learner.form, "bsp25-asp75", quarter, {0.0, 0.0})});
  double speeds = 0.0;
  double noises = 0.0;
  double of_group = 0.1;
  for (TracedGroup& group : groups) {
    const std::vector<double> positions = positions_of(group.group.runs.front().accuracy);
    std::vector<double> shifts;
    std::vector<double> noise_shifts;
    for (std::size_t r = 0; r < 2; ++r) {
      TrainingRun& run = group.group.runs[r];
      const double by = of_group + (r == 0 ? -0.02 : 0.02);
      const std::vector<FormReading> readings =
          predict(learner.form, group, positions,
                  {.speed_factor = std::exp(by), .noise_factor = std::exp(-2.0 * by)});
      for (std::size_t i = 0; i < positions.size(); ++i) run.accuracy[i].value = readings[i].accuracy;
      shifts.push_back(speed_shift(learner.form, group, run, learner.noise)->shift);
      noise_shifts.push_back(noise_shift(learner.form, group, run, learner.noise)->shift);
    }
    const auto add = [](const std::vector<double>& both, double& squares) {
      const Spread spread = spread_of(both);
      squares += spread.mean * spread.mean - spread.deviation * spread.deviation / 2.0;
    };
    add(shifts, speeds);
    add(noise_shifts, noises);
    of_group = -1.5 * of_group;
  }
  const std::optional<ModelError> error = error_unseen(learner, groups, members_like(learner, 40));
  REQUIRE(error.has_value());
  CHECK(error->speed == doctest::Approx(std::sqrt(speeds / 3.0) * widened(3.0)));
  CHECK(error->noise == doctest::Approx(std::sqrt(noises / 3.0) * widened(3.0)));
  CHECK(error->speed > 0.05);
  CHECK(error->noise > 0.05);
}
