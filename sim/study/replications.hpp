// All replications of several scenarios in one pool of processes.
//
// Replication r of every scenario has the same seed pair (seed, r): policies compared side by side meet the same
// jitter, data order and initial parameters wherever they ask for the same draw.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <vector>

#include "sim/report/output/results_folder.hpp"
#include "sim/scenario/reader.hpp"
#include "sim/study/simulation.hpp"

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

// Reads and checks profiles and data folders first, then simulates with `jobs` processes. A run that could not be
// carried out is left out and named in its variant's `failures`. Throws UserError, before the first run where that can
// be known, and SimulationFailed when not one run of a variant could be carried out.
[[nodiscard]] StudyRun run_replications(std::vector<LoadedScenario> scenarios, int jobs,
                                        RecordingOptions recording, ProfileUse use = ProfileUse::as_fitted,
                                        std::optional<std::uint32_t> only = std::nullopt);

}  // namespace paceline
