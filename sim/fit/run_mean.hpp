// The mean over the runs of a setting, beside its mean run.
//
// Models:      accuracy is not linear in what differs from run to run: a run that learns late is further below the mean run
//              than one that learns early is above it. Recorded means are means over runs, so a fit compares these.
// Equation:    lift(position) = E[accuracy(z)] - accuracy(mean run), z the draw behind speed and damage: Gauss-Hermite
//              quadrature with the nodes 0 and ±√3, weights 2/3 and 1/6 (exact for polynomials of degree 5). The draw
//              behind the ceiling enters linearly and lifts nothing.
// Units:       accuracy as a fraction.
// Assumptions: the spread is small enough for three nodes; accuracies stay off the ends of their range.
// Not modelled: the mean of losses.
// Source:      Abramowitz and Stegun, table 25.10.
#pragma once

#include <span>
#include <vector>

#include "sim/fit/model_fit.hpp"
#include "sim/learning/statistical_model.hpp"

namespace paceline {

// At positions in mini-batches, ascending.
[[nodiscard]] std::vector<double> lift_of_runs(const FittedForm& fitted, const RunSpread& spread,
                                               const TracedGroup& group, std::span<const double> positions);

}  // namespace paceline
