#include "calibrate/learning/recorded_layout.hpp"

#include <filesystem>
#include <string>

#include <doctest/doctest.h>

#include "calibrate/learning/prediction.hpp"
#include "sim/base/atomic_file.hpp"
#include "sim/base/diagnostic.hpp"
#include "tests/support/made_up_runs.hpp"

using namespace paceline;
using test::MadeUpRuns;

TEST_CASE("runs never seen are read when they lie in the layout of the recorded ones") {
  const MadeUpRuns made;
  const RecordedRuns recorded = read_recorded_runs(made.folder(), false);
  REQUIRE(recorded.campaigns.size() == 1);
  CHECK(recorded.campaigns[0].name == "made-cifar10, from September 2020");
  REQUIRE(recorded.campaigns[0].groups.size() == 4);
  const TrainingRun& run = recorded.campaigns[0].groups[1].runs.front();
  CHECK(run.plan.workers == 8);
  CHECK(run.plan.workload_minibatches() == 4000.0);
  CHECK(run.plan.drops_minibatches == std::vector<double>{2000.0, 3000.0});
  CHECK(run.accuracy.size() == 21);
}

TEST_CASE("a run without its phases or with an unknown basis is refused by name") {
  const MadeUpRuns made;
  std::string phases = read_file(made.folder() / "phases.csv");
  write_file_atomically(made.folder() / "phases.csv", phases.substr(0, phases.find("made-cifar10-8")));
  try {
    static_cast<void>(read_recorded_runs(made.folder(), false));
    FAIL("must be refused");
  } catch (const UserError& error) {
    CHECK(std::string(error.what()).find("runs.csv:3: phases.csv has no row of made-cifar10-8/asp/run1") !=
          std::string::npos);
  }
}

TEST_CASE("files that are missing and values that no run can have are refused at their place") {
  const auto refusal = [](const std::string& file, const std::string& old, const std::string& now) {
    const MadeUpRuns made;
    std::string text = read_file(made.folder() / file);
    REQUIRE(text.find(old) != text.npos);
    write_file_atomically(made.folder() / file, text.replace(text.find(old), old.size(), now));
    try {
      static_cast<void>(read_recorded_runs(made.folder(), false));
      return std::string("nothing");
    } catch (const UserError& error) {
      const std::string told = error.what();
      return told.substr(std::min(told.find(file + ":"), told.size()));
    }
  };
  const std::string row = "made-cifar10-4,asp,1,2021-01-01,";
  const std::string of_phase = "made-cifar10-4,asp,1,ASP,";
  CHECK(refusal("runs.csv", row + "4000,workload50,4000,0.5,100", row + "4000,workload50,4000,0.5,0")
            .starts_with("runs.csv:2:58: `training_time_s` must be above 0, is 0"));
  CHECK(refusal("runs.csv", row + "4000,workload50,4000,0.5", row + "4000,workload50,4000,50")
            .starts_with("runs.csv:2:54: `final_accuracy` must be from 0 to 1, is 50"));
  CHECK(refusal("runs.csv", row + "4000,workload50,4000", row + "4000,workload50,-4000")
            .starts_with("runs.csv:2:49: `end_step` must be above 0, is -4000"));
  CHECK(refusal("runs.csv", row + "4000", row + "0")
            .starts_with("runs.csv:2:33: `workload_minibatches` must be above 0"));
  CHECK(refusal("runs.csv", row + "4000", row + "many")
            .starts_with("runs.csv:2:33: `many` in column `workload_minibatches` is not a finite number"));
  CHECK(refusal("runs.csv", row + "4000,workload50", row + "4000,workload5")
            .starts_with("runs.csv:2:38: unknown lr_drop_basis `workload5`"));
  CHECK(refusal("phases.csv", of_phase + "4", of_phase + "0")
            .starts_with("phases.csv:2:26: `workers` must be above 0"));
  CHECK(refusal("phases.csv", of_phase + "4,4000", of_phase + "4,-1")
            .starts_with("phases.csv:2:28: `steps` must be above 0, is -1"));
  CHECK(refusal("phases.csv", of_phase + "4,4000,0.05", of_phase + "4,4000,0.00")
            .starts_with("phases.csv:2:33: `seconds_per_step` must be above 0, is 0"));
  CHECK(refusal("made-cifar10-4/asp/run1/accuracy.csv", "200,0.5", "200,half")
            .starts_with("made-cifar10-4/asp/run1/accuracy.csv:3:5: the value `half` is not a number"));
  for (const char* file : {"runs.csv", "phases.csv", "made-cifar10-8/asp/run1/accuracy.csv"}) {
    const MadeUpRuns made;
    std::filesystem::remove(made.folder() / file);
    CHECK_THROWS_WITH_AS(static_cast<void>(read_recorded_runs(made.folder(), false)), doctest::Contains(file),
                         UserError);
  }
}

