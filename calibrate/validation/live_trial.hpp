// A scenario of a validation by live jobs: what is predicted of it, and its real runs so far.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/live/kept_runs.hpp"
#include "calibrate/validation/live_gate.hpp"
#include "sim/cost/profile.hpp"
#include "sim/report/recording/run_result.hpp"
#include "sim/scenario/reader.hpp"

namespace paceline {

struct LiveTrial {
  LoadedScenario loaded;
  std::string digest{};  // of the scenario and its profiles as they were given
  std::shared_ptr<const Profiles> profiles;
  std::optional<NetworkConfig> links{};  // emulated: the scenario's own network, before it is measured
  GateFigures gate{};
  std::vector<RunResult> predicted{};
  std::vector<live::RealRun> real{};
};

// A row for each quantity of each run.
[[nodiscard]] std::string predictions_csv(const std::vector<LiveTrial>& trials);
[[nodiscard]] std::string measurements_csv(const std::vector<LiveTrial>& trials);
// How the machine was around each real run, and when that was.
[[nodiscard]] std::string machine_csv(const std::vector<LiveTrial>& trials);

// How many met the machine as the prediction has it.
[[nodiscard]] std::string pace_text(const std::vector<LiveTrial>& trials);

[[nodiscard]] std::size_t real_runs(const std::vector<LiveTrial>& trials);
// Of all of them (calibrate/live/kept_runs.hpp).
[[nodiscard]] std::string sittings_note(const std::vector<LiveTrial>& trials);

}  // namespace paceline
