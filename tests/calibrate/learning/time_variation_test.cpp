// How job times vary, against deviations that were put in.
#include "calibrate/learning/time_variation.hpp"

#include <cmath>

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

TEST_CASE(
    "values from Student's t with 3 degrees of freedom have its 90 % range, and one far off hardly adds") {
  // Quantiles of t(3) at 1/22, 2/22, …: symmetric; the 95 % quantile is 2.353.
  std::vector<Weighted> values;
  for (const double t : {0.137, 0.277, 0.424, 0.584, 0.765, 0.978, 1.250, 1.638, 2.353, 4.541})
    for (const double sign : {-1.0, 1.0}) values.push_back({sign * 0.01 * t});
  const double deviation = robust_deviation(values);
  CHECK(1.645 * deviation == doctest::Approx(0.02353).epsilon(0.1));
  values.push_back({1.0});  // 100 scales away
  CHECK(robust_deviation(values) < 1.35 * deviation);
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