TEST_CASE("times use rates of as many workers, and scale those of others where there are none") {
  const MadeUpRuns made;
  const RecordedRuns recorded = read_recorded_runs(made.folder(), false);
  const std::vector<TracedGroup> all = trace_groups(recorded.campaigns[0].groups);
  CHECK(*rates_of(all, 8).asynchronous_s_per_step == doctest::Approx(0.026));
  CHECK_FALSE(rates_of(all, 8).synchronous_s_per_step.has_value());
  // from 4 to 8 workers: half of 0.05; 100 mini-batches then take 2.5 s
  const std::vector<TracedGroup> four(all.begin(), all.begin() + 1);
  const ClockRates scaled = rates_of(four, 8);
  CHECK(*scaled.asynchronous_s_per_step == doctest::Approx(0.025));
  CHECK(*time_at(all[1].group.plan(), scaled, 100.0) == doctest::Approx(2.5));
}

TEST_CASE("a policy whose name does not say what it did is skipped with one line, or described by a file") {
  const MadeUpRuns made;
  write_file_atomically(made.folder() / "runs.csv",
                        read_file(made.folder() / "runs.csv") +
                            "made-cifar10-8,elastic,1,2021-01-01,4000,workload50,4000,0.5,100\n");
  const RecordedRuns without = read_recorded_runs(made.folder(), false);
  CHECK(without.campaigns[0].groups.size() == 4);
  REQUIRE(without.notes.size() == 1);
  CHECK(without.notes[0] ==
        "made-cifar10-8/elastic: its name does not say what was done; policies.yaml beside runs.csv can");

  // Described, it is a run like any other: here with the logs of `asp`.
  write_file_atomically(made.folder() / "phases.csv", read_file(made.folder() / "phases.csv") +
                                                          "made-cifar10-8,elastic,1,ASP,8,4000,0.03\n");
  std::filesystem::create_directories(made.folder() / "made-cifar10-8/elastic");
  std::filesystem::copy(made.folder() / "made-cifar10-8/asp/run1",
                        made.folder() / "made-cifar10-8/elastic/run1");
  write_file_atomically(
      made.folder() / "policies.yaml",
      "policies:\n  - name: made-cifar10-8/elastic\n    phases: [{policy: asp, share: 100 %}]\n"
      "    momentum: 0.5\n    delayed_workers: 1\n    added_latency: 30 ms\n");
  const RecordedRuns described = read_recorded_runs(made.folder(), false);
  CHECK(described.notes.empty());
  REQUIRE(described.campaigns[0].groups.size() == 5);
  const TrainingPlan& plan = described.campaigns[0].groups[4].plan();
  CHECK(plan.momentum == 0.5);
  CHECK(plan.delayed_workers == 1);
  CHECK(*plan.added_latency_s == doctest::Approx(0.03));

  write_file_atomically(made.folder() / "policies.yaml",
                        "policies:\n  - {name: elastic, phases: [{policy: asp, share: 90 %}]}\n");
  CHECK_THROWS_WITH(static_cast<void>(read_recorded_runs(made.folder(), false)),
                    doctest::Contains("policies.yaml:2:29: error: the shares of the phases sum to 90 %"));
}

TEST_CASE("the rate drops at global steps that are reached before the end") {
  // Steps 32,000 and 48,000 of asynchronous jobs of 32,000, 40,000 and 64,000 mini-batches.
  for (const auto& [workload, drops] :
       {std::pair{"32000", std::vector<double>{}}, std::pair{"40000", std::vector<double>{32000.0}},
        std::pair{"64000", std::vector<double>{32000.0, 48000.0}}}) {
    const MadeUpRuns made;
    std::string runs = read_file(made.folder() / "runs.csv");
    const std::string before = "4000,workload50";
    runs.replace(runs.find(before), before.size(), std::string(workload) + ",step32000");
    write_file_atomically(made.folder() / "runs.csv", runs);
    const RecordedRuns recorded = read_recorded_runs(made.folder(), false);
    const RunGroup& group = recorded.campaigns[0].groups.front();
    CHECK(group.name == "made-cifar10-4/asp (step32000)");
    CHECK(group.plan().drops_minibatches == drops);
  }
}
