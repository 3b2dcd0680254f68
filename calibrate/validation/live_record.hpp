// A validation by live jobs from its sealing on: the prediction and the real runs that there are. Whatever
// ends the process, the same command carries out what is missing, and nothing is predicted anew.
//
// Models:      sealed.json: hash and time of prediction.csv, hashes of the corrected profiles, the command,
//              the program, what the scenarios and their profiles were, the gate's figures. The simulated
//              runs, and each real one when it has ended, are in a store beside it until all of them are
//              there.
// Assumptions: one process at a time, which the store sees to. Hashes find changes, not forgers.
// Not modelled: data sets whose files change between two sittings.
// Source:      calibrate/live/kept_runs.hpp for what a killed process leaves.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "calibrate/live/kept_runs.hpp"
#include "calibrate/validation/live_trial.hpp"
#include "sim/base/quantity.hpp"

namespace paceline {

// Writes what is sealed into a folder in which the gate has left its corrected profiles. `usual_iteration`:
// how fast the machine was.
void seal(const std::filesystem::path& folder, const std::vector<LiveTrial>& trials, Seconds usual_iteration,
          const live::BegunBy& by);

class LiveRecord {
 public:
  // Whether something was sealed there, and not all is done.
  [[nodiscard]] static bool is_unfinished(const std::filesystem::path& folder);

  // Gives scenarios, as they were given, what was sealed and what has run of them. Throws UserError when
  // they, the command, the program or a sealed file are not what they were, or another process is at work
  // there.
  LiveRecord(std::filesystem::path folder, std::vector<LiveTrial>& trials, const live::BegunBy& by);

  // When, and the hash of the prediction.
  [[nodiscard]] const std::string& sealed_text() const { return sealed_text_; }
  [[nodiscard]] Seconds usual_iteration() const { return usual_iteration_; }
  // The trial's last real run. What all runs have said so far stands in measured.csv.
  void keep(const LiveTrial& trial, const std::vector<LiveTrial>& trials);
  // From now on the folder is one of results.
  void finish();

 private:
  void restore(LiveTrial& trial, const nlohmann::json& sealed);

  std::filesystem::path folder_;
  live::KeptRuns kept_;
  std::string sealed_text_;
  Seconds usual_iteration_;
};

}  // namespace paceline
