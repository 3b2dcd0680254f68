// Recorded step times: synthetic ones with known pauses, and the published runs of Sync-Switch where they are
// at hand (PACELINE_RECORDED_DATA, or data/sync-switch in a folder named shared beside the checkout).
#include <cmath>
#include <filesystem>
#include <fstream>

#include <doctest/doctest.h>

#include "calibrate/logs/step_model.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/base/random.hpp"
#include "tests/support/recorded_data.hpp"
#include "tests/support/temporary_folder.hpp"

namespace paceline::calibrate {
namespace {

namespace fs = std::filesystem;

// Steps of `step_s` with 0.5 % noise on each interval of 100; a pause of `pause_s` at every 250th step or
// another.
std::vector<StepRecord> synthetic_log(double step_s, double pause_s, int intervals,
                                      double pause_every = 250.0) {
  std::vector<StepRecord> log = {{1000.0, 0.0}};
  for (int i = 0; i < intervals; ++i) {
    RandomStream stream(Seed{}, Purpose::test, static_cast<std::uint32_t>(i));
    const double step = log.back().step + 100.0;
    const bool pauses = std::floor(step / pause_every) > std::floor(log.back().step / pause_every);
    log.push_back(
        {log.back().time_s + 100.0 * step_s * stream.log_normal(1.0, 0.005) + (pauses ? pause_s : 0.0),
         step});
  }
  return log;
}

std::string complaint(const std::string& content) {
  const test::TemporaryFolder folder;
  const fs::path path = folder.path() / "log.csv";
  std::ofstream(path) << content;
  try {
    static_cast<void>(read_step_log(path, "time", "step"));
    return "";
  } catch (const UserError& error) {
    return std::string(error.what()).substr(std::string("error: ").size() + path.string().size());
  }
}

RecordedRuns recorded(const fs::path& policy, int workers) {
  RecordedRuns runs{workers, {}};
  for (const fs::directory_entry& run : fs::directory_iterator(policy))
    runs.runs.push_back(step_times(read_step_log(run.path() / "loss.csv", "wall_time_s", "step")));
  return runs;
}

}  // namespace

TEST_CASE("the step between pauses and the pauses are told apart") {
  const StepTimes times = step_times(synthetic_log(1.274, 14.4, 80));
  // 48 intervals of 0.5 %: standard error 0.07 %; three of them
  CHECK(times.step_s == doctest::Approx(1.274).epsilon(0.0025));
  CHECK(times.relative_sd == doctest::Approx(0.005).epsilon(0.4));
  CHECK(times.pauses_s.size() == 32);  // 8000 steps / 250
  CHECK(times.intervals == 48);
  CHECK(times.mean_step_s() == doctest::Approx(1.274 + 14.4 / 250.0).epsilon(0.0025));
  CHECK(step_times(synthetic_log(1.274, 0.0, 80)).pauses_s.empty());
}

TEST_CASE("pauses in four of five intervals are still told apart") {
  const StepTimes times = step_times(synthetic_log(2.2, 20.0, 80, 125.0));
  CHECK(times.step_s ==
        doctest::Approx(2.2).epsilon(0.004));  // 16 intervals: standard error 0.13 %, three of them
  CHECK(times.intervals == 16);
  CHECK(times.pauses_s.size() == 64);
}

TEST_CASE("a worker's part and a coordinator's part are found from both protocols") {
  // P = 0.2, s = 0.13: ASP with 8 workers 0.025 s a step, BSP 0.2 + 8 · 0.13 = 1.24
  const RecordedRuns asp{8, {step_times(synthetic_log(0.025, 0.0, 50))}};
  const RecordedRuns bsp8{8, {step_times(synthetic_log(1.24, 14.0, 50))}};
  const StepModel model = fit_step_model(asp, {bsp8});
  CHECK(model.parallel_s == doctest::Approx(0.2).epsilon(0.005));
  CHECK(model.serial_per_worker_s == doctest::Approx(0.13).epsilon(0.005));
  CHECK(model.bsp_step_s(16) == doctest::Approx(0.2 + 16 * 0.13).epsilon(0.005));
  // Ring: 0.2 + 1.04 · (15/16)/(7/8)
  CHECK(ring_null_step_s(model, bsp8, 16) == doctest::Approx(0.2 + 1.04 * 15.0 / 14.0).epsilon(0.005));
}

TEST_CASE("two worker counts tell the fixed part from the part of each worker") {
  // P = 0.2, f = 0.5, s = 0.1
  const RecordedRuns asp{8, {step_times(synthetic_log(0.025, 0.0, 400))}};
  const RecordedRuns bsp8{8, {step_times(synthetic_log(1.5, 0.0, 400))}};
  const RecordedRuns bsp16{16, {step_times(synthetic_log(2.3, 0.0, 400))}};
  const StepModel model = fit_step_model(asp, {bsp8, bsp16});
  CHECK(model.serial_fixed_s == doctest::Approx(0.5).epsilon(0.01));
  CHECK(model.serial_per_worker_s == doctest::Approx(0.1).epsilon(0.01));
}

TEST_CASE("a synchronous step faster than one worker's iteration is the user's mistake") {
  const RecordedRuns asp{8, {step_times(synthetic_log(0.025, 0.0, 50))}};
  const RecordedRuns bsp{8, {step_times(synthetic_log(0.1, 0.0, 50))}};
  CHECK_THROWS_AS(static_cast<void>(fit_step_model(asp, {bsp})), UserError);
}

TEST_CASE("columns are found by name, whatever stands beside them") {
  CHECK(complaint("step,loss,time\n1,0.5,10\n2,0.4,20\n3,0.3,30\n4,0.2,40\n").empty());
}

TEST_CASE("bad logs are named with their line") {
  CHECK(complaint("when,step\n1,2\n").starts_with(":1: there is no column `time`"));
  CHECK(complaint("time,step\n1,1\n2\n").starts_with(":3: 1 cells, but 2 columns"));
  CHECK(complaint("time,step\n1,1\n2,x\n").starts_with(":3:3: `x` in column `step` is not a finite number"));
  CHECK(complaint("time,step\n1,1\nnan,2\n").starts_with(":3:1: `nan` in column `time` is not a finite"));
  CHECK(complaint("time,step\n1,5\n2,1\n").starts_with(":3:3: step 1 at 2 s does not come after"));
  CHECK(complaint("time,step\n1,1\n2,2\n").starts_with(": 2 records are too few"));
  CHECK_THROWS_WITH_AS(static_cast<void>(read_step_log("/nowhere.csv", "time", "step")),
                       doctest::Contains("No such file"), UserError);
}

TEST_CASE(
    "fitted at 8 workers alone, the recorded 16-worker BSP step is met within 10 %, the null models miss "
    "it") {
  const std::optional<fs::path> data = recorded_data();
  if (!data) return;
  const RecordedRuns bsp8 = recorded(*data / "resnet32-cifar10-8/bsp", 8);
  const StepModel model = fit_step_model(recorded(*data / "resnet32-cifar10-8/asp", 8), {bsp8});
  const double step_s = recorded(*data / "resnet32-cifar10-16/bsp", 16).step_s();
  // What the reference found by hand: 1.274 s at 8 workers, 14.4 s a pause, 2.17-2.30 s at 16.
  CHECK(bsp8.step_s() == doctest::Approx(1.274).epsilon(0.01));
  CHECK(bsp8.pause_s() == doctest::Approx(14.4).epsilon(0.05));
  CHECK(step_s > 2.15);
  CHECK(step_s < 2.32);
  CHECK(model.bsp_step_s(16) == doctest::Approx(step_s).epsilon(0.10));
  // Asynchronous runs of 16 workers are not among the files: the published figure is 78.7 mini-batches/s,
  // mean of windows.
  CHECK(model.asp_step_s(16) == doctest::Approx(1.0 / 78.7).epsilon(0.10));
  CHECK(bsp8.step_s() < 0.65 * step_s);
  CHECK(ring_null_step_s(model, bsp8, 16) < 0.65 * step_s);
}

}  // namespace paceline::calibrate
