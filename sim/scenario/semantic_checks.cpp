#include "sim/scenario/semantic_checks.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/policy/synchronization.hpp"
#include "sim/scenario/network_checks.hpp"
#include "sim/scenario/units.hpp"
#include "sim/scenario/value_kinds.hpp"

namespace paceline {
namespace {

constexpr double most_samples = 0x1p53;   // counted exactly in a double
constexpr double share_tolerance = 1e-9;  // 33.3 % + 66.7 % does not sum to 1 exactly in binary

std::string phase_path(std::size_t phase, const char* key) {
  return fmt::format("synchronization.{}.{}", phase, key);
}

bool all_sound(const Reading& reading, std::initializer_list<const char*> paths) {
  return std::all_of(paths.begin(), paths.end(), [&](const char* path) { return reading.is_sound(path); });
}

// Whether two keys were written in the same text. A variant that overrides the controller of its base leaves
// the other controller's keys behind on purpose.
bool same_source(const Reading& reading, const std::string& a, const std::string& b) {
  return reading.spot(a).source == reading.spot(b).source;
}

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

constexpr std::initializer_list<const char*> workload_keys{"stop.epochs", "job.dataset.train_samples",
                                                           "batching.initial", "cluster.workers"};

double workload_samples(const Scenario& scenario) {
  return scenario.stop.epochs * static_cast<double>(scenario.job.dataset.train_samples);
}

// An estimate of the workload in updates, from the batch sizes at the start.
double expected_updates(const Scenario& scenario, double samples) {
  const auto batch = static_cast<double>(scenario.batching.initial_samples);
  const auto workers = static_cast<double>(scenario.cluster.workers.size());
  double updates = 0.0;
  double share_left = 1.0;
  for (const PhaseEntry& phase : scenario.synchronization) {
    const double share = std::min(share_left, phase.share.value_or(phase.length ? 0.0 : share_left));
    share_left -= share;
    const SynchronizationRule& rule = rule_of(phase.config.policy);
    const double gradients = rule.gradients_per_update(workers, parameter_of(phase).value_or(1));
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
  if (!milestones.empty())
    check_reached(scenario, reading, milestones.back(), "milestone",
                  fmt::format("{}.milestones.{}", section, milestones.size() - 1));
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
    for (const char* key : {"job.optimizer.momentum_at", "job.optimizer.velocity_at_switch"})
      if (reading.is_given(key))
        problems.warning(reading.spot(key), fmt::format("`{}` has no effect: `momentum` is 0", key));
}

void check_optimizer(const Scenario& scenario, const Reading& reading) {
  const OptimizerConfig& optimizer = scenario.job.optimizer;
  Problems& problems = reading.problems();
  if (reading.is_sound("job.optimizer") && optimizer.nesterov && optimizer.momentum == 0.0)
    problems.error(reading.spot("job.optimizer.nesterov"), "`nesterov` needs `momentum` above 0", "");
  check_velocity(scenario, reading);
}

// How far a phase goes: by `share` or by `length`; only the last one may leave it open.
bool check_phase_length(const PhaseEntry& phase, std::size_t index, std::size_t count,
                        const Reading& reading) {
  Problems& problems = reading.problems();
  const std::string share = phase_path(index, "share");
  if (phase.share && phase.length) {
    problems.error(reading.spot(phase_path(index, "length")), "a phase has a `share` or a `length`, not both",
                   "remove one of them");
    return false;
  }
  if (phase.share || phase.length || index + 1 == count) return true;
  if (reading.is_given(share) || reading.is_given(phase_path(index, "length"))) return false;
  problems.error(
      reading.spot(share), "missing key `share`: another phase follows",
      "say what part of the job's samples this phase processes, for example `share: 25 %`, or its `length`");
  return false;
}

void check_shares(const Scenario& scenario, const Reading& reading) {
  const std::vector<PhaseEntry>& phases = scenario.synchronization;
  double sum = 0.0;
  bool all_are_shares = true;
  for (std::size_t i = 0; i < phases.size(); ++i) {
    const bool sound = check_phase_length(phases[i], i, phases.size(), reading) &&
                       all_sound(reading, {phase_path(i, "share").c_str(), phase_path(i, "length").c_str()});
    all_are_shares = all_are_shares && sound && phases[i].share.has_value();
    sum += phases[i].share.value_or(0.0);
  }
  const Spot last = reading.spot(phase_path(phases.size() - 1, "share"));
  if (all_are_shares && std::abs(sum - 1.0) > share_tolerance)
    reading.problems().error(
        last, fmt::format("the shares of the phases sum to {:.10g} %, not to 100 %", 100.0 * sum), "");
  else if (sum > 1.0 + share_tolerance)
    reading.problems().error(last, fmt::format("the shares of the phases sum to {:.10g} %", 100.0 * sum), "");
}

// Each policy has its own parameter, or none.
void check_parameters(const PhaseEntry& phase, std::size_t index, std::int64_t workers,
                      const Reading& reading) {
  Problems& problems = reading.problems();
  for (const SynchronizationRule& rule : synchronization_rules()) {
    if (!rule.parameter) continue;
    const std::string path = phase_path(index, std::string(rule.parameter->key).c_str());
    const bool is_given = reading.is_given(path);
    if (rule.kind != phase.config.policy) {
      if (is_given)
        problems.warning(reading.spot(path),
                         fmt::format("`{}` is only used by `policy: {}`", rule.parameter->key, rule.word));
      continue;
    }
    if (!is_given)
      problems.error(reading.spot(phase_path(index, "policy")),
                     fmt::format("`policy: {}` needs `{}`", rule.word, rule.parameter->key),
                     fmt::format("{}, for example `{}: {}`", rule.parameter->description, rule.parameter->key,
                                 std::max<std::int64_t>(rule.parameter->minimum, 1)));
    const std::optional<std::int64_t> value = parameter_of(phase);
    if (!is_given || !value || !reading.is_sound(path)) continue;
    const std::string complaint = rule.parameter->complaint(*value, workers);
    if (!complaint.empty()) problems.error(reading.spot(path), complaint, "");
  }
}

void check_policy(const Scenario& scenario, std::size_t index, const Reading& reading) {
  Problems& problems = reading.problems();
  const PhaseConfig& phase = scenario.synchronization[index].config;
  const std::string policy = phase_path(index, "policy");
  const std::string transport = phase_path(index, "transport");
  if (!all_sound(reading, {policy.c_str(), transport.c_str(), "cluster.workers"})) return;
  const auto workers = static_cast<std::int64_t>(scenario.cluster.workers.size());
  const bool is_all_reduce = phase.transport != Transport::server;
  const SynchronizationRule& rule = rule_of(phase.policy);
  if (is_all_reduce && !rule.combines_all_members)
    problems.error(reading.spot(transport), "an all-reduce needs `policy: bsp`: all workers must take part",
                   "write `transport: server`");
  if (is_all_reduce && workers < 2)
    problems.error(reading.spot(transport), "an all-reduce needs at least 2 workers",
                   "write `transport: server`");
  check_parameters(scenario.synchronization[index], index, workers, reading);
  if (scenario.cluster.servers.count > 1 && reading.is_sound("cluster.servers") &&
      !rule.decides_alike_on_every_server)
    problems.error(reading.spot(policy),
                   "this policy needs a single server: several could take different gradients",
                   "set `cluster.servers.count` to 1");
  if (phase.exchange == Exchange::parameters && !rule.may_exchange_parameters)
    problems.error(reading.spot(phase_path(index, "exchange")), "`exchange: parameters` needs `policy: asp`",
                   "remove `exchange`");
}

// A length may end the job early, or never be reached: both are said.
void check_lengths(const Scenario& scenario, const Reading& reading) {
  const std::vector<PhaseEntry>& phases = scenario.synchronization;
  if (phases.back().length)
    reading.problems().warning(reading.spot(phase_path(phases.size() - 1, "length")),
                               "the job ends with this phase, even if it has not processed `stop.epochs`",
                               "leave `length` out to go on to the end");
  double epochs = 0.0;
  for (std::size_t i = 0; i + 1 < phases.size(); ++i) {
    const auto* count = phases[i].length ? std::get_if<EpochCount>(&*phases[i].length) : nullptr;
    epochs += count != nullptr ? count->epochs : phases[i].share.value_or(0.0) * scenario.stop.epochs;
    if (count != nullptr && reading.is_sound("stop.epochs") && epochs >= scenario.stop.epochs)
      reading.problems().warning(
          reading.spot(phase_path(i, "length")),
          fmt::format("the phases after this one are never reached: the job ends at epoch {}",
                      scenario.stop.epochs));
  }
}

void check_phases(const Scenario& scenario, const Reading& reading) {
  if (!reading.is_sound("synchronization") && scenario.synchronization.empty()) return;
  check_shares(scenario, reading);
  check_lengths(scenario, reading);
  for (std::size_t i = 0; i < scenario.synchronization.size(); ++i) check_policy(scenario, i, reading);
  for (const char* key : {"switch_cost", "switch_cost_per_worker", "restart"})
    if (reading.is_given(phase_path(0, key)))
      reading.problems().warning(reading.spot(phase_path(0, key)),
                                 fmt::format("`{}` of the first phase is not used", key),
                                 "it is paid before a phase that follows another; see `start_up`");
}

void check_worker(std::uint64_t worker, const std::string& path, const Scenario& scenario,
                  const Reading& reading) {
  if (!all_sound(reading, {"cluster.workers", path.c_str()}) || worker < scenario.cluster.workers.size())
    return;
  reading.problems().error(
      reading.spot(path),
      fmt::format("there is no worker {}: they are 0 to {}", worker, scenario.cluster.workers.size() - 1),
      "");
}

bool has_duplicates(std::vector<std::uint64_t> workers) {
  std::sort(workers.begin(), workers.end());
  return std::adjacent_find(workers.begin(), workers.end()) != workers.end();
}

void check_level(const Level& level, const std::string& path, const Scenario& scenario,
                 const Reading& reading) {
  if (!reading.is_sound(path) || !reading.is_sound("cluster.workers")) return;
  Problems& problems = reading.problems();
  for (std::size_t i = 0; i < level.workers.size(); ++i)
    check_worker(level.workers[i], fmt::format("{}.workers.{}", path, i), scenario, reading);
  const std::size_t expected = level.workers.empty() ? scenario.cluster.workers.size() : level.workers.size();
  const auto check_list = [&](const char* key, std::size_t entries) {
    if (entries == 0 || entries == expected) return;
    problems.error(reading.spot(fmt::format("{}.{}", path, key)),
                   fmt::format("{} entries for {} workers", entries, expected), "write one for each worker");
  };
  check_list("speed", level.speeds.size());
  check_list("cores", level.cores.size());
  check_list("bandwidth", level.bandwidths.size());
  if (has_duplicates(level.workers))
    problems.error(reading.spot(path + ".workers"), "a worker is named twice", "");
  if (level.speeds.empty() && level.cores.empty() && level.bandwidths.empty())
    problems.error(reading.spot(path), "a level that changes nothing",
                   "give `speed`, `cores` or `bandwidth`");
}

// Scripted and random stragglers alike.
template <class AnyStraggler>
void check_straggling(const AnyStraggler& straggler, const std::string& path, const Reading& reading) {
  if (!reading.is_sound(path)) return;
  if (straggler.slowdown == 1.0 && straggler.round_trips * straggler.added_latency == Seconds{})
    reading.problems().error(reading.spot(path), "a straggler that is not slower",
                             "give `slowdown`, or `added_latency` with `round_trips` above 0");
  if (reading.is_given(path + ".round_trips") && straggler.added_latency == Seconds{})
    reading.problems().warning(reading.spot(path + ".round_trips"),
                               "`round_trips` is not used without `added_latency`");
}

double amount_of(const Moment& moment) {
  struct Amount {
    double operator()(Seconds date) const { return date.value(); }
    double operator()(AtEpoch at) const { return at.epoch; }
    double operator()(AtProgress at) const { return at.fraction; }
  };
  return std::visit(Amount{}, moment);
}

void check_membership(const Scenario& scenario, const Reading& reading) {
  const std::vector<MembershipChange>& membership = scenario.heterogeneity.changes.membership;
  if (!membership.empty() && scenario.cluster.servers.count > 1)
    reading.problems().error(reading.spot("heterogeneity.membership"),
                             "workers that leave or join need a single server",
                             "set `cluster.servers.count` to 1");
  std::vector<const MembershipChange*> last(scenario.cluster.workers.size(), nullptr);
  for (std::size_t i = 0; i < membership.size(); ++i) {
    const MembershipChange& change = membership[i];
    const std::string path = fmt::format("heterogeneity.membership.{}", i);
    check_worker(change.worker, path + ".worker", scenario, reading);
    if (!reading.is_sound(path) || change.worker >= last.size()) continue;
    const MembershipChange*& before = last[change.worker];
    if (before != nullptr && before->event == change.event)
      reading.problems().error(reading.spot(path),
                               fmt::format("worker {} is {} already", change.worker,
                                           change.event == MembershipEvent::joins ? "there" : "gone"),
                               "its changes must alternate, in the order they happen");
    else if (amount_of(change.at) <= 0.0)
      reading.problems().error(
          reading.spot(path + ".at"), "the job has not begun yet",
          "a worker whose first event is to join is absent at the start; leave out one that never "
          "takes part");
    else if (before != nullptr && before->at.index() == change.at.index() &&
             amount_of(change.at) <= amount_of(before->at))
      reading.problems().error(reading.spot(path + ".at"),
                               fmt::format("the changes of worker {} must follow each other", change.worker),
                               "write them in the order they happen");
    before = &change;
  }
}

void check_heterogeneity(const Scenario& scenario, const Reading& reading) {
  const Heterogeneity& changes = scenario.heterogeneity.changes;
  for (std::size_t i = 0; i < changes.schedule.size(); ++i)
    check_level(changes.schedule[i], fmt::format("heterogeneity.schedule.{}", i), scenario, reading);
  for (std::size_t i = 0; i < changes.stragglers.size(); ++i) {
    const std::string path = fmt::format("heterogeneity.stragglers.{}", i);
    check_worker(changes.stragglers[i].worker, path + ".worker", scenario, reading);
    check_straggling(changes.stragglers[i], path, reading);
  }
  if (changes.random_stragglers)
    check_straggling(*changes.random_stragglers, "heterogeneity.random_stragglers", reading);
  if (reading.is_sound("cluster.workers")) check_membership(scenario, reading);
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

void check_bounds(const Scenario& scenario, const Reading& reading) {
  const BatchingConfig& batching = scenario.batching;
  Problems& problems = reading.problems();
  if (!all_sound(reading,
                 {"batching.controller", "batching.initial", "batching.minimum", "batching.maximum"}))
    return;
  const bool used = batching.controller != BatchControllerKind::uniform;
  const auto place = [&](const char* bound) {
    return reading.spot(reading.is_given(bound) ? bound : "batching.initial");
  };
  const std::string initial = fmt::format("`initial` ({})", batching.initial_samples);
  if ((used || reading.is_given("batching.minimum")) && batching.minimum_samples > batching.initial_samples)
    problems.error(place("batching.minimum"),
                   fmt::format("`minimum` ({}) is above {}", batching.minimum_samples, initial), "");
  if ((used || reading.is_given("batching.maximum")) && batching.maximum_samples < batching.initial_samples)
    problems.error(place("batching.maximum"),
                   fmt::format("`maximum` ({}{}) is below {}", batching.maximum_samples,
                               reading.is_given("batching.maximum") ? "" : ", the default", initial),
                   "");
}

void check_unused_batching_keys(const Scenario& scenario, const Reading& reading) {
  const std::string controller = "batching.controller";
  if (!reading.is_sound(controller) || scenario.batching.controller == BatchControllerKind::dynamic) return;
  for (const char* key : {"batching.dead_band", "batching.smoothing", "batching.adjust_every"})
    if (reading.is_given(key) && same_source(reading, key, controller))
      reading.problems().warning(reading.spot(key),
                                 fmt::format("`{}` is only used by `controller: dynamic`", key));
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
  check_learner(scenario, reading);
  check_optimizer(scenario, reading);
  check_network(scenario, reading);
  check_schedule(scenario, reading);
  check_phases(scenario, reading);
  check_heterogeneity(scenario, reading);
  check_evaluation_cost(scenario, reading);
  check_bounds(scenario, reading);
  check_unused_batching_keys(scenario, reading);
  check_workload(scenario, reading);
  check_expectations(scenario, reading);
}

}  // namespace paceline
