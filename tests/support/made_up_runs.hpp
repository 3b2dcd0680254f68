// Runs nobody has seen, in the layout of the recorded ones.
#pragma once

#include <filesystem>
#include <string>

#include "sim/base/atomic_file.hpp"
#include "tests/support/temporary_folder.hpp"

namespace paceline::test {

// Asynchronous runs of 4 workers and of 8, and one and two delayed of 4. Logs without
// times, so that seconds per step are those of phases.csv.
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
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_.path(); }

 private:
  void add(const std::string& setup, const std::string& policy, int workers, int steps,
           double seconds_per_step) {
    const std::filesystem::path place = folder() / setup / policy / "run1";
    std::filesystem::create_directories(place);
    std::string curve = "step,value\n";
    for (int step = 0; step <= steps; step += 200) curve += std::to_string(step) + ",0.5\n";
    write_file_atomically(place / "accuracy.csv", curve);
    write_file_atomically(place / "loss.csv", curve);
    runs_ += setup + "," + policy + ",1,2021-01-01," + std::to_string(steps) + ",workload50," +
             std::to_string(steps) + ",0.5,100\n";
    phases_ += setup + "," + policy + ",1,ASP," + std::to_string(workers) + "," + std::to_string(steps) +
               "," + std::to_string(seconds_per_step) + "\n";
  }

  TemporaryFolder folder_;
  std::string runs_ =
      "setup,policy,run,date_utc,workload_minibatches,lr_drop_basis,end_step,final_accuracy,training_time_"
      "s\n";
  std::string phases_ = "setup,policy,run,protocol,workers,steps,seconds_per_step\n";
};

}  // namespace paceline::test
