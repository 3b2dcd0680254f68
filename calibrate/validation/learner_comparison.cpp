#include "calibrate/validation/learner_comparison.hpp"

#include <algorithm>
#include <cmath>

#include <boost/math/distributions/students_t.hpp>
#include <fmt/format.h>

#include "calibrate/learning/training_run.hpp"
#include "sim/base/check.hpp"

namespace paceline {
namespace {

constexpr double tail = 0.05;  // on each side

double mean(const std::vector<double>& values) {
  check(!values.empty(), "a mean is of something");
  return *mean_of(values);
}

std::optional<double> half_width(const std::vector<double>& values) {
  if (values.size() < 2) return std::nullopt;
  const auto count = static_cast<double>(values.size());
  const boost::math::students_t_distribution<double> distribution(count - 1.0);
  return *deviation_of(values) / std::sqrt(count) * boost::math::quantile(distribution, 1.0 - tail);
}

// The pair, better first, if training tells the two apart.
std::optional<RankedPair> ranked(const FinalAccuracies& a, const FinalAccuracies& b) {
  std::vector<double> differences;
  for (std::size_t r = 0; r < std::min(a.trained.size(), b.trained.size()); ++r)
    differences.push_back(a.trained[r] - b.trained[r]);
  const std::optional<double> width = half_width(differences);
  const double difference = mean(differences);
  if (!width || std::abs(difference) <= *width) return std::nullopt;
  const double predicted = mean(a.predicted) - mean(b.predicted);
  if (difference > 0.0) return RankedPair{a.policy, b.policy, difference, *width, predicted};
  return RankedPair{b.policy, a.policy, -difference, *width, -predicted};
}

}  // namespace

LearnerComparison compare_learner(const std::vector<FinalAccuracies>& policies) {
  LearnerComparison comparison;
  double all = 0.0;
  for (const FinalAccuracies& policy : policies)
    all += mean(policy.predicted) / static_cast<double>(policies.size());
  for (const FinalAccuracies& policy : policies)
    comparison.rows.push_back(
        {policy.policy, mean(policy.trained), half_width(policy.trained), mean(policy.predicted), all});
  for (std::size_t a = 0; a < policies.size(); ++a)
    for (std::size_t b = a + 1; b < policies.size(); ++b) {
      ++comparison.pairs_in_all;
      if (const std::optional<RankedPair> pair = ranked(policies[a], policies[b]))
        comparison.pairs.push_back(*pair);
    }
  return comparison;
}

std::string comparison_text(const LearnerComparison& comparison) {
  std::string text = fmt::format("{:<28} {:>18} {:>10} {:>8} {:>12}\n", "final accuracy", "trained [90 %]",
                                 "predicted", "error", "null: alike");
  double sum = 0.0;
  double null_sum = 0.0;
  double largest = 0.0;
  for (const AccuracyRow& row : comparison.rows) {
    const double error = row.predicted - row.trained;
    const double null_error = row.null_predicted - row.trained;
    sum += std::abs(error);
    null_sum += std::abs(null_error);
    largest = std::max(largest, std::abs(error));
    text += fmt::format("{:<28} {:>18} {:>10.4f} {:>+8.4f} {:>+12.4f}\n", row.policy,
                        fmt::format("{:.4f} ± {:.4f}", row.trained, row.trained_half_width.value_or(0.0)),
                        row.predicted, error, null_error);
  }
  const auto rows = static_cast<double>(std::max<std::size_t>(1, comparison.rows.size()));
  text += fmt::format("mean absolute error {:.4f}, largest {:.4f}; null model {:.4f}\n", sum / rows, largest,
                      null_sum / rows);
  const auto alike = std::count_if(comparison.pairs.begin(), comparison.pairs.end(),
                                   [](const RankedPair& pair) { return pair.is_ranked_alike(); });
  text += fmt::format("of {} pairs of policies training tells {} apart; the learner ranks {} of them alike\n",
                      comparison.pairs_in_all, comparison.pairs.size(), alike);
  for (const RankedPair& pair : comparison.pairs)
    if (!pair.is_ranked_alike())
      text += fmt::format("  not alike: {} over {} by {:.4f} ± {:.4f}, predicted {:+.4f}\n", pair.better,
                          pair.worse, pair.trained_difference, pair.half_width, pair.predicted_difference);
  return text;
}

}  // namespace paceline
