#include "calibrate/validation/borrowed_error.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "calibrate/learning/recorded_layout.hpp"

namespace paceline {
namespace {

constexpr int likelihood_rounds = 200;
constexpr double least_variance = 1e-12;

// Misses by campaign and policy.
class BorrowedMisses {
 public:
  void add(const std::string& campaign, const std::string& policy, const std::optional<Miss>& miss,
           double unit = 1.0) {
    if (miss && unit > 0.0)
      misses_[campaign][policy].push_back({miss->difference / unit, miss->explained / (unit * unit)});
  }
  [[nodiscard]] std::optional<double> error() const {
    if (misses_.empty()) return std::nullopt;
    std::vector<WeightedMiss> weighted;
    for (const auto& [campaign, policies] : misses_)
      for (const auto& [policy, misses] : policies)
        for (const Miss& miss : misses)
          weighted.push_back({miss, 1.0 / static_cast<double>(policies.size() * misses.size())});
    return error_beyond(weighted) * widened_for(misses_.size());
  }

 private:
  std::map<std::string, std::map<std::string, std::vector<Miss>>> misses_;
};

}  // namespace

double error_beyond(std::span<const WeightedMiss> misses) {
  double square = 0.0;
  double weights = 0.0;
  for (const WeightedMiss& one : misses) {
    square += one.weight * one.miss.difference * one.miss.difference;
    weights += one.weight;
  }
  if (weights <= 0.0) return 0.0;
  square /= weights;
  for (int round = 0; round < likelihood_rounds; ++round) {
    double sum = 0.0;
    weights = 0.0;
    for (const WeightedMiss& one : misses) {
      const double variance = std::max(square + one.miss.explained, least_variance);
      const double weight = one.weight / (variance * variance);
      sum += weight * (one.miss.difference * one.miss.difference - one.miss.explained);
      weights += weight;
    }
    square = std::max(0.0, sum / weights);
  }
  return std::sqrt(square);
}

std::optional<ModelError> borrowed_error(std::span<const FewPoliciesFit> fits, double run_deviation) {
  BorrowedMisses finals;
  BorrowedMisses speeds;
  BorrowedMisses noises;
  for (const FewPoliciesFit& fit : fits) {
    const double run_variance = pooled_run_variance(fit.fitted);
    std::vector<FittedForm> members;
    for (const std::vector<double>& values : fit.model->members)
      members.push_back({fit.model->form, values, 0.0});
    for (const TracedGroup& group : fit.rest) {
      const std::string policy = policy_of(group.group.name);
      const GroupMiss miss = miss_of(group, members, fit.model->noise, run_variance);
      finals.add(fit.campaign, policy, miss.final_accuracy, std::sqrt(run_variance));
      speeds.add(fit.campaign, policy, miss.speed);
      noises.add(fit.campaign, policy, miss.noise);
    }
  }
  const std::optional<double> final_accuracy = finals.error();
  const std::optional<double> speed = speeds.error();
  const std::optional<double> noise = noises.error();
  if (!final_accuracy || !speed || !noise || run_deviation <= 0.0) return std::nullopt;
  return ModelError{*final_accuracy * run_deviation, *speed, *noise};
}

}  // namespace paceline
