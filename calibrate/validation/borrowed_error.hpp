// The error on policies not fitted, for fits of too few policies to tell their own: that of other campaigns
// fitted on as few.
//
// Models:      fits to draws of as many policies of other campaigns, each with members, and what these
//              miss of the campaign's other policies. The fewer policies are fitted, the larger the error:
//              docs/validation.md, coverage of ranges.
// Equation:    difference_i ~ N(0, error² + explained_i), the error of maximum likelihood:
//                error² = Σ w (difference² - explained) / v² / Σ w / v²,  v = error² + explained, at least 0
//              Campaigns weigh the same, policies of a campaign the same, draws and groups of a policy the
//              same. Times t(95 %, campaigns) / 1.645: the next campaign is as far off as these were.
//              Differences of final accuracies in units of the deviation between the runs fitted.
// Units:       accuracy as a fraction; logarithms.
// Assumptions: campaigns are exchangeable. Members that differ much from each other explain a large miss and
//              say little about the error: a mean of difference² - explained would be theirs alone.
// Not modelled: which policies are drawn; that draws of one campaign share policies.
// Source:      variance of random effects: Hardy and Thompson, Statistics in Medicine 1996.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "calibrate/learning/ensemble.hpp"
#include "sim/learning/statistical_model.hpp"

namespace paceline {

struct WeightedMiss {
  Miss miss;
  double weight = 1.0;
};
[[nodiscard]] double error_beyond(std::span<const WeightedMiss> misses);

// A fit to some policies of a campaign, with members, and the groups of its other policies.
struct FewPoliciesFit {
  std::string campaign;
  std::span<const TracedGroup> fitted;
  std::span<const TracedGroup> rest;
  const StatisticalModel* model = nullptr;
};
// For a fit to runs of this deviation. Unknown where no campaign tells one of the errors.
[[nodiscard]] std::optional<ModelError> borrowed_error(std::span<const FewPoliciesFit> fits,
                                                       double run_deviation);

}  // namespace paceline
