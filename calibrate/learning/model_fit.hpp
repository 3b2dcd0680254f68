// Fits the parameters of a learning form to groups of recorded runs.
//
// Models:      every group's trace is repeated without run effects, and compared with all its runs: the mean run plus what
//              lies between it and the mean over runs (run_mean.hpp), held as it is at the start of the search.
// Equation:    minimize the mean over groups of
//                mean over evaluations before the first drop of the learning rate ((accuracy - predicted) / √(0.006² + e²))²,
//                e the deviation of one evaluation from differences of neighbours after 20 % of the workload,
//                + mean over evaluations after it ((accuracy - predicted) / 0.006)²
//                + ((mean final accuracy - predicted) · √runs / s)², s the deviation of final accuracies within groups,
//                pooled, at least 0.004
//                + 0.15 · mean over 40 bins of the workload (ln(loss / predicted) / 0.5)²
//              + 0.02 · Σ (logit of the place between the bounds - the initial value's)²: keeps what the data does not
//              determine.
//              How larger batches help without staleness is searched only where synchronous updates of different sizes
//              are among the runs; elsewhere it is held where they help in full.
// Units:       as in learning_form.hpp. Logarithmic parameters are searched by their logarithm.
// Assumptions: groups weigh the same whatever their number of runs.
// Not modelled: correlation of neighbouring evaluations.
// Source:      Levenberg-Marquardt (Moré 1978) as in Eigen.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "calibrate/learning/replay.hpp"
#include "calibrate/learning/training_run.hpp"
#include "sim/learning/learning_form.hpp"
#include "sim/learning/statistical_model.hpp"

namespace paceline {

struct FitOptions {
  int evaluations = 1500;                 // of the objective
  std::map<std::string, double> fixed{};  // parameters that are not searched
  RunSpread spread{};                     // known from an earlier fit, from whose values the search starts
};

struct FittedForm {
  const FormDescription* form = nullptr;
  std::vector<double> values;  // in the order of the form's parameters
  double objective = 0.0;

  [[nodiscard]] double value(std::string_view parameter) const;
};

// Groups with their traces, so that several fits share the work of laying them down.
struct TracedGroup {
  RunGroup group;
  std::shared_ptr<const UpdateTrace> trace;
};
[[nodiscard]] std::vector<TracedGroup> trace_groups(const std::vector<RunGroup>& groups);

// `start`: values to start from (those of an earlier fit), or empty.
[[nodiscard]] FittedForm fit_form(const FormDescription& form, std::span<const TracedGroup> groups,
                                  const FitOptions& options, std::span<const double> start = {});

// The mean run of a plan: readings at positions (mini-batches, ascending).
[[nodiscard]] std::vector<FormReading> predict(const FittedForm& fitted, const TracedGroup& group,
                                               std::span<const double> positions,
                                               const RunEffects& effects = {});

}  // namespace paceline
