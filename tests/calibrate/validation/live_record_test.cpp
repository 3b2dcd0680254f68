#include "calibrate/validation/live_record.hpp"

#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "sim/base/atomic_file.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/report/output/packed_run.hpp"
#include "tests/cli/round_profile.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/text.hpp"

using namespace paceline;
using paceline::test::contains;
namespace fs = std::filesystem;

namespace {

constexpr const char* recorded_scenario = R"(name: one
replications: 2
job:
  network: small-cnn
  profile: profile.json
  dataset: {train_samples: 4096}
  optimizer: {learning_rate: 0.01}
cluster:
  workers: [{cores: 1}]
  network: {topology: star, bandwidth: 10 Gbit/s, latency: 50 us}
synchronization: [{policy: asp, transport: server}]
batching: {controller: uniform, initial: 32}
learner: {kind: none}
evaluation: {every: 1024 samples, who_pays: free}
stop: {epochs: 2}
)";

RunResult recorded_run(double end) {
  RunResult run;
  run.end_time = Seconds{end};
  run.updates = 20;
  run.samples = 640;
  run.staleness[{0, 1}] = 20;
  run.gradients_applied = 20;
  return run;
}

// A validation whose prediction is sealed, as another process would find it.
class SealedValidation {
 public:
  SealedValidation() {
    write_file_atomically(folder_.path() / "profile.json", test::round_profile("small-cnn"));
    write_file_atomically(folder_.path() / "scenario.yaml", recorded_scenario);
    fs::create_directory(results());
    std::vector<LiveTrial> trials = as_given();
    // What the gate leaves: a corrected profile, and what the first worker took.
    const fs::path corrected = results() / "profile-one-0.json";
    fs::copy_file(folder_.path() / "profile.json", corrected);
    trials[0].loaded.scenario.cluster.workers[0].profile = corrected;
    trials[0].predicted = {recorded_run(1.0 / 3.0), recorded_run(2.0)};
    seal(results(), trials, usual, by);
  }
  [[nodiscard]] fs::path results() const { return folder_.path() / "results"; }
  [[nodiscard]] std::vector<LiveTrial> as_given() const {
    LiveTrial trial{.loaded = load_scenario(folder_.path() / "scenario.yaml", {}), .profiles = {}};
    trial.digest = "as given";
    return {std::move(trial)};
  }
  // Why it cannot go on; empty: it can.
  [[nodiscard]] std::string refusal(const live::BegunBy& other, std::vector<LiveTrial> trials) const {
    try {
      const LiveRecord record(results(), trials, other);
    } catch (const UserError& error) {
      return error.what();
    }
    return "";
  }
  [[nodiscard]] std::string refusal() const { return refusal(by, as_given()); }

  const live::BegunBy by{"paceline validate live scenario.yaml", "this program", "awake"};
  const Seconds usual{0.1 + 0.2};

 private:
  test::TemporaryFolder folder_;
};

}  // namespace

TEST_CASE("a validation that goes on has the prediction that was sealed, and every real run that had ended") {
  const SealedValidation validation;
  const std::string sealed = read_file(validation.results() / "sealed.json");
  live::RealRun real{.result = recorded_run(3.0),
                     .machine = live::MachineLooks{.usual = Seconds{0.3},
                                                   .before = Seconds{0.31},
                                                   .after = Seconds{0.29},
                                                   .waited = Seconds{4.5},
                                                   .repeated = 2},
                     .other_load = 0.125,
                     .began = "2026-01-01T00:00:00Z",
                     .ended = "2026-01-01T00:00:03Z",
                     .sitting = 1,
                     .failures = {"worker 0 was killed"}};
  {
    std::vector<LiveTrial> trials = validation.as_given();
    LiveRecord record(validation.results(), trials, validation.by);
    CHECK(trials[0].real.empty());
    trials[0].real.push_back(real);
    record.keep(trials[0], trials);
    // A second process at the same time would carry out the same runs.
    CHECK(contains(validation.refusal(), "in use by another process"));
  }
  std::vector<LiveTrial> trials = validation.as_given();
  LiveRecord record(validation.results(), trials, validation.by);
  const LiveTrial& trial = trials[0];
  REQUIRE(trial.predicted.size() == 2);
  CHECK(pack(trial.predicted[0]) == pack(recorded_run(1.0 / 3.0)));
  CHECK(pack(trial.predicted[1]) == pack(recorded_run(2.0)));
  CHECK(record.usual_iteration() == validation.usual);
  CHECK(trial.profiles->of(0).path == validation.results() / "profile-one-0.json");
  REQUIRE(trial.real.size() == 1);
  CHECK(pack(trial.real[0].result) == pack(real.result));
  CHECK(trial.real[0].machine->usual == real.machine->usual);
  CHECK(trial.real[0].machine->before == real.machine->before);
  CHECK(trial.real[0].machine->after == real.machine->after);
  CHECK(trial.real[0].machine->waited == real.machine->waited);
  CHECK(trial.real[0].machine->repeated == 2);
  CHECK(trial.real[0].other_load == real.other_load);
  CHECK(trial.real[0].sitting == 1);
  CHECK(trial.real[0].failures == real.failures);
  CHECK(read_file(validation.results() / "sealed.json") == sealed);
  CHECK(read_file(validation.results() / "measured.csv") == measurements_csv(trials));
  // 0.31 and 0.29 s are within a tenth of 0.3 s.
  CHECK(pace_text(trials).starts_with("1 of 1 runs met a machine as fast as before"));
  CHECK(LiveRecord::is_unfinished(validation.results()));
  record.finish();
  CHECK_FALSE(LiveRecord::is_unfinished(validation.results()));
}

