// Rules that join `batching`, `evaluation`, `stop` and `expect` with the rest; keys without effect; and the
// order in which all rules are looked at.
#include <cmath>
#include <optional>

#include "sim/policy/synchronization/synchronization.hpp"
#include "sim/scenario/checks/check.hpp"

namespace paceline {
namespace {

constexpr double most_samples = 0x1p53;  // counted exactly in a double

class BatchingRules : Rules {
 public:
  using Rules::Rules;

  void check() const {
    if (sound("batching.controller", "batching.initial", "batching.minimum", "batching.maximum"))
      check_bounds();
    if (!sound("batching")) return;
    check_dead_band();
    check_flops();
    check_policies();
  }

 private:
  const BatchingConfig& batching = scenario.batching;

  void check_bounds() const {
    const std::string minimum = "batching.minimum";
    const std::string maximum = "batching.maximum";
    const bool used = batching.controller->is_bounded;
    const auto place = [&](const std::string& bound) { return given(bound) ? bound : "batching.initial"; };
    const std::string initial = fmt::format("`initial` ({})", batching.initial_samples);
    if ((used || given(minimum)) && batching.minimum_samples > batching.initial_samples)
      error(place(minimum), fmt::format("`minimum` ({}) is above {}", batching.minimum_samples, initial));
    if ((used || given(maximum)) && batching.maximum_samples < batching.initial_samples)
      error(place(maximum), fmt::format("`maximum` ({}{}) is below {}", batching.maximum_samples,
                                        given(maximum) ? "" : ", the default", initial));
  }

  // Without a dead-band the slightest difference of two times changes batches at every look.
  void check_dead_band() const {
    const auto dead_band = batching.controller.parameters().value("dead_band");
    if (dead_band && number_of(*dead_band) <= 0.0 &&
        (scenario.jitter.iteration_cv != 0.0 ||
         scenario.jitter.iteration_fixed.value_or(Seconds{}) > Seconds{}))
      warn("batching.dead_band",
           "a dead-band of 0 with jitter: every look changes batches, whether the workers' speeds have "
           "changed or not");
  }

  void check_flops() const {
    const bool uses_shares = batching.controller->uses_shares || batching.start == StartBatches::shares;
    if (!uses_shares || batching.shares != ShareBasis::flops || !sound("cluster.workers")) return;
    for (std::size_t w = 0; w < scenario.cluster.workers.size(); ++w)
      if (!scenario.cluster.workers[w].flops)
        error(fmt::format("cluster.workers.{}", w), "`batching.shares: flops` needs `flops` of every worker",
              "for example `flops: 2 TFLOP/s`");
  }

  void check_policies() const {
    if (batching.controller->allows_partial_waiting || !sound("synchronization")) return;
    for (std::size_t i = 0; i < scenario.synchronization.size(); ++i)
      if (scenario.synchronization[i].config.policy->waits_for == WaitsFor::some)
        error(in_phase(i, "policy"),
              fmt::format("`controller: {}` is defined for bsp and asp only", batching.controller->word),
              "choose another batch controller, for example proportional-repair");
  }
};

class WorkRules : Rules {
 public:
  using Rules::Rules;

