#include "calibrate/learning/time_variation.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "calibrate/learning/recorded_costs.hpp"
#include "calibrate/learning/recorded_layout.hpp"

namespace paceline {
namespace {

constexpr double t_degrees = 3.0;
constexpr double t_to_normal = 2.353 / 1.645;  // 95 % quantiles
constexpr int t_rounds = 100;
constexpr double policies_of_others = 1.0;  // other campaigns together count as so many of one's own

// ln(recorded / by the costs of the other policies), by group and session.
using Deviations = std::map<std::string, std::map<std::string, std::vector<double>>>;

// Whether each protocol of the group was timed in others.
bool have_protocols_of(const std::vector<const RunGroup*>& groups, const RunGroup& wanted) {
  return std::ranges::all_of(wanted.plan().phases, [&](const PlanPhase& phase) {
    return std::ranges::any_of(groups, [&](const RunGroup* group) {
      return delayed_workers(group->name) == 0 &&
             std::ranges::any_of(group->plan().phases, [&](const PlanPhase& other) {
               return other.synchronous == phase.synchronous;
             });
    });
  });
}

Deviations deviations_of(std::span<const RunGroup> groups) {
  Deviations deviations;
  for (const RunGroup& out : groups) {
    if (delayed_workers(out.name) > 0) continue;
    std::vector<const RunGroup*> others;
    for (const RunGroup& group : groups)
      if (policy_of(group.name) != policy_of(out.name)) others.push_back(&group);
    const std::optional<RecordedCosts> costs = undelayed_costs(others);
    if (!costs || !have_protocols_of(others, out)) continue;
    const ClockRates rates = rates_of(*costs, out.plan().workers, out.plan().batch_samples);
    for (const TrainingRun& run : out.runs) {
      const double until = run.timed_minibatches.value_or(run.plan.workload_minibatches());
      const std::optional<double> time = time_at(run.plan, rates, until);
      if (time && run.training_time_s)
        deviations[out.name][run.session].push_back(std::log(*run.training_time_s / *time));
    }
  }
  return deviations;
}

class Collected {
 public:
  void add(const Deviations& deviations, double weight) {
    std::map<std::string, std::vector<double>> by_policy;
    for (const auto& [group, by_session] : deviations) {
      std::vector<double> means;
      for (const auto& [session, values] : by_session) {
        add_differences(values, weight, runs_);
        means.push_back(*mean_of(values));
        run_count_ += static_cast<double>(values.size());
      }
      session_count_ += static_cast<double>(means.size());
      group_count_ += 1.0;
      add_differences(means, weight, sessions_);
      by_policy[policy_of(group)].push_back(*mean_of(means));
    }
    for (const auto& [policy, means] : by_policy) settings_.push_back({*mean_of(means), weight});
  }

  [[nodiscard]] TimeVariation variation() const {
    if (group_count_ == 0.0) return {};
    const auto beyond = [](double deviation, double explained) {
      return std::sqrt(std::max(0.0, deviation * deviation - explained));
    };
    TimeVariation variation;
    variation.run = robust_deviation(runs_);
    const double of_runs = variation.run * variation.run * session_count_ / run_count_;
    variation.cluster = beyond(robust_deviation(sessions_), of_runs);
    const double of_sessions =
        (variation.cluster * variation.cluster + of_runs) * group_count_ / session_count_;
    variation.setting = beyond(robust_deviation(settings_), of_sessions);
    return variation;
  }

 private:
  // From the mean, as large as those of independent values.
  static void add_differences(const std::vector<double>& values, double weight, std::vector<Weighted>& all) {
    if (values.size() < 2) return;
    const auto n = static_cast<double>(values.size());
    for (const double value : values)
      all.push_back({(value - *mean_of(values)) * std::sqrt(n / (n - 1.0)), weight});
  }

  std::vector<Weighted> runs_;
  std::vector<Weighted> sessions_;
  std::vector<Weighted> settings_;
  double run_count_ = 0.0;
  double session_count_ = 0.0;
  double group_count_ = 0.0;
};

}  // namespace

double robust_deviation(std::span<const Weighted> values) {
  double weights = 0.0;
  double square = 0.0;
  for (const Weighted& one : values) {
    weights += one.weight;
    square += one.weight * one.value * one.value;
  }
  if (weights <= 0.0) return 0.0;
  square /= weights;
  for (int round = 0; round < t_rounds && square > 0.0; ++round) {
    double sum = 0.0;
    for (const Weighted& one : values)
      sum += one.weight * (t_degrees + 1.0) * one.value * one.value /
             (t_degrees + one.value * one.value / square);
    square = sum / weights;
  }
  return t_to_normal * std::sqrt(square);
}

TimeVariation time_variation(std::span<const TracedGroup> groups,
                             std::span<const std::vector<RunGroup>> others) {
  std::vector<RunGroup> own;
  for (const TracedGroup& group : groups) own.push_back(group.group);
  Collected collected;
  collected.add(deviations_of(own), 1.0);
  std::vector<Deviations> further;
  double count = 0.0;
  for (const std::vector<RunGroup>& campaign : others) {
    further.push_back(deviations_of(campaign));
    count += static_cast<double>(further.back().size());
  }
  for (const Deviations& deviations : further) collected.add(deviations, policies_of_others / count);
  return collected.variation();
}

}  // namespace paceline
