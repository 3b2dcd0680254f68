#include "sim/scenario/checks/semantic_checks.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "sim/policy/synchronization/synchronization.hpp"
#include "sim/scenario/checks/network_checks.hpp"
#include "sim/scenario/checks/semantic_check_parts.hpp"
#include "sim/scenario/sections/scenario_kinds.hpp"

namespace paceline {
namespace {

constexpr double most_samples = 0x1p53;  // counted exactly in a double

void check_dataset(const Scenario& scenario, const Reading& reading) {
  const DatasetSource& dataset = scenario.job.dataset;
  Problems& problems = reading.problems();
  if (!all_sound(reading, {"job.dataset.kind", "job.dataset.path"})) return;
  const bool built_in = dataset.kind == "built-in-images";
  if (!built_in && dataset.path.empty())
    problems.error(reading.spot("job.dataset.kind"), fmt::format("dataset `{}` needs `path`", dataset.kind),
                   "give the folder of its files, relative to this file");
  if (built_in && !dataset.path.empty())
    problems.error(reading.spot("job.dataset.path"), "built-in-images are generated: `path` has no meaning",
                   "remove `path`, or choose another `kind`");
}

void check_partition(const Scenario& scenario, const Reading& reading) {
  const DatasetSource& dataset = scenario.job.dataset;
  if (!all_sound(reading, {"job.dataset", "cluster.workers"})) return;
  const auto workers = static_cast<std::int64_t>(scenario.cluster.workers.size());
  if (dataset.partition == DataPartition::equal_shards && dataset.train_samples < workers)
    reading.problems().error(
        reading.spot("job.dataset.partition"),
        fmt::format("{} training samples do not make {} shards", dataset.train_samples, workers),
        "raise `train_samples`, or write `partition: whole`");
}

bool has_model(LearnerKind kind) {
  return kind == LearnerKind::statistical || kind == LearnerKind::assumed;
}

void check_learner_model(const Scenario& scenario, const Reading& reading) {
  Problems& problems = reading.problems();
  const bool given = reading.is_given("learner.model");
  const bool needed = has_model(scenario.learner.kind);
  if (needed && !given)
    problems.error(reading.spot("learner"), "missing key `model`: this kind of learner is read from a file",
                   "for example `model: learners/resnet32-cifar10.json`; `paceline fit` writes such files");
  if (!needed && given)
    problems.warning(reading.spot("learner.model"),
                     "`model` is only used by the learners `statistical` and `assumed`");
  if (!needed) return;
  for (std::size_t i = 0; i < scenario.synchronization.size(); ++i)
    if (scenario.synchronization[i].config.exchange == Exchange::parameters)
      problems.error(reading.spot(fmt::format("synchronization.{}.exchange", i)),
                     "this learner knows gradients only, not the exchange of parameters",
                     "write `exchange: gradients`, or use the learner `network`");
}

void check_learner(const Scenario& scenario, const Reading& reading) {
  Problems& problems = reading.problems();
  if (!reading.is_sound("learner.kind")) return;
  const Spot learner = reading.spot("learner.kind");
  check_learner_model(scenario, reading);
  if (has_model(scenario.learner.kind)) return;
  if (scenario.learner.kind == LearnerKind::none) {
    if (reading.is_sound("stop.accuracy") && scenario.stop.accuracy)
      problems.error(reading.spot("stop.accuracy"),
                     "a job with `learner: {kind: none}` has no accuracy to reach",
                     "remove `stop.accuracy`, or choose another learner");
    return;
  }
  if (!reading.is_sound("job.dataset")) return;
  if (!reading.is_given("job.dataset.kind"))
    problems.error(learner, "`kind: network` needs `job.dataset.kind`",
                   "for example `dataset: {kind: built-in-images, ...}`");
  if (scenario.job.dataset.test_samples == 0)
    problems.error(learner, "`kind: network` needs `job.dataset.test_samples` above 0",
                   "accuracy is measured on them");
}

void check_quotas(const Scenario& scenario, const Reading& reading) {
  for (std::size_t w = 0; w < scenario.cluster.workers.size(); ++w) {
    const Worker& worker = scenario.cluster.workers[w];
    const std::string path = fmt::format("cluster.workers.{}", w);
    if (!reading.is_sound(path) || !worker.quota || worker.quota->cores < worker.cores) continue;
    reading.problems().warning(reading.spot(path + ".quota"),
                               fmt::format("a quota of {:g} cores never holds up a worker that has {}",
                                           worker.quota->cores, worker.cores));
  }
}

void check_random_streams(const Scenario& scenario, const Reading& reading) {
  if (!reading.is_sound("cluster.workers")) return;
  const std::vector<std::uint32_t> streams = random_streams(scenario.cluster.workers);
  std::map<std::uint32_t, std::size_t> owners;
  for (std::size_t w = 0; w < streams.size(); ++w) {
    const auto [other, is_new] = owners.emplace(streams[w], w);
    if (is_new) continue;
    const std::size_t stated = scenario.cluster.workers[w].random_stream ? w : other->second;
    reading.problems().error(
        reading.spot(fmt::format("cluster.workers.{}.random_stream", stated)),
        fmt::format("workers {} and {} have the same random stream, {}, and so the same luck", other->second,
                    w, streams[w]),
        "give each worker one of its own; without `random_stream` it is its place in the list, from 0");
  }
}

constexpr std::initializer_list<const char*> workload_keys{"stop.epochs", "job.dataset.train_samples",
                                                           "batching.initial", "cluster.workers"};

double workload_samples(const Scenario& scenario) {
  return scenario.stop.epochs * static_cast<double>(scenario.job.dataset.train_samples);
}

// An estimate of the workload in updates, from the batch sizes at the start.
double expected_updates(const Scenario& scenario, double samples) {
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

// Warns of a point of the schedule that lies at the end of the job or after it.
void check_reached(const Scenario& scenario, const Reading& reading, double point, const char* what,
                   const std::string& key) {
  const LearningRateSchedule& schedule = scenario.job.optimizer.schedule;
  const std::string printed = SchedulePoint{schedule.basis}.print(point);
  const auto warn = [&](const std::string& end) {
    reading.problems().warning(reading.spot(key),
                               fmt::format("{} {} is never reached: {}", what, printed, end));
  };
  switch (schedule.basis) {
    case ScheduleBasis::epoch:
      if (reading.is_sound("stop.epochs") && point >= scenario.stop.epochs)
        warn(fmt::format("the job ends at epoch {}", scenario.stop.epochs));
      break;
    case ScheduleBasis::progress:
      if (point >= 1.0) warn("there the job ends");
      break;
    case ScheduleBasis::step: {
      if (!all_sound(reading, workload_keys) || !reading.is_sound("synchronization")) return;
      const double updates = expected_updates(scenario, workload_samples(scenario));
      if (point >= updates) warn(fmt::format("the job has about {:.0f} updates", updates));
    }
  }
}

void check_schedule(const Scenario& scenario, const Reading& reading) {
  const std::string section = "job.learning_rate_schedule";
  if (!reading.is_sound(section)) return;
  const LearningRateSchedule& schedule = scenario.job.optimizer.schedule;
  const std::vector<double>& milestones = schedule.milestones;
  const SchedulePoint kind{schedule.basis};
  for (std::size_t i = 1; i < milestones.size(); ++i)
    if (milestones[i] <= milestones[i - 1])
      reading.problems().error(reading.spot(fmt::format("{}.milestones.{}", section, i)),
                               fmt::format("milestones must ascend: {} follows {}", kind.print(milestones[i]),
                                           kind.print(milestones[i - 1])),
                               "");
  for (std::size_t i = 0; i < milestones.size(); ++i)
    check_reached(scenario, reading, milestones[i], "milestone", fmt::format("{}.milestones.{}", section, i));
  if (schedule.warmup)
    check_reached(scenario, reading, *schedule.warmup, "the end of the warm-up at", section + ".warmup");
}

void check_velocity(const Scenario& scenario, const Reading& reading) {
  const OptimizerConfig& optimizer = scenario.job.optimizer;
  Problems& problems = reading.problems();
  const std::string rule = "job.optimizer.velocity_at_switch";
  const std::string factor = "job.optimizer.velocity_scale";
  if (!reading.is_sound("job.optimizer")) return;
  const bool scales = optimizer.velocity_at_switch == VelocityAtSwitch::scale;
  if (scales && !optimizer.velocity_scale)
    problems.error(reading.spot(rule), "`velocity_at_switch: scale` needs `velocity_scale`",
                   "for example `velocity_scale: 0.125`");
  if (!scales && optimizer.velocity_scale && (!reading.is_given(rule) || same_source(reading, rule, factor)))
    problems.warning(reading.spot(factor), "`velocity_scale` is only used by `velocity_at_switch: scale`");
  if (optimizer.momentum == 0.0)
    for (const char* key : {"job.optimizer.momentum_at", "job.optimizer.velocity_at_switch",
                            "job.optimizer.momentum_at_switch"})
      if (reading.is_given(key))
        problems.warning(reading.spot(key), fmt::format("`{}` has no effect: `momentum` is 0", key));
}

void check_momentum_at_switch(const Scenario& scenario, const Reading& reading) {
  const MomentumAtSwitch& at_switch = scenario.job.optimizer.momentum_at_switch;
  const std::string rule = "job.optimizer.momentum_at_switch";
  const std::string stage = "job.optimizer.momentum_stage";
  if (!reading.is_sound("job.optimizer")) return;
  if (has_stages(at_switch.rule) && !at_switch.stage)
    reading.problems().error(reading.spot(rule), "this rule needs `momentum_stage`: how long a stage lasts",
                             "for example `momentum_stage: 1 epochs`");
  if (!has_stages(at_switch.rule) && at_switch.stage &&
      (!reading.is_given(rule) || same_source(reading, rule, stage)))
    reading.problems().warning(
        reading.spot(stage),
        "`momentum_stage` is only used by `momentum_at_switch: scaled-until`, `staged` or `additive`");
}

void check_optimizer(const Scenario& scenario, const Reading& reading) {
  const OptimizerConfig& optimizer = scenario.job.optimizer;
  Problems& problems = reading.problems();
  if (reading.is_sound("job.optimizer") && optimizer.nesterov && optimizer.momentum == 0.0)
    problems.error(reading.spot("job.optimizer.nesterov"), "`nesterov` needs `momentum` above 0", "");
  check_velocity(scenario, reading);
  check_momentum_at_switch(scenario, reading);
}

void check_evaluation_cost(const Scenario& scenario, const Reading& reading) {
  if (!reading.is_sound("evaluation")) return;
  const bool is_free = scenario.evaluation.who_pays == EvaluationPayer::free;
  if (!is_free && !reading.is_given("evaluation.cost"))
    reading.problems().error(reading.spot("evaluation.who_pays"), "`who_pays` needs `cost` here",
                             "the time of one evaluation, for example `cost: 2 s`");
  if (is_free && reading.is_given("evaluation.cost"))
    reading.problems().warning(reading.spot("evaluation.cost"), "`cost` is not used by `who_pays: free`");
}

void check_workload(const Scenario& scenario, const Reading& reading) {
  if (!all_sound(reading, workload_keys)) return;
  Problems& problems = reading.problems();
  const double samples = workload_samples(scenario);
  const double global_batch = static_cast<double>(scenario.batching.initial_samples) *
                              static_cast<double>(scenario.cluster.workers.size());
  if (samples > most_samples)
    problems.error(reading.spot("stop.epochs"),
                   fmt::format("the workload of {:g} samples cannot be counted", samples),
                   "lower `stop.epochs` or `job.dataset.train_samples`");
  if (samples < global_batch)
    problems.error(
        reading.spot("stop.epochs"),
        fmt::format("the workload ({} samples) is less than one batch on every worker ({} samples)", samples,
                    global_batch),
        "raise `stop.epochs` or `job.dataset.train_samples`, or lower `batching.initial`");
  if (!all_sound(reading, {"evaluation.every", "synchronization"})) return;
  const Count& every = scenario.evaluation.every;
  const double workload = every.unit == CountUnit::samples  ? samples
                          : every.unit == CountUnit::epochs ? scenario.stop.epochs
                                                            : expected_updates(scenario, samples);
  const char* unit = every.unit == CountUnit::samples  ? "samples"
                     : every.unit == CountUnit::epochs ? "epochs"
                                                       : "updates";
  if (every.value > workload)
    problems.error(
        reading.spot("evaluation.every"),
        fmt::format("the job ends before its first evaluation: it has only {:.10g} {}", workload, unit),
        "evaluate more often");
}

// What is expected must be something the job can show.
void check_expectations(const Scenario& scenario, const Reading& reading) {
  Problems& problems = reading.problems();
  for (const char* key : {"expect.time_to_accuracy", "expect.p_reach"})
    if (reading.is_given(key) && reading.is_sound("stop.accuracy") && !scenario.stop.accuracy)
      problems.error(reading.spot(key), fmt::format("`{}` needs a target: `stop.accuracy` is missing", key),
                     "name the accuracy to reach, or expect something else");
  if (reading.is_given("expect.final_accuracy") && reading.is_sound("learner.kind") &&
      scenario.learner.kind == LearnerKind::none)
    problems.error(reading.spot("expect.final_accuracy"),
                   "a job with `learner: {kind: none}` has no accuracy to expect", "choose another learner");
}

}  // namespace

void check_scenario(const Scenario& scenario, const Reading& reading) {
  check_dataset(scenario, reading);
  check_partition(scenario, reading);
  check_learner(scenario, reading);
  check_optimizer(scenario, reading);
  check_quotas(scenario, reading);
  check_random_streams(scenario, reading);
  check_network(scenario, reading);
  check_schedule(scenario, reading);
  check_phases(scenario, reading);
  check_reaction(scenario, reading);
  check_heterogeneity(scenario, reading);
  check_evaluation_cost(scenario, reading);
  check_batching(scenario, reading);
  check_workload(scenario, reading);
  check_expectations(scenario, reading);
  check_no_effect(scenario, reading);
}

}  // namespace paceline
