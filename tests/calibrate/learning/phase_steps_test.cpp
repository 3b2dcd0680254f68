#include <string>

#include <doctest/doctest.h>

#include "calibrate/learning/recorded_layout.hpp"
#include "sim/base/atomic_file.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace paceline;

namespace {

// 1,000 synchronous steps of 1 s with a pause of 20 s in every fifth interval, then 8,000 asynchronous ones
// of 0.1 s.
std::string log_with_times() {
  std::string log = "wall_time_s,step,value\n";
  double time = 1000.25;
  for (int step = 0; step <= 1000; step += 50) {
    log += std::to_string(time) + "," + std::to_string(step) + ",1\n";
    time += 50.0 + (step % 250 == 200 ? 20.0 : 0.0);
  }
  for (int step = 1050; step <= 9000; step += 50, time += 5.0)
    log += std::to_string(time) + "," + std::to_string(step) + ",1\n";
  return log;
}

TrainingRun two_phases() {
  TrainingRun run;
  run.plan.workers = 8;
  run.plan.phases = {{true, 8000.0}, {false, 8000.0}};
  run.phases = {{true, 1000.0, 1.1}, {false, 8000.0, 0.11}};
  return run;
}

}  // namespace

TEST_CASE("each phase's step is told from its pauses, and short phases stay as they were") {
  const test::TemporaryFolder folder;
  write_file_atomically(folder.path() / "loss.csv", log_with_times());
  TrainingRun run = two_phases();
  add_step_times(run, folder.path() / "loss.csv");
  CHECK(*run.phases[0].seconds_between_pauses == doctest::Approx(1.0));
  REQUIRE(run.phases[0].pauses_s.size() >= 3);
  CHECK(run.phases[0].pauses_s[0] == doctest::Approx(20.0));
  CHECK(*run.phases[1].seconds_between_pauses == doctest::Approx(0.1));
  CHECK(run.phases[1].pauses_s.empty());

  std::string rounded = "wall_time_s,step,value\n";
  for (int step = 0; step <= 9000; step += 50)
    rounded += std::to_string(step / 10) + "," + std::to_string(step) + ",1\n";
  write_file_atomically(folder.path() / "loss.csv", rounded);
  TrainingRun coarse = two_phases();
  add_step_times(coarse, folder.path() / "loss.csv");
  CHECK_FALSE(coarse.phases[1].seconds_between_pauses.has_value());

  TrainingRun without = two_phases();
  write_file_atomically(folder.path() / "loss.csv", "step,value\n0,1\n50,1\n");
  add_step_times(without, folder.path() / "loss.csv");
  CHECK_FALSE(without.phases[0].seconds_between_pauses.has_value());
}
