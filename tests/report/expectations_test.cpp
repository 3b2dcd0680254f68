#include "sim/report/statistics/expectations.hpp"

#include <doctest/doctest.h>

#include "sim/report/output/results_folder.hpp"

using namespace paceline;

namespace {

RunResult run_of(std::optional<double> reached_s, double end_s, std::int64_t samples = 100) {
  RunResult run;
  if (reached_s) run.time_to_accuracy = Seconds{*reached_s};
  run.end_time = Seconds{end_s};
  run.samples = samples;
  run.curve = {
      {.time = Seconds{end_s}, .updates = 1, .samples = samples, .loss = 1.0, .accuracy = 0.01 * end_s}};
  return run;
}

ScenarioResults results_of(std::vector<RunResult> runs) {
  ScenarioResults results;
  results.loaded.scenario.name = "job";
  results.loaded.scenario.job.dataset.train_samples = 50;
  results.runs = std::move(runs);
  return results;
}

Threshold below(double bound) {
  return {Comparison::below, bound};
}

}  // namespace

TEST_CASE("each measure is the median over the replications, held against its bound") {
  // Ends at 10, 20, 40 s with 100 samples: 10, 5, 2.5 samples/s; 50 samples an epoch: 5, 10, 20 s. Staleness
  // 0, 1, 4.
  ScenarioResults results = results_of({run_of(9, 10), run_of(19, 20), run_of(39, 40)});
  results.runs[1].staleness[{0, 1}] = 5;
  results.runs[2].staleness[{0, 4}] = 5;
  ExpectConfig& expect = results.loaded.scenario.expect;
  expect.time_to_accuracy = below(19.5);
  expect.p_reach = Threshold{Comparison::above, 0.9};
  expect.time_per_epoch = below(10.0);
  expect.final_accuracy = Threshold{Comparison::at_least, 0.2};
  expect.samples_per_s = Threshold{Comparison::above, 4.9};
  expect.staleness = below(1.0);
  const auto outcomes = evaluate_expectations(results.loaded, summaries_of(results.runs));
  REQUIRE(outcomes.size() == 6);
  CHECK((outcomes[0].held && *outcomes[0].value == 19.0));
  // 3 of 3: 3.5 / 4 = 0.875, not above 0.9.
  CHECK((!outcomes[1].held && *outcomes[1].value == doctest::Approx(0.875)));
  CHECK((!outcomes[2].held && *outcomes[2].value == doctest::Approx(10.0)));
  CHECK((outcomes[3].held && *outcomes[3].value == doctest::Approx(0.2)));
  CHECK((outcomes[4].held && *outcomes[4].value == doctest::Approx(5.0)));
  CHECK((!outcomes[5].held && *outcomes[5].value == 1.0));
  CHECK(failure_text("job", outcomes[2]).starts_with("job: time_per_epoch is 10.0 s, expected < 10 s ("));
}

TEST_CASE("a target that half of the runs never reach is not reached in time, however late the bound") {
  ScenarioResults results = results_of({run_of(9, 10), run_of(std::nullopt, 20)});
  results.loaded.scenario.expect.time_to_accuracy = below(1e12);
  const auto outcomes = evaluate_expectations(results.loaded, summaries_of(results.runs));
  CHECK_FALSE(outcomes[0].held);
  CHECK_FALSE(outcomes[0].value.has_value());
  CHECK(outcomes[0].measured == "never");
}

TEST_CASE("a run that applied nothing has an endless epoch") {
  ScenarioResults results = results_of({run_of(std::nullopt, 20, 0)});
  results.loaded.scenario.expect.time_per_epoch = below(1e12);
  CHECK_FALSE(evaluate_expectations(results.loaded, summaries_of(results.runs))[0].held);
}
