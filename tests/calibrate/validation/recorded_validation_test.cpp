// The whole prediction of recorded runs: what goes into it, and that nothing of the runs predicted does.
#include "calibrate/validation/recorded_validation.hpp"

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "calibrate/learning/recorded_layout.hpp"
#include "calibrate/learning/recorded_policy.hpp"
#include "calibrate/learning/replay.hpp"
#include "calibrate/validation/recorded_scenario.hpp"
#include "sim/base/atomic_file.hpp"
#include "sim/scenario/reader.hpp"
#include "tests/support/made_up_runs.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace paceline;
using test::MadeUpRuns;

namespace {

RunGroup timed_group(const std::string& name, bool synchronous, std::uint32_t workers, double step_s) {
  TrainingRun run;
  run.name = run.group = name;
  run.plan.workers = workers;
  run.plan.phases = {{synchronous, 6400.0}};
  if (const auto policy = policy_of_name(policy_of(name))) {
    run.plan.delayed_workers = policy->delayed_workers;
    run.plan.added_latency_s = policy->added_latency_s;
  }
  run.phases = {{synchronous, 6400.0 / (synchronous ? workers : 1.0), step_s}};
  return {name, {run}};
}

}  // namespace

TEST_CASE("an iteration and the serial part are taken apart as they were put together") {
  // Eight workers: an iteration of 0.2 s, of which ASP does one every 0.025 s; under BSP the slowest of eight
  // takes 0.2 s · m(8), and the coordinator 0.1 s for each: T = 0.2 · m(8) + 0.8.
  const double slowest = 0.2 * expected_largest(8, 0.10);
  const RunGroup asp = timed_group("net-8/asp", false, 8, 0.025);
  const RunGroup bsp = timed_group("net-8/bsp", true, 8, slowest + 0.8);
  const std::vector<const RunGroup*> both{&asp, &bsp};
  const RecordedCosts costs = *recorded_costs(both);
  CHECK(costs.iteration_s == doctest::Approx(0.2));
  CHECK(*costs.serial_per_worker_s == doctest::Approx(0.1));
  CHECK_FALSE(costs.checkpoints.has_value());
  CHECK_FALSE(recorded_costs(std::vector<const RunGroup*>{&asp})->serial_per_worker_s.has_value());
  CHECK_FALSE(recorded_costs({}).has_value());
}

TEST_CASE("the chief's pauses in a replay are the checkpoints recorded, those of delayed workers left out") {
  // 6,400 mini-batches with two pauses of 14 s: one every 3,200; an iteration of 8 · 0.025 s = 0.2 s fits 70
  // times.
  RunGroup bsp = timed_group("net-8/bsp", true, 8, 1.0);
  bsp.runs.front().phases.front().pauses_s = {14.0, 14.0};
  RunGroup delayed = timed_group("net-8/bsp-10ms-1straggler", true, 8, 2.0);
  delayed.runs.front().phases.front().pauses_s = std::vector<double>(20, 100.0);
  std::vector<RunGroup> groups{timed_group("net-8/asp", false, 8, 0.025), bsp, delayed};
  set_chief_pauses(groups, groups);
  for (const RunGroup& group : groups) {
    REQUIRE(group.plan().chief_pauses.has_value());
    CHECK(group.plan().chief_pauses->every_minibatches == doctest::Approx(3200.0));
    CHECK(group.plan().chief_pauses->iterations == doctest::Approx(70.0));
  }
  // Nobody's checkpoints are known from asynchronous runs: the chief alone stood still for them.
  std::vector<RunGroup> alone{timed_group("net-8/asp", false, 8, 0.025)};
  set_chief_pauses(alone, alone);
  CHECK_FALSE(alone.front().plan().chief_pauses.has_value());
}

