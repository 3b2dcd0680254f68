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
    CHECK(std::string(error.what()).find("phases.csv: has no row of made-cifar10-8/asp/run1") !=
          std::string::npos);
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
