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

std::vector<std::string> policies_of(std::span<const TracedGroup> groups) {
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
  const std::vector<std::string> policies = policies_of(groups);
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

struct Member {
  FittedForm form;
  std::set<std::string> seen;  // policies
};

Member refit(const FittedLearner& learner, std::span<const TracedGroup> groups, const FitOptions& options,
             std::uint32_t number) {
  RandomStream random({ensemble_seed, number}, Purpose::bootstrap);
  std::vector<TracedGroup> drawn = draw_policies(groups, random);
  Member member;
  for (TracedGroup& group : drawn) {
    const std::vector<TrainingRun> runs = group.group.runs;
    for (TrainingRun& run : group.group.runs) run = runs[random.below(runs.size())];
    member.seen.insert(policy_of(group.group.name));
  }
  member.form = fit_form(*learner.form.form, drawn, options, learner.form.values);
  return member;
}

// Of one group that some members did not see.
struct Unseen {
  double squared_error = 0.0;
  void add(double recorded, const std::vector<double>& predicted, double recorded_variance) {
    const Spread spread = spread_of(predicted);
    const double error = recorded - spread.mean;
    squared_error = error * error - spread.deviation * spread.deviation - recorded_variance;
  }
};

double pooled_variance(std::span<const TracedGroup> groups) {
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

// Mean over runs of the shift, and its variance from run to run.
std::optional<Spread> group_shift(const FittedForm& form, const TracedGroup& group,
                                  const EvaluationNoise& noise) {
  std::vector<double> shifts;
  for (const TrainingRun& run : group.group.runs)
    if (const auto shift = speed_shift(form, group, run, noise)) shifts.push_back(shift->shift);
  if (shifts.empty()) return std::nullopt;
  return spread_of(shifts);
}

double deviation_from(const std::map<std::string, std::vector<double>>& by_policy) {
  std::vector<double> squares;
  for (const auto& [policy, errors] : by_policy) squares.push_back(*mean_of(errors));
  const boost::math::students_t_distribution<double> t(static_cast<double>(squares.size()));
  return std::sqrt(std::max(0.0, *mean_of(squares))) * boost::math::quantile(t, 0.95) / normal_95;
}

std::optional<ModelError> error_of(const std::vector<Member>& members, std::span<const TracedGroup> groups,
                                   const FittedLearner& learner) {
  const double run_variance = pooled_variance(groups);
  std::map<std::string, std::vector<double>> finals;
  std::map<std::string, std::vector<double>> speeds;
  for (const TracedGroup& group : groups) {
    const std::string policy = policy_of(group.group.name);
    const auto runs = static_cast<double>(group.group.runs.size());
    const std::vector<double> end{group.group.plan().workload_minibatches()};
    std::vector<double> predicted;
    std::vector<double> shifts;
    double shift_variance = 0.0;
    for (const Member& member : members) {
      if (member.seen.contains(policy)) continue;
      predicted.push_back(predict(member.form, group, end).front().accuracy);
      if (const auto shift = group_shift(member.form, group, learner.noise)) {
        shifts.push_back(shift->mean);
        shift_variance = shift->deviation * shift->deviation;
      }
    }
    if (predicted.size() < 2) continue;
    Unseen end_error;
    end_error.add(group.group.mean_final_accuracy(), predicted, run_variance / runs);
    finals[policy].push_back(end_error.squared_error);
    if (shifts.size() < 2) continue;
    Unseen speed_error;
    speed_error.add(0.0, shifts, shift_variance / runs);
    speeds[policy].push_back(speed_error.squared_error);
  }
  if (finals.size() < fewest_unseen) return std::nullopt;
  return ModelError{deviation_from(finals), speeds.size() < fewest_unseen ? 0.0 : deviation_from(speeds)};
}

}  // namespace

Ensemble fit_ensemble(const FittedLearner& learner, std::span<const TracedGroup> groups, int members,
                      const FitOptions& options, const std::function<void()>& on_member) {
  FitOptions refits = options;
  refits.evaluations = std::min(options.evaluations, refit_evaluations);
  refits.spread = learner.spread;
  std::vector<Member> all;
  for (int number = 0; number < members; ++number) {
    all.push_back(refit(learner, groups, refits, static_cast<std::uint32_t>(number)));
    if (on_member) on_member();
  }
  Ensemble ensemble;
  for (const Member& member : all) ensemble.members.push_back(member.form.values);
  ensemble.error = error_of(all, groups, learner);
  return ensemble;
}

}  // namespace paceline