TEST_CASE("a replay has the staleness that the simulator gives the same plan, checkpoints included") {
  // Of 16,000 mini-batches a tenth is synchronous; then seven of eight workers go on while the chief writes.
  // Without the pauses the replay's mean is 0.9 · 7, 3.6 % more than with them: far from a tolerance of 1 %.
  RunGroup group = timed_group("net-8/bsp10-asp90", false, 8, 0.025);
  TrainingPlan& plan = group.runs.front().plan;
  plan.phases = {{true, 1600.0}, {false, 14400.0}};
  const RecordedCosts costs{.iteration_s = 0.2,
                            .serial_per_worker_s = 0.1,
                            .checkpoints = Checkpoints{2000.0 * plan.batch_samples, 14.0},
                            .iteration_cv = 0.10,
                            .run_cv = 0.0};
  const test::TemporaryFolder folder;
  write_file_atomically(folder.path() / "profile.json", profile_text(costs, plan.batch_samples, "made up"));
  RecordedSetting setting;
  setting.name = "made up";
  setting.plan = plan;
  setting.profile = "profile.json";
  setting.evaluate_every_minibatches = 4000.0;
  setting.replications = 1;
  write_file_atomically(folder.path() / "scenario.yaml", scenario_text(setting, costs));
  const RunResult simulated = simulate_settings({folder.path() / "scenario.yaml"}, 1).front().runs.front();

  const double without = UpdateTrace(plan, {1, 0}).mean_staleness();
  plan.chief_pauses = {2000.0, 70.0};
  const double replayed = UpdateTrace(plan, {1, 0}).mean_staleness();
  CHECK(replayed == doctest::Approx(simulated.mean_staleness()).epsilon(0.01));
  CHECK(without > 1.025 * simulated.mean_staleness());
}

TEST_CASE("another cluster like it is slower or faster as a whole, the same one is not") {
  // Without other variation, a job's time is that of its cluster: log-normal with sd / mean of 5 %. BSP waits
  // for compute and for the coordinator, ASP for compute alone: the same seed slows both by the same factor.
  const RecordedCosts costs{.iteration_s = 0.2,
                            .serial_per_worker_s = 0.1,
                            .checkpoints = std::nullopt,
                            .iteration_cv = 0.0,
                            .run_cv = 0.0};
  const test::TemporaryFolder folder;
  std::string profile = profile_text(costs, 128.0, "made up");
  write_file_atomically(folder.path() / "profile.json", profile);
  profile.insert(profile.find("\"run_cv\""), "\"cluster_cv\": 0.05, ");
  write_file_atomically(folder.path() / "known.json", profile);
  const auto times = [&](bool synchronous, const std::string& known, const std::string& prediction) {
    RecordedSetting setting;
    setting.name = "made up";
    setting.plan.workers = 4;
    setting.plan.phases = {{synchronous, 400.0}};
    setting.profile = known;
    setting.evaluate_every_minibatches = 400.0;
    setting.replications = 60;
    const std::filesystem::path file = folder.path() / "scenario.yaml";
    write_file_atomically(file, scenario_text(setting, costs) + prediction);
    std::vector<double> logs;
    const std::vector<SimulatedSetting> simulated = simulate_settings({file}, 2);
    for (const RunResult& run : simulated.front().runs) logs.push_back(std::log(run.end_time.value()));
    return logs;
  };
  const std::vector<double> same =
      times(true, "profile.json", "prediction: {cluster: same, clusters_differ: 5 %}\n");
  CHECK(*deviation_of(same) < 1e-9);
  const std::vector<double> another = times(true, "profile.json", "prediction: {clusters_differ: 5 %}\n");
  const std::vector<double> asynchronous =
      times(false, "profile.json", "prediction: {clusters_differ: 5 %}\n");
  // A deviation of 60 draws is known within 9 %: three times that.
  CHECK(*deviation_of(another) == doctest::Approx(0.05).epsilon(0.28));
  const double alone = times(false, "profile.json", "").front();
  for (std::size_t r = 0; r < same.size(); ++r)
    CHECK(another[r] - same[r] == doctest::Approx(asynchronous[r] - alone).epsilon(0.02));
  // So do the four bytes that a server handles for 0.1 s each time: it is slower by the same factor.
  const std::string bytes = "communication: {server_rate: 320 bit/s}\n";
  const std::vector<double> handled = times(false, "profile.json", bytes);
  const std::vector<double> slower =
      times(false, "profile.json", bytes + "prediction: {clusters_differ: 5 %}\n");
  CHECK(handled.front() > alone + 0.1);
  for (std::size_t r = 0; r < same.size(); ++r)
    CHECK(slower[r] - handled[r] == doctest::Approx(asynchronous[r] - alone).epsilon(0.02));
  // A profile that knows the variation says as much as the scenario.
  CHECK(times(true, "known.json", "") == another);
  CHECK(times(true, "known.json", "prediction: {cluster: same}\n") == same);
}

