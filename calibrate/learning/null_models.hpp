// The simplest models that could make the same claims; a figure that does not beat them is not claimed.
//
// Models:      (1) linear: a quantity of a mixed run lies between those of the two pure runs, in the share of synchronous
//              work; (2) first protocol: it is that of the pure run of the protocol that comes first; (3) first drop: an
//              accuracy is reached at the first evaluation after the first drop of the learning rate.
// Equation:    (1) share · synchronous + (1 - share) · asynchronous.
// Units:       those of the quantity.
// Assumptions: the pure runs are among the runs fitted.
// Not modelled: anything else; that is their use.
// Source:      reference/sync-switch.md, section 9.
#pragma once

#include <optional>
#include <span>

#include "calibrate/learning/prediction.hpp"

namespace paceline {

struct PureValues {
  std::optional<double> synchronous;
  std::optional<double> asynchronous;
};
[[nodiscard]] PureValues pure_final_accuracies(std::span<const TracedGroup> fitted_on);
// At a share of the workload.
[[nodiscard]] PureValues pure_accuracies_at(std::span<const TracedGroup> fitted_on, double progress);

[[nodiscard]] double synchronous_share(const TrainingPlan& plan);
[[nodiscard]] std::optional<double> linear_null(const PureValues& pure, const TrainingPlan& plan);
[[nodiscard]] std::optional<double> first_protocol_null(const PureValues& pure, const TrainingPlan& plan);
// Time of the first evaluation after the first drop; nothing without a drop or a rate.
[[nodiscard]] std::optional<double> first_drop_null(const PredictedRuns& evaluations,
                                                    const TrainingPlan& plan, const ClockRates& rates);

}  // namespace paceline
