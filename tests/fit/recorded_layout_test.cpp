#include <filesystem>
#include <string>

#include <doctest/doctest.h>

#include "sim/base/atomic_file.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/fit/recorded_validation.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace paceline;
namespace fs = std::filesystem;

namespace {

// Runs nobody has seen, in the layout of the recorded ones: 4 workers, and 8, and one delayed of 4.
class MadeUpRuns {
 public:
  MadeUpRuns() {
    add("made-cifar10-4", "asp", 4, 4000, 0.05);
    add("made-cifar10-8", "asp", 8, 4000, 0.026);
    add("made-cifar10-4", "asp-10ms-1straggler", 4, 4000, 0.055);
    add("made-cifar10-4", "asp-10ms-2stragglers", 4, 4000, 0.061);
    write_file_atomically(folder() / "runs.csv", runs_);
    write_file_atomically(folder() / "phases.csv", phases_);
  }
  [[nodiscard]] const fs::path& folder() const { return folder_.path(); }

 private:
  void add(const std::string& setup, const std::string& policy, int workers, int steps,
           double seconds_per_step) {
    const fs::path place = folder() / setup / policy / "run1";
    fs::create_directories(place);
    std::string curve = "step,value\n";
    for (int step = 0; step <= steps; step += 200) curve += std::to_string(step) + ",0.5\n";
    write_file_atomically(place / "accuracy.csv", curve);
    write_file_atomically(place / "loss.csv", curve);
    runs_ += setup + "," + policy + ",1,2021-01-01," + std::to_string(steps) + ",workload50," +
             std::to_string(steps) + ",0.5,100\n";
    phases_ += setup + "," + policy + ",1,ASP," + std::to_string(workers) + "," + std::to_string(steps) +
               "," + std::to_string(seconds_per_step) + "\n";
  }

  test::TemporaryFolder folder_;
  std::string runs_ =
      "setup,policy,run,date_utc,workload_minibatches,lr_drop_basis,end_step,final_accuracy,training_time_"
      "s\n";
  std::string phases_ = "setup,policy,run,protocol,workers,steps,seconds_per_step\n";
};

}  // namespace

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

TEST_CASE("step times scale with the workers, and a delay is learnt from one delayed worker") {
  const MadeUpRuns made;
  const std::vector<StepTimeRow> rows = predict_step_times(read_recorded_runs(made.folder(), false));
  REQUIRE(rows.size() == 2);
  // twice the workers, half the seconds of a mini-batch
  CHECK(rows[0].group == "made-cifar10-8/asp");
  CHECK(rows[0].predicted_s == doctest::Approx(0.025));
  CHECK(rows[0].null_s == doctest::Approx(0.05));
  // an iteration takes 4 · 0.05 = 0.2 s; delayed 1 / (1/0.055 - 3/0.2) = 0.314286 s;
  // two delayed: 1 / (2/0.2 + 2/0.314286) = 0.0611111
  CHECK(rows[1].group == "made-cifar10-4/asp-10ms-2stragglers");
  CHECK(rows[1].predicted_s == doctest::Approx(0.0611111).epsilon(1e-5));
}

TEST_CASE("delayed workers are told by the policy's name") {
  CHECK(delayed_workers("asp-10ms-2stragglers") == 2);
  CHECK(delayed_workers("bsp-10ms-1straggler") == 1);
  CHECK(delayed_workers("bsp-no-straggler") == 0);
  CHECK(delayed_workers("asp") == 0);
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

TEST_CASE("every policy of a folder is predicted from the others, and each row says so in the CSV") {
  const MadeUpRuns made;
  const RecordedRuns recorded = read_recorded_runs(made.folder(), false);
  const RecordedValidation validation =
      validate_recorded(recorded, *find_form("power-law"), [](double, const std::string&) {});
  REQUIRE(validation.folds.size() == 3);  // asp (both sizes together), and with one and two delayed workers
  for (const FoldResult& fold : validation.folds)
    for (const HeldOutRow& row : fold.rows)
      for (const std::string& fitted : fold.fitted_on) CHECK(policy_of(row.group) != policy_of(fitted));
  const std::string csv = validation_csv(validation);
  CHECK(csv.starts_with("fold,group,runs,quantity,predicted,recorded,error"));
  CHECK(csv.find("asynchronous mini-batch, s") != std::string::npos);
}
