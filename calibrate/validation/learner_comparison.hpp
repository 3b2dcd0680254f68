// A statistical learner beside the real training it stands for: final accuracies policy by policy, and their
// order.
//
// Models:      two studies of the same policies, one that trained networks and one that used the learner.
// Equation:    error = mean predicted - mean trained final accuracy; 90 % interval of the trained mean:
//              Student's t. Two policies are told apart by training when the 90 % t-interval of their
//              difference, paired by seed, leaves out 0; the learner ranks them alike when its means differ
//              in the same direction. Null model: every policy ends alike, at the mean of all predictions.
// Units:       accuracies as fractions.
// Assumptions: run r of every policy has the same seed, so that differences are paired.
// Not modelled: times.
// Source:      Student's paired t; the null is the simplest claim that could also be made.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace paceline {

struct FinalAccuracies {
  std::string policy;
  std::vector<double> trained;    // by replication
  std::vector<double> predicted;  // likewise; may be more or fewer
};

struct AccuracyRow {
  std::string policy;
  double trained = 0.0;
  std::optional<double> trained_half_width;  // of the 90 % interval; from two runs on
  double predicted = 0.0;
  double null_predicted = 0.0;
};

struct RankedPair {
  std::string better;  // by training
  std::string worse;
  double trained_difference = 0.0;
  double half_width = 0.0;
  double predicted_difference = 0.0;
  [[nodiscard]] bool is_ranked_alike() const { return predicted_difference > 0.0; }
};

struct LearnerComparison {
  std::vector<AccuracyRow> rows;  // in the order given
  std::vector<RankedPair> pairs;  // that training tells apart
  std::size_t pairs_in_all = 0;
};

// No list of accuracies is empty.
[[nodiscard]] LearnerComparison compare_learner(const std::vector<FinalAccuracies>& policies);
[[nodiscard]] std::string comparison_text(const LearnerComparison& comparison);

}  // namespace paceline
