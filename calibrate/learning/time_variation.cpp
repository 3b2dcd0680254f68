#include "calibrate/learning/time_variation.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "calibrate/learning/recorded_costs.hpp"
#include "calibrate/learning/recorded_layout.hpp"
#include "sim/base/order_statistics.hpp"

namespace paceline {
namespace {

constexpr double t_degrees = 3.0;
constexpr double t_to_normal = 2.353 / 1.645;  // 95 % quantiles
constexpr int t_rounds = 100;
constexpr double policies_of_others = 1.0;  // other campaigns together count as so many of one's own
constexpr std::size_t fewest_others = 2;    // policies that a left-out one is timed by

using Values = std::vector<double>;

// ln(recorded time), by group and session: all that differences within them need.
std::map<std::string, std::map<std::string, Values>> times_of(std::span<const RunGroup> groups) {
  std::map<std::string, std::map<std::string, Values>> times;
  for (const RunGroup& group : groups)
    for (const TrainingRun& run : group.runs)
      if (run.training_time_s && run.plan.delayed_workers == 0)
        times[group.name][run.session].push_back(std::log(*run.training_time_s));
  return times;
}

// ln(recorded / by the steps of the other policies): each policy's median over its runs. With fewer policies
// than these a prediction from the rest says little about one from all of them.
Values left_out_deviations(std::span<const RunGroup> groups) {
  std::map<std::string, Values> of_policy;
  std::set<std::string> policies;
  for (const RunGroup& group : groups)
    if (group.plan().delayed_workers == 0) policies.insert(policy_of(group.name));
  if (policies.size() <= fewest_others) return {};
  for (const RunGroup& out : groups) {
    if (out.plan().delayed_workers > 0) continue;
    std::vector<const RunGroup*> others;
    for (const RunGroup& group : groups)
      if (policy_of(group.name) != policy_of(out.name)) others.push_back(&group);
    const ClockRates rates = typical_rates(others, out.plan().workers);
    for (const TrainingRun& run : out.runs) {
      const double until = run.timed_minibatches.value_or(run.plan.workload_minibatches());
      const std::optional<double> time = time_at(run.plan, rates, until);
      if (time && run.training_time_s)
        of_policy[policy_of(out.name)].push_back(std::log(*run.training_time_s / *time));
    }
  }
  Values deviations;
  for (auto& [policy, values] : of_policy) deviations.push_back(median(std::move(values)));
  return deviations;
}

class Collected {
 public:
  // Each value within a group, and each of these deviations between settings, counts as much as said.
  void add(std::span<const RunGroup> groups, double weight, const Values& deviations, double of_deviation) {
    for (const auto& [group, by_session] : times_of(groups)) {
      Values means;
      for (const auto& [session, values] : by_session) {
        add_differences(values, weight, runs_);
        means.push_back(*mean_of(values));
        run_count_ += static_cast<double>(values.size());
      }
      session_count_ += static_cast<double>(means.size());
      group_count_ += 1.0;
      add_differences(means, weight, sessions_);
    }
    for (const double deviation : deviations) settings_.push_back({deviation, of_deviation});
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
  collected.add(own, 1.0, left_out_deviations(own), 1.0);
  std::vector<Values> of_others;
  double groups_of_others = 0.0;
  double told = 0.0;
  for (const std::vector<RunGroup>& campaign : others) {
    of_others.push_back(left_out_deviations(campaign));
    if (!of_others.back().empty()) told += 1.0;
    groups_of_others += static_cast<double>(times_of(campaign).size());
  }
  for (std::size_t c = 0; c < others.size(); ++c)
    collected.add(others[c], policies_of_others / groups_of_others, of_others[c],
                  policies_of_others / (told * static_cast<double>(of_others[c].size())));
  return collected.variation();
}

}  // namespace paceline
