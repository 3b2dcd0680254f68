#include "sim/report/statistics/remarks.hpp"

#include <doctest/doctest.h>

using namespace paceline;

namespace {

RunResult run_of(double end_s, std::vector<ResourceUse> resources) {
  RunResult run;
  run.end_time = Seconds{end_s};
  run.resources = std::move(resources);
  return run;
}

ResourceUse saturated_for(const char* name, double seconds) {
  ResourceUse use;
  use.name = name;
  use.saturated = Seconds{seconds};
  return use;
}

// 200 windows, 10 of them slow, 4 alarms and the end of one.
std::vector<RunResult> watched_runs() {
  std::vector<RunResult> runs(2);
  for (RunResult& run : runs) {
    run.windows_judged = 100;
    run.slow_windows = 5;
    for (const DecisionKind kind : {DecisionKind::alarm, DecisionKind::alarm}) {
      DecisionRecord record;
      record.kind = kind;
      run.decisions.push_back(record);
    }
  }
  DecisionRecord end;
  end.kind = DecisionKind::clear;
  runs.front().decisions.push_back(end);
  return runs;
}

}  // namespace

TEST_CASE(
    "the bottleneck is saturated for the largest share of the time, the mean over runs, and for half of it") {
  // The server for 0.8 and 0.4 of the time: 0.6; the link for 0.9 of one run alone: 0.45.
  const std::vector<RunResult> runs{
      run_of(10.0, {saturated_for("server 0", 8.0), saturated_for("link", 9.0)}),
      run_of(20.0, {saturated_for("server 0", 8.0), saturated_for("link", 0.0)})};
  const std::optional<Bottleneck> found = find_bottleneck(runs);
  REQUIRE(found.has_value());
  CHECK(found->resource == "server 0");
  CHECK(found->share == doctest::Approx(0.6));
  // The second of two that are worth naming, if it is the larger.
  CHECK(find_bottleneck({run_of(10.0, {saturated_for("a", 6.0), saturated_for("b", 7.0)})})->resource == "b");
  CHECK(find_bottleneck({run_of(10.0, {saturated_for("a", 7.0), saturated_for("b", 6.0)})})->resource == "a");
  // Half of the time is enough, less is not; a run that took no time tells nothing.
  CHECK(find_bottleneck({run_of(10.0, {saturated_for("a", 5.0)})})->share == doctest::Approx(0.5));
  CHECK_FALSE(find_bottleneck({run_of(10.0, {saturated_for("a", 4.9)})}).has_value());
  CHECK_FALSE(find_bottleneck({run_of(0.0, {saturated_for("a", 1.0)})}).has_value());
}

TEST_CASE("alarms on a cluster that is healthy throughout are false, on another they are alarms") {
  Scenario scenario;
  scenario.name = "small";
  const std::vector<std::string> healthy = alarm_notes(scenario, watched_runs());
  REQUIRE(healthy.size() == 1);
  // 4 of 200 are 2 %; Jeffreys' interval of 4 of 200 lies around that; 10 of 200 are 5 %.
  CHECK(healthy[0].starts_with(
      "small: false alarms on this healthy cluster: 4 in 200 windows of a worker (2 %, 90 % "
      "interval 0.8"));
  CHECK(healthy[0].ends_with("%); 5 % of the windows were slow"));

  for (int change = 0; change < 4; ++change) {
    Scenario uneven = scenario;
    Heterogeneity& changes = uneven.heterogeneity.changes;
    if (change == 0) changes.stragglers = {{.worker = 0, .from = Seconds{1.0}, .slowdown = 2.0}};
    if (change == 1) changes.schedule = {{.at = Seconds{1.0}, .workers = {0}, .speeds = {0.5}}};
    if (change == 2) changes.random_stragglers.emplace();
    if (change == 3) uneven.heterogeneity.trace = "speeds.csv";
    INFO(change);
    CHECK(alarm_notes(uneven, watched_runs()) ==
          std::vector<std::string>{"small: 4 alarms in 200 windows of a worker, 5 % of them slow"});
  }
  // Where nobody watches there is nothing to say.
  CHECK(alarm_notes(scenario, {RunResult{}}).empty());
}