  void check() const {
    if (sound("evaluation")) check_evaluation_cost();
    if (workload_is_sound()) check_workload();
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
    const double samples = workload_samples();
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
    if (unit == CountUnit::samples) return {workload_samples(), "samples"};
    if (unit == CountUnit::epochs) return {scenario.stop.epochs, "epochs"};
    return {expected_updates(), "updates"};
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

// Keys that are sound, are read, and change nothing in this job: each gets a warning at its place.
class EffectRules : Rules {
 public:
  using Rules::Rules;

  void check() const {
    check_learner();
    check_statistical_learner();
    check_batches();
    check_weighting();
    check_synchronous_costs();
    check_single_phase();
    check_momentum_of_local_training();
    check_staleness_weights();
    if (given("stop.evaluations_in_a_row") && !scenario.stop.accuracy)
      warn_idle("stop.evaluations_in_a_row", "no `stop.accuracy` is to be reached");
    const Heterogeneity& changes = scenario.heterogeneity.changes;
    for (std::size_t i = 0; i < changes.schedule.size(); ++i)
      check_moment(changes.schedule[i].at, fmt::format("heterogeneity.schedule.{}.at", i));
    for (std::size_t i = 0; i < changes.stragglers.size(); ++i)
      check_moment(changes.stragglers[i].from, fmt::format("heterogeneity.stragglers.{}.from", i));
    for (std::size_t i = 0; i < changes.membership.size(); ++i)
      check_moment(changes.membership[i].at, fmt::format("heterogeneity.membership.{}.at", i));
  }

 private:
  void warn_idle(const std::string& path, const std::string& why, std::string hint = {}) const {
    const std::string key = path.substr(path.rfind('.') + 1);
    warn_without_effect(path, fmt::format("`{}` has no effect: {}", key, why), std::move(hint));
  }

  // Bases have a learning rate and test samples whoever learns; who varies them expects an effect.
  void check_learner() const {
    const LearnerKind kind = scenario.learner.kind;
    std::vector<std::string> idle;
    if (kind == LearnerKind::none)
      for (const char* section : {"job.optimizer", "job.learning_rate_schedule"})
        std::ranges::move(varied_below(section), std::back_inserter(idle));
    if (kind != LearnerKind::network)
      for (std::string& path : varied_below("job.dataset"))
        if (path.ends_with(".test_samples")) idle.push_back(std::move(path));
    for (const std::string& path : idle)
      warn_idle(path, kind == LearnerKind::none ? "nothing learns in this job (`learner: {kind: none}`)"
                                                : "only the learner `network` trains on samples");
  }

  // No statistical form reads these: they are part of what its recorded runs did.
  void check_statistical_learner() const {
    const LearnerKind kind = scenario.learner.kind;
    if (kind != LearnerKind::statistical && kind != LearnerKind::assumed) return;
    const OptimizerConfig& optimizer = scenario.job.optimizer;
    const std::pair<std::string, bool> keys[] = {
        {"job.optimizer.nesterov", optimizer.nesterov},
        {"job.optimizer.weight_decay", optimizer.weight_decay != 0.0},
        {"job.optimizer.momentum_at", optimizer.momentum_at == MomentumPlace::workers},
        {"job.optimizer.batch_norm", true}};
    for (const auto& [key, would_matter] : keys)
      if (would_matter && meant(key, "learner.kind"))
        warn_idle(key, "this learner only knows what its recorded runs did",
                  "remove it, or use the learner `network`");
  }

  void check_batches() const {
    const BatchingConfig& batching = scenario.batching;
    const std::string_view word = batching.controller->word;
    const bool uses_shares = batching.controller->uses_shares || batching.start == StartBatches::shares;
    for (const std::string& key : varied_below("batching")) {
      if (!batching.controller->is_bounded && (key.ends_with(".minimum") || key.ends_with(".maximum")))
        warn_idle(key, fmt::format("`controller: {}` keeps `initial`", word));
      if (!uses_shares && key.ends_with(".shares"))
        warn_idle(key, fmt::format("`controller: {}` has no fixed shares", word));
    }
  }

  void check_weighting() const {
    const std::string weighting = "batching.weighting";
    if (!meant(weighting, "synchronization")) return;
    for (const PhaseEntry& phase : scenario.synchronization)
      if (gradients_per_update(phase.config.policy, scenario.cluster.workers.size()) > 1) return;
    warn_idle(weighting, "every update is one gradient, there is nothing to weigh");
  }

  void check_synchronous_costs() const {
    const std::string phases = "synchronization";
    const auto is_synchronous = [](const PhaseEntry& phase) {
      return make_synchronization(phase.config.policy)->is_synchronous();
    };
    if (meant("coordination", phases) && std::ranges::none_of(scenario.synchronization, is_synchronous))
      return warn_idle("coordination", "no phase is synchronous");
    const Heterogeneity& changes = scenario.heterogeneity.changes;
    const auto delays = [](const auto& straggler) { return straggler.added_latency > Seconds{}; };
    // A base may say how its coordinator works whether or not somebody straggles.
    const std::string round_trips = "coordination.round_trips";
    if (reading_.is_override(round_trips) && std::ranges::none_of(changes.stragglers, delays) &&
        !(changes.random_stragglers && delays(*changes.random_stragglers)))
      warn_idle(round_trips, "no straggler has an `added_latency`");
  }

  void check_single_phase() const {
    if (scenario.synchronization.size() > 1) return;
    for (const std::string key : {"job.optimizer.velocity_at_switch", "job.optimizer.momentum_at_switch"})
      if (meant(key, "synchronization")) warn_idle(key, "there is a single phase, and so no switch");
  }

  void check_momentum_of_local_training() const {
    const auto is_local = [](const PhaseEntry& phase) { return phase.config.local.has_value(); };
    const std::string place = "job.optimizer.momentum_at";
    if (meant(place, "synchronization") && std::ranges::all_of(scenario.synchronization, is_local))
      warn_idle(place, "every worker that trains locally has a velocity of its own",
                "the one of the differences is `local.outer.momentum`");
  }

  void check_staleness_weights() const {
    for (std::size_t i = 0; i < scenario.synchronization.size(); ++i) {
      const PhaseConfig& phase = scenario.synchronization[i].config;
      const std::string place = in_phase(i, "staleness_weight");
      if (phase.staleness_weight.rule != StalenessRule::none && meant(place, in_phase(i, "policy")) &&
          make_synchronization(phase.policy)->is_synchronous())
        warn_idle(place, fmt::format("under `policy: {}` no gradient is stale", phase.policy->word));
    }
  }

  void check_moment(const Moment& moment, const std::string& path) const {
    const auto* epoch = std::get_if<AtEpoch>(&moment);
    const auto* progress = std::get_if<AtProgress>(&moment);
    if ((epoch != nullptr && epoch->epoch >= scenario.stop.epochs) ||
        (progress != nullptr && progress->fraction >= 1.0))
      warn(path, fmt::format("this never happens: the job ends at epoch {}", scenario.stop.epochs));
  }
};

// Local steps behind each gradient of an update, at least: by speed only the fastest worker is sure to take
// all of them.
double steps_per_update(const LocalTraining& local, std::size_t workers) {
  const auto most = static_cast<double>(local.steps_between_exchanges());
  const auto least = local.by_speed ? static_cast<double>(local.least) : most;
  const auto others = static_cast<double>(workers - 1);
  return (most + others * least) / (1.0 + others) * static_cast<double>(local.outer.every);
}

}  // namespace

double Rules::expected_updates() const {
  const double samples = workload_samples();
  const auto batch = static_cast<double>(scenario.batching.initial_samples);
  const std::size_t workers = scenario.cluster.workers.size();
  double updates = 0.0;
  double share_left = 1.0;
  for (const PhaseEntry& phase : scenario.synchronization) {
    const double share = std::min(share_left, phase.share.value_or(phase.length ? 0.0 : share_left));
    share_left -= share;
    const auto gradients = static_cast<double>(gradients_per_update(phase.config.policy, workers));
    const double single_steps = share * samples / (batch * gradients);
    const std::optional<LocalTraining>& local = phase.config.local;
    updates += local ? std::ceil(single_steps / steps_per_update(*local, workers)) : single_steps;
  }
  // Phases that are not shares: as many updates as there can be.
  return updates + share_left * samples / batch;
}

void check_scenario(const Scenario& scenario, const Reading& reading) {
  for (const auto rules : {check_job, check_cluster, check_network, check_phases, check_local_training})
    rules(scenario, reading);
  BatchingRules(scenario, reading).check();
  WorkRules(scenario, reading).check();
  if (!reading.problems().has_errors()) EffectRules(scenario, reading).check();
}

}  // namespace paceline
