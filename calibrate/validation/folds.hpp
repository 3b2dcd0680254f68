// Parts of recorded runs to be predicted from fits of the rest, and those fits.
//
// Models:      policies: each policy of a campaign from its others, and the fixed folds where their
//              policies are there; runs: a fifth of the runs of every policy from its other runs;
//              campaigns: the groups of one campaign from those of each other campaign of the same
//              network.
// Equation:    none.
// Units:       none.
// Assumptions: a fold's ensemble and errors come from the runs it is fitted on. Where these are too few
//              policies to tell the model's error, it is that of other campaigns, neither predicted nor
//              fitted, when they are fitted on as few (borrowed_error.hpp): at most ten draws of each.
// Not modelled: correlation between folds, which share most of their runs.
// Source:      Efron and Tibshirani, "An introduction to the bootstrap", 1993, chapter 17.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "calibrate/learning/recorded_layout.hpp"
#include "calibrate/learning/replay.hpp"
#include "sim/learning/statistical_model.hpp"

namespace paceline {

enum class LeftOut { policies, fixed_policies, runs, campaigns };
[[nodiscard]] const char* name_of(LeftOut left_out);

struct PlannedFold {
  std::string name;      // "resnet50-cifar100: all but bsp"
  std::string campaign;  // predicted
  std::string from;      // campaign fitted
  LeftOut left_out = LeftOut::policies;
  std::vector<TracedGroup> fitted;
  std::vector<TracedGroup> held_out;
  std::vector<std::vector<RunGroup>> others;  // campaigns of which nothing is fitted or predicted
};

// What cannot be left out is said in `notes`.
[[nodiscard]] std::vector<PlannedFold> plan_folds(const std::vector<Campaign>& campaigns,
                                                  std::vector<std::string>& notes);

struct FoldFits {
  const FormDescription* form = nullptr;
  int members = 12;
  int jobs = 1;
  std::filesystem::path folder;  // gets the learner files
  std::filesystem::path known;   // has learner files of the same folds, or is empty: not fitted again
};
struct FoldFiles {
  std::filesystem::path fit;       // alone: what a prediction is
  std::filesystem::path ensemble;  // with members and the model's error: how sure it is
};
// The learner files, in the order of the folds. Fits run side by side, each in a process of its own. Errors
// that nothing tells are said in `notes`.
[[nodiscard]] std::vector<FoldFiles> fit_folds(
    const std::vector<Campaign>& campaigns, const std::vector<PlannedFold>& folds, const FoldFits& how,
    const std::function<void(double, const std::string&)>& on_progress, std::vector<std::string>& notes);

}  // namespace paceline
