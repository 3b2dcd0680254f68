// A fit with everything a reader needs to judge it: intervals by bootstrap, errors on policies left out,
// residuals.
//
// Models:      bootstrap: the members of an ensemble (ensemble.hpp), which the learner's file holds. Left
//              out: every group in turn, predicted from a fit to the others.
// Equation:    interval = 5th to 95th percentile of the refits, by order statistics.
// Units:       as in learning_form.hpp.
// Assumptions: runs of a group are exchangeable. A group of one run shows no scatter, and its interval is too
//              narrow.
// Not modelled: the error of the form itself; that is what leaving out shows.
// Source:      Efron and Tibshirani, "An introduction to the bootstrap", 1993.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "calibrate/learning/held_out.hpp"

namespace paceline {

struct FitRequest {
  std::string name;  // of the learner
  Identity identity{};
  const FormDescription* form = nullptr;
  FitOptions options{};
  int bootstrap = 40;
  std::vector<double> thresholds{};  // of times to accuracy
};

struct Residual {
  std::string run;
  double progress = 0.0;  // share of the workload
  double recorded = 0.0;
  double predicted = 0.0;
};

struct FitReport {
  StatisticalModel model;
  FittedLearner learner;
  std::vector<Interval> intervals;   // by parameter; empty without bootstrap
  std::vector<HeldOutRow> left_out;  // empty with fewer than three groups
  std::vector<Residual> residuals;   // of test accuracies
  int bootstrap = 0;
};

// `on_progress(done share)` now and then.
[[nodiscard]] FitReport fit_and_report(const std::vector<RunGroup>& groups, const FitRequest& request,
                                       const std::function<void(double)>& on_progress);

// The learner file: the model's members, and the intervals and errors beside them.
[[nodiscard]] std::string fit_report_json(const FitReport& report, const std::string& command);
[[nodiscard]] std::string residuals_csv(const FitReport& report);

// The fitted learner as a file's content, valid in the ranges of its runs; its `command` is the caller's to
// set.
[[nodiscard]] StatisticalModel model_of(const FittedLearner& learner, std::span<const TracedGroup> groups,
                                        const std::string& name, const Identity& identity = {});

// The ranges of what these runs did.
[[nodiscard]] LearnerValidity validity_of(std::span<const TracedGroup> groups);

}  // namespace paceline