TEST_CASE(
    "the expected largest of n factors: known for one, growing, and near the normal's for a small spread") {
  CHECK(expected_largest(1, 0.1) == doctest::Approx(1.0).epsilon(1e-3));
  CHECK(expected_largest(5, 0.0) == 1.0);
  // E[max of two standard normals] = 1 / sqrt(pi)
  CHECK(expected_largest(2, 0.01) == doctest::Approx(1.0 + 0.01 / std::sqrt(3.14159265)).epsilon(1e-4));
  CHECK(expected_largest(16, 0.1) > expected_largest(8, 0.1));
}

TEST_CASE("three times the added latency delays three times as long") {
  // Four workers at 0.05 s: an iteration of 0.2 s. With one at 0.1 s more, 3 / 0.2 + 1 / 0.3 mini-batches a
  // second.
  const RunGroup plain = timed_group("net-4/asp", false, 4, 0.05);
  RunGroup delayed = timed_group("net-4/asp-10ms-1straggler", false, 4, 1.0 / (3.0 / 0.2 + 1.0 / 0.3));
  const std::vector<const RunGroup*> groups{&plain, &delayed};
  CHECK(*recorded_delay_s(groups, 0.01) == doctest::Approx(0.1));
  CHECK(*recorded_delay_s(groups, 0.03) == doctest::Approx(0.3));
  CHECK(*recorded_delay_s(groups, std::nullopt) == doctest::Approx(0.1));
}

TEST_CASE("step times of other worker counts and of delayed workers are simulated from the other runs") {
  const MadeUpRuns made;
  const test::TemporaryFolder folder;
  const std::vector<StepTimeRow> rows =
      predict_step_times(read_recorded_runs(made.folder(), false), folder.path(), 1);
  REQUIRE(rows.size() == 2);
  // Twice the workers, half the seconds of a mini-batch, but for the end of the job.
  CHECK(rows[0].row.group == "made-cifar10-8/asp");
  CHECK(*rows[0].row.predicted == doctest::Approx(0.025).epsilon(0.01));
  CHECK(*rows[0].row.null_linear == doctest::Approx(0.05));
  CHECK(*rows[0].row.recorded == doctest::Approx(0.026));
  // An iteration takes 4 · 0.05 = 0.2 s; delayed 1 / (1/0.055 - 3/0.2) = 0.314286 s;
  // two delayed: 1 / (2/0.2 + 2/0.314286) = 0.0611111.
  CHECK(rows[1].row.group == "made-cifar10-4/asp-10ms-2stragglers");
  CHECK(*rows[1].row.predicted == doctest::Approx(0.0611111).epsilon(0.01));
}

TEST_CASE("every policy of a folder is predicted from the others by scenarios that can be run again") {
  const MadeUpRuns made;
  const test::TemporaryFolder folder;
  const RecordedRuns recorded = read_recorded_runs(made.folder(), false);
  const RecordedValidation validation = validate_recorded(
      recorded,
      {.form = find_form("power-law"), .folder = folder.path(), .jobs = 2, .replications = 2, .members = 2},
      [](double, const std::string&) {});
  REQUIRE(validation.folds.size() == 3);  // asp (both sizes together), and with one and two delayed workers
  int totals = 0;
  for (const FoldResult& fold : validation.folds)
    for (const HeldOutRow& row : fold.rows) {
      for (const std::string& fitted : fold.fitted_on) CHECK(policy_of(row.group) != policy_of(fitted));
      if (row.quantity == HeldOutQuantity::total_time && row.predicted) ++totals;
    }
  // Only two delayed workers can be timed: without `asp` nothing is undelayed, and one delayed worker is what
  // the delay is learnt from.
  CHECK(totals == 1);
  CHECK(validation.notes.size() >= 2);
  int scenarios = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path() / "scenarios")) {
    for (const std::string& warning : load_scenario(entry.path(), {}).warnings) CHECK(warning == "");
    ++scenarios;
  }
  CHECK(scenarios == 1);
  const std::string csv = validation_csv(validation);
  CHECK(csv.starts_with("fold,group,runs,quantity,predicted,predicted_low,predicted_high,recorded,error"));
  CHECK(csv.find("step time from made-cifar10 runs with 4 workers") != std::string::npos);
}
