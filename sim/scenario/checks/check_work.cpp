// Rules that join `evaluation`, `stop` and `expect` with the rest; and the order in which all rules are
// looked at.
#include "sim/policy/synchronization/synchronization.hpp"
#include "sim/scenario/checks/check.hpp"
#include "sim/scenario/checks/expected_updates.hpp"

namespace paceline {
namespace {

constexpr double most_samples = 0x1p53;  // counted exactly in a double

class WorkRules : Rules {
 public:
  using Rules::Rules;

  void check() const {
    if (sound("evaluation")) check_evaluation_cost();
    if (workload_is_sound(reading_)) check_workload();
    check_expectations();
  }

 private:
  void check_evaluation_cost() const {
    const bool is_free = scenario.evaluation.who_pays == EvaluationPayer::free;
    if (!is_free && !given("evaluation.cost"))
      error("evaluation.who_pays", "`who_pays` needs `cost` here",
            "the time of one evaluation, for example `cost: 2 s`");
    if (is_free && given("evaluation.cost"))
      warn("evaluation.cost", "`cost` is not used by `who_pays: free`");
  }

  void check_workload() const {
    const double samples = workload_samples(scenario);
    const double global_batch = static_cast<double>(scenario.batching.initial_samples) *
                                static_cast<double>(scenario.cluster.workers.size());
    if (samples > most_samples)
      error("stop.epochs", fmt::format("the workload of {:g} samples cannot be counted", samples),
            "lower `stop.epochs` or `job.dataset.train_samples`");
    if (samples < global_batch)
      error("stop.epochs",
            fmt::format("the workload ({} samples) is less than one batch on every worker ({} samples)",
                        samples, global_batch),
            "raise `stop.epochs` or `job.dataset.train_samples`, or lower `batching.initial`");
    if (sound("evaluation.every", "synchronization")) check_first_evaluation();
  }

  void check_first_evaluation() const {
    const auto [workload, unit] = workload_in(scenario.evaluation.every.unit);
    if (scenario.evaluation.every.value > workload)
      error("evaluation.every",
            fmt::format("the job ends before its first evaluation: it has only {:.10g} {}", workload, unit),
            "evaluate more often");
  }

  [[nodiscard]] std::pair<double, const char*> workload_in(CountUnit unit) const {
    if (unit == CountUnit::samples) return {workload_samples(scenario), "samples"};
    if (unit == CountUnit::epochs) return {scenario.stop.epochs, "epochs"};
    return {expected_updates(scenario), "updates"};
  }

  // What is expected must be something the job can show.
  void check_expectations() const {
    for (const std::string key : {"expect.time_to_accuracy", "expect.p_reach"})
      if (given(key) && sound("stop.accuracy") && !scenario.stop.accuracy)
        error(key, fmt::format("`{}` needs a target: `stop.accuracy` is missing", key),
              "name the accuracy to reach, or expect something else");
    if (given("expect.final_accuracy") && sound("learner.kind") && scenario.learner.kind == LearnerKind::none)
      error("expect.final_accuracy", "a job with `learner: {kind: none}` has no accuracy to expect",
            "choose another learner");
  }
};

}  // namespace

bool workload_is_sound(const Reading& reading) {
  return all_sound(reading,
                   {"stop.epochs", "job.dataset.train_samples", "batching.initial", "cluster.workers"});
}

double workload_samples(const Scenario& scenario) {
  return scenario.stop.epochs * static_cast<double>(scenario.job.dataset.train_samples);
}

double expected_updates(const Scenario& scenario) {
  const double samples = workload_samples(scenario);
  const auto batch = static_cast<double>(scenario.batching.initial_samples);
  const std::size_t workers = scenario.cluster.workers.size();
  double updates = 0.0;
  double share_left = 1.0;
  for (const PhaseEntry& phase : scenario.synchronization) {
    const double share = std::min(share_left, phase.share.value_or(phase.length ? 0.0 : share_left));
    share_left -= share;
    const auto gradients = static_cast<double>(gradients_per_update(phase.config.policy, workers));
    updates += share * samples / (batch * gradients);
  }
  // Phases that are not shares: as many updates as there can be.
  return updates + share_left * samples / batch;
}

void check_work(const Scenario& scenario, const Reading& reading) {
  WorkRules(scenario, reading).check();
}

void check_scenario(const Scenario& scenario, const Reading& reading) {
  for (const auto rules : {check_job, check_learner, check_cluster, check_network, check_phases,
                           check_reaction, check_heterogeneity, check_batching, check_work})
    rules(scenario, reading);
  if (!reading.problems().has_errors()) check_no_effect(scenario, reading);
}

}  // namespace paceline
