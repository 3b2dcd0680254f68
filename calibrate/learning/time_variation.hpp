// How much the times of jobs vary, and why.
//
// Models:      how far jobs of one setting on a day, and days of one setting, lie apart; and how far jobs of
//              a setting lie from their time by the steps of its campaign's other policies, where these are
//              two or more. Other campaigns tell too, all together as much as one policy of one's own.
// Equation:      run:     ln(recorded time) - its mean over the runs of a group on one day
//                cluster: means over the days of a group - their mean, beyond what single runs explain
//                setting: median over a policy's runs of ln(recorded time / time by the others), beyond what
//                         days and runs explain
//              each a scale s that maximizes the likelihood of Student's t with 3 degrees of freedom,
//                s² = weighted mean of 4 x² / (3 + x² / s²),  x corrected for the means subtracted,
//              written as the standard deviation of the normal distribution with the same 90 % range
//              (1.43 s).
// Units:       relative to the time of a job.
// Assumptions: one factor for all phases of a job. Most days are alike and a few are far off (the cloud gave
//              other machines): a normal distribution would widen all ranges for the sake of those few.
// Not modelled: machines of one cluster that differ from each other.
// Source:      Lange, Little and Taylor, "Robust statistical modeling using the t distribution", 1989.
#pragma once

#include <span>
#include <vector>

#include "calibrate/learning/prediction.hpp"

namespace paceline {

// sd / mean of the rates of one network on one kind of machine in campaigns of different months (recorded
// asynchronous jobs with separate servers: docs/validation.md). From one campaign to another it is the root
// of two times as much.
inline constexpr double campaigns_differ = 0.045;

// `others`: further campaigns, of which nothing is to be predicted.
[[nodiscard]] TimeVariation time_variation(std::span<const TracedGroup> groups,
                                           std::span<const std::vector<RunGroup>> others);

struct Weighted {
  double value = 0.0;
  double weight = 1.0;
};
// The 90 % range of Student's t with 3 degrees of freedom that fits values around 0, as the standard
// deviation of a normal distribution; 0 without values.
[[nodiscard]] double robust_deviation(std::span<const Weighted> values);

}  // namespace paceline
