// The mean over the runs of a setting, beside its mean run.
//
// Models:      accuracy is not linear in what differs from run to run: a run that learns late is further below the mean run
//              than one that learns early is above it. Recorded means are means over runs, so a fit compares these.
// Equation:    lift(position) = E[accuracy(z)] - accuracy(mean run), z the draw behind speed and penalty: gauss_hermite.hpp, the
//              mean run standing for the middle node. The draw behind the ceiling enters linearly and lifts nothing.
// Units:       accuracy as a fraction.
// Assumptions: the spread is small enough for three nodes; accuracies stay off the ends of their range. The run of z = 0 has
//              a little less penalty than the mean run (statistical_model.hpp), which is neglected: it moves the final
//              accuracies predicted by at most 0.0007 on the recorded folds.
// Not modelled: the mean of losses.
// Source:      gauss_hermite.hpp.
#pragma once

#include <span>
#include <vector>

#include "calibrate/learning/model_fit.hpp"
#include "sim/learning/statistical_model.hpp"

namespace paceline {

// At positions in mini-batches, ascending.
[[nodiscard]] std::vector<double> lift_of_runs(const FittedForm& fitted, const RunSpread& spread,
                                               const TracedGroup& group, std::span<const double> positions);

}  // namespace paceline
