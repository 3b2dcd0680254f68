#include "calibrate/learning/ensemble.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>

#include <boost/math/distributions/students_t.hpp>

#include "calibrate/learning/recorded_layout.hpp"
#include "sim/base/order_statistics.hpp"

namespace paceline {
namespace {

constexpr std::uint32_t ensemble_seed = 3;
constexpr int refit_evaluations = 400;
constexpr std::size_t fewest_unseen = 3;  // policies
constexpr double normal_95 = 1.645;

std::vector<std::string> fitted_policies(std::span<const TracedGroup> groups) {
  std::vector<std::string> policies;
  for (const TracedGroup& group : groups)
    if (std::ranges::find(policies, policy_of(group.group.name)) == policies.end())
      policies.push_back(policy_of(group.group.name));
  return policies;
}

// Whether synchronous and asynchronous phases are among them.
std::pair<bool, bool> protocols_of(std::span<const TracedGroup> groups) {
  std::pair<bool, bool> protocols{false, false};
  for (const TracedGroup& group : groups)
    for (const PlanPhase& phase : group.group.plan().phases)
      (phase.synchronous ? protocols.first : protocols.second) = true;
  return protocols;
}

std::vector<TracedGroup> draw_policies(std::span<const TracedGroup> groups, RandomStream& random) {
  const std::vector<std::string> policies = fitted_policies(groups);
  while (true) {
    std::vector<TracedGroup> drawn;
    for (std::size_t i = 0; i < policies.size(); ++i) {
      const std::string& policy = policies[random.below(policies.size())];
      for (const TracedGroup& group : groups)
        if (policy_of(group.group.name) == policy) drawn.push_back(group);
    }
    if (protocols_of(drawn) == protocols_of(groups)) return drawn;
  }
}

RandomStream stream_of(std::size_t member) {
  return {{ensemble_seed, static_cast<std::uint32_t>(member)}, Purpose::bootstrap};
}

// The policies and runs that a member is fitted to.
std::vector<TracedGroup> drawn_for(std::size_t member, std::span<const TracedGroup> groups) {
  RandomStream random = stream_of(member);
  std::vector<TracedGroup> drawn = draw_policies(groups, random);
  for (TracedGroup& group : drawn) {
    const std::vector<TrainingRun> runs = group.group.runs;
    for (TrainingRun& run : group.group.runs) run = runs[random.below(runs.size())];
  }
  return drawn;
}

std::set<std::string> seen_by(std::size_t member, std::span<const TracedGroup> groups) {
  RandomStream random = stream_of(member);
  std::set<std::string> seen;
  for (const TracedGroup& group : draw_policies(groups, random)) seen.insert(policy_of(group.group.name));
  return seen;
}

// Squared errors beyond what members and runs differ by, by policy.
class UnseenErrors {
 public:
  void add(const std::string& policy, const std::optional<Miss>& miss) {
    if (miss) by_policy_[policy].push_back(miss->difference * miss->difference - miss->explained);
  }
  [[nodiscard]] bool are_known() const { return by_policy_.size() >= fewest_unseen; }
  [[nodiscard]] double deviation() const {
    if (!are_known()) return 0.0;
    std::vector<double> squares;
    for (const auto& [policy, errors] : by_policy_) squares.push_back(*mean_of(errors));
    return std::sqrt(std::max(0.0, *mean_of(squares))) * widened_for(squares.size());
  }

 private:
  std::map<std::string, std::vector<double>> by_policy_;
};

// `differences`: recorded mean - predicted, one for each member.
std::optional<Miss> miss_by(const std::vector<double>& differences, double run_variance) {
  if (differences.size() < 2) return std::nullopt;
  const Spread spread = spread_of(differences);
  return Miss{spread.mean, spread.deviation * spread.deviation + run_variance};
}

using Shift = decltype(&speed_shift);

std::optional<Miss> shift_miss(Shift shift, const TracedGroup& group, std::span<const FittedForm> members,
                               const EvaluationNoise& noise) {
  std::vector<double> means;
  double run_variance = 0.0;
  for (const FittedForm& member : members) {
    std::vector<double> shifts;
    for (const TrainingRun& run : group.group.runs)
      if (const auto one = shift(member, group, run, noise)) shifts.push_back(one->shift);
    if (shifts.empty()) continue;
    const Spread spread = spread_of(shifts);
    means.push_back(spread.mean);
    run_variance = spread.deviation * spread.deviation / static_cast<double>(shifts.size());
  }
  return miss_by(means, run_variance);
}

}  // namespace

double pooled_run_variance(std::span<const TracedGroup> groups) {
  double squares = 0.0;
  double degrees = 0.0;
  for (const TracedGroup& group : groups) {
    const double deviation = group.group.final_accuracy_deviation().value_or(0.0);
    const auto freedom = static_cast<double>(group.group.runs.size() - 1);
    squares += freedom * deviation * deviation;
    degrees += freedom;
  }
  return degrees > 0.0 ? squares / degrees : 0.0;
}

double widened_for(std::size_t squares) {
  const boost::math::students_t_distribution<double> t(static_cast<double>(squares));
  return boost::math::quantile(t, 0.95) / normal_95;
}

GroupMiss miss_of(const TracedGroup& group, std::span<const FittedForm> members, const EvaluationNoise& noise,
                  double run_variance) {
  const std::vector<double> end{group.group.plan().workload_minibatches()};
  std::vector<double> differences;
  for (const FittedForm& member : members)
    differences.push_back(group.group.mean_final_accuracy() - predict(member, group, end).front().accuracy);
  return {miss_by(differences, run_variance / static_cast<double>(group.group.runs.size())),
          shift_miss(speed_shift, group, members, noise), shift_miss(noise_shift, group, members, noise)};
}

std::optional<ModelError> error_unseen(const FittedLearner& learner, std::span<const TracedGroup> groups,
                                       std::span<const std::vector<double>> members) {
  const double run_variance = pooled_run_variance(groups);
  UnseenErrors finals;
  UnseenErrors speeds;
  UnseenErrors noises;
  for (const TracedGroup& group : groups) {
    const std::string policy = policy_of(group.group.name);
    std::vector<FittedForm> unseeing;
    for (std::size_t member = 0; member < members.size(); ++member)
      if (!seen_by(member, groups).contains(policy))
        unseeing.push_back({learner.form.form, members[member], 0.0});
    const GroupMiss miss = miss_of(group, unseeing, learner.noise, run_variance);
    finals.add(policy, miss.final_accuracy);
    speeds.add(policy, miss.speed);
    noises.add(policy, miss.noise);
  }
  if (!finals.are_known()) return std::nullopt;
  return ModelError{finals.deviation(), speeds.deviation(), noises.deviation()};
}

Ensemble fit_ensemble(const FittedLearner& learner, std::span<const TracedGroup> groups, int members,
                      const FitOptions& options, const std::function<void()>& on_member) {
  FitOptions refits = options;
  refits.evaluations = std::min(options.evaluations, refit_evaluations);
  refits.spread = learner.spread;
  Ensemble ensemble;
  for (std::size_t member = 0; member < static_cast<std::size_t>(members); ++member) {
    ensemble.members.push_back(
        fit_form(*learner.form.form, drawn_for(member, groups), refits, learner.form.values).values);
    if (on_member) on_member();
  }
  ensemble.error = error_unseen(learner, groups, ensemble.members);
  return ensemble;
}

}  // namespace paceline
