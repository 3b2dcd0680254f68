// What `paceline fit` does: a learner from recorded curves, with its intervals, errors and residuals.
#pragma once

#include <string>
#include <vector>

namespace paceline {

struct FitArguments {
  std::string logs;  // a YAML file, or a folder of recorded runs
  std::string output = "learner.json";
  std::string name;                   // empty: that of the logs
  std::string campaign;               // of a folder of recorded runs
  std::vector<std::string> policies;  // empty: all
  std::string form = "relaxation";
  int bootstrap = 40;
  bool figures = true;
  bool skip_bad = false;
  bool force = false;
};

// Writes the learner, and the residuals beside it; prints what a reader needs to judge the fit. `command` is
// the command line that the files name.
void fit_logs(const FitArguments& arguments, const std::string& command);

}  // namespace paceline
