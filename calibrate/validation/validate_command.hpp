// What `paceline validate` does.
#pragma once

#include <filesystem>
#include <string>

namespace paceline {

struct ValidateArguments {
  std::string folder;  // recorded runs
  std::string output = "results/validation-recorded";
  int replications = 100;  // simulated runs of each setting
  int jobs = 1;
  bool figures = true;
  bool skip_bad = false;
  bool force = false;
  std::string joint;          // of asynchronous jobs: further runs for their accuracy; empty: none
  bool same_cluster = false;  // ranges for the recorded cluster again
  bool simulates = true;      // otherwise replays alone
  int members = 12;           // of the ensemble of each fit
  std::string learners;       // of an earlier validation; empty: every fold is fitted
};
// Every recorded run predicted from fits that exclude it, beside the null models. `command` is what the files
// name.
void validate_recorded_folder(const ValidateArguments& arguments, const std::string& command);

struct CompareLearnerArguments {
  std::string trained;    // results of a study with real networks
  std::string predicted;  // of the same policies with a statistical learner
};

struct ScorePredictionsArguments {
  std::string predictions;  // CSV file, as `paceline predict` writes it
  std::string records;      // folder of recorded asynchronous jobs
};

// manifest.json of a folder of this kind: it lists what was written, so that --force may replace it and
// nothing else. `note`: on how its runs were made; empty: none.
void write_validation_manifest(const std::filesystem::path& folder, const std::string& command,
                               const std::string& note = {});

// Predictions beside the recorded runs of the same configurations and null models, and how many ranges hold.
void validate_predictions(const ScorePredictionsArguments& arguments);

// A statistical learner beside real training under the same policies.
void validate_learner(const CompareLearnerArguments& arguments);

}  // namespace paceline
