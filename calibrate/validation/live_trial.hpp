// A scenario of a validation by live jobs: what is predicted of it, and its real runs so far.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/validation/live_gate.hpp"
#include "sim/cost/profile.hpp"
#include "sim/report/recording/run_result.hpp"
#include "sim/scenario/reader.hpp"

namespace paceline {

struct RealRun {
  RunResult result{};
  BeforeRun before{};
  double other_load = 0.0;
  std::string began{};  // UTC
  std::string ended{};
  int sitting = 0;                      // from 0: a process carries out the runs of one
  std::vector<std::string> failures{};  // workers that were lost, a stall
};

struct LiveTrial {
  LoadedScenario loaded;
  std::string digest{};  // of the scenario and its profiles as they were given
  std::shared_ptr<const Profiles> profiles;
  std::optional<NetworkConfig> links{};  // emulated: the scenario's own network, before it is measured
  GateFigures gate{};
  std::vector<RunResult> predicted{};
  std::vector<RealRun> real{};
};

// A row for each quantity of each run.
[[nodiscard]] std::string predictions_csv(const std::vector<LiveTrial>& trials);
[[nodiscard]] std::string measurements_csv(const std::vector<LiveTrial>& trials);
// How the machine was before each real run, and when that was.
[[nodiscard]] std::string machine_csv(const std::vector<LiveTrial>& trials);

[[nodiscard]] std::size_t real_runs(const std::vector<LiveTrial>& trials);
// Times of a machine that was left and come back to may differ. Empty: nobody has.
[[nodiscard]] std::string sittings_note(const std::vector<LiveTrial>& trials);

}  // namespace paceline
