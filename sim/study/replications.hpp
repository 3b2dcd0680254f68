// All replications of several scenarios in one pool of processes.
//
// Replication r of every scenario has the same seed pair (seed, r): policies compared side by side meet the same
// jitter, data order and initial parameters wherever they ask for the same draw.
#pragma once

#include <stdexcept>
#include <vector>

#include "sim/report/results_folder.hpp"
#include "sim/scenario/reader.hpp"

namespace paceline {

struct StudyRun {
  std::vector<ScenarioResults> variants;  // in the order given
  double peak_memory_mib = 0.0;
};

// A run that could not be carried out (as opposed to one whose job failed inside the simulation: that is a result).
class SimulationFailed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Reads and checks every profile first, then simulates with `jobs` processes. Throws UserError for what a user can
// mend before the first run starts, and SimulationFailed when a run could not be carried out.
[[nodiscard]] StudyRun run_replications(std::vector<LoadedScenario> scenarios, int jobs);

}  // namespace paceline