TEST_CASE("other options, scenarios or programs than those of the prediction are refused, each by name") {
  const SealedValidation validation;
  const live::BegunBy& by = validation.by;
  CHECK(validation.refusal().empty());
  CHECK(
      contains(validation.refusal({by.command + " --runs 3", by.program, by.machine}, validation.as_given()),
               "unfinished validation by another command: " + by.command));
  CHECK(contains(validation.refusal({by.command, "another", by.machine}, validation.as_given()),
                 "this is not the program that began it"));
  std::vector<LiveTrial> changed = validation.as_given();
  changed[0].digest = "changed";
  CHECK(contains(validation.refusal(by, changed),
                 "the scenario `one`, or its profile, is not what was predicted"));
  changed = validation.as_given();
  changed[0].loaded.scenario.name = "two";
  CHECK(contains(validation.refusal(by, changed), "the scenario `two`"));
}

TEST_CASE("a seal that was changed is refused, whichever of its files") {
  for (const char* file : {"prediction.csv", "sealed.json", "profile-one-0.json"}) {
    CAPTURE(file);
    const SealedValidation validation;
    const fs::path changed = validation.results() / file;
    const std::string content = read_file(changed);
    write_file_atomically(changed, content + " ");
    CHECK(contains(validation.refusal(), std::string(file) + " is not what was sealed"));
    CHECK(contains(validation.refusal(), "--force begins anew"));
    fs::remove(changed);
    CHECK(contains(validation.refusal(), std::string(file) + " is not what was sealed"));
    write_file_atomically(changed, content);
    CHECK(validation.refusal().empty());
  }
}

TEST_CASE("a simulated run that was changed is not what was sealed, and one that is gone is damage") {
  const SealedValidation validation;
  const fs::path store = validation.results() / "unfinished.sqlite";
  RunStore(store).record({.id = "predicted 0 one", .status = RunStatus::done, .message = {}, .summary = {}},
                         pack(recorded_run(0.5)), "live");
  CHECK(contains(validation.refusal(), "prediction.csv is not what was sealed"));
  fs::remove(store);
  { const RunStore empty(store); }
  CHECK(contains(validation.refusal(), "unfinished.sqlite is damaged"));
}

TEST_CASE("real runs of one sitting need no note, those of two the times of both") {
  LiveTrial trial{.loaded = {}, .profiles = {}};
  for (const char* time : {"2026-01-01T10:00:00Z", "2026-01-01T10:01:00Z"})
    trial.real.push_back({.began = time, .ended = time});
  CHECK(sittings_note({trial}).empty());
  trial.real.push_back({.began = "2026-01-02T09:00:00Z", .ended = "2026-01-02T09:30:00Z", .sitting = 1});
  CHECK(
      sittings_note({trial}) ==
      "real runs were carried out in 2 sittings: 2 from 2026-01-01T10:00:00Z to 2026-01-01T10:01:00Z, 1 from "
      "2026-01-02T09:00:00Z to 2026-01-02T09:30:00Z");
}
