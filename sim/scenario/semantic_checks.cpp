#include "sim/scenario/semantic_checks.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

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

void check_learner(const Scenario& scenario, const Reading& reading) {
  Problems& problems = reading.problems();
  if (!reading.is_sound("learner.kind")) return;
  const Spot learner = reading.spot("learner.kind");
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
  for (const PhaseConfig& phase : scenario.synchronization)
    updates += phase.share * samples / (phase.policy == SynchronizationKind::bsp ? batch * workers : batch);
  return updates;
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

void check_optimizer(const Scenario& scenario, const Reading& reading) {
  const OptimizerConfig& optimizer = scenario.job.optimizer;
  Problems& problems = reading.problems();
  if (reading.is_sound("job.optimizer") && optimizer.nesterov && optimizer.momentum == 0.0)
    problems.error(reading.spot("job.optimizer.nesterov"), "`nesterov` needs `momentum` above 0", "");
}

void check_shares(const Scenario& scenario, const Reading& reading) {
  const std::vector<PhaseConfig>& phases = scenario.synchronization;
  Problems& problems = reading.problems();
  double sum = 0.0;
  bool complete = true;
  for (std::size_t i = 0; i < phases.size(); ++i) {
    const std::string path = phase_path(i, "share");
    if (phases.size() > 1 && !reading.is_given(path)) {
      problems.error(reading.spot(path), "missing key `share`: there are several phases",
                     "say what part of the job's samples this phase processes, for example `share: 25 %`");
      complete = false;
    }
    complete = complete && reading.is_sound(path);
    sum += phases[i].share;
  }
  if (complete && std::abs(sum - 1.0) > share_tolerance)
    problems.error(reading.spot(phase_path(phases.size() - 1, "share")),
                   fmt::format("the shares of the phases sum to {:.10g} %, not to 100 %", 100.0 * sum), "");
}

void check_phases(const Scenario& scenario, const Reading& reading) {
  Problems& problems = reading.problems();
  if (!reading.is_sound("synchronization") && scenario.synchronization.empty()) return;
  check_shares(scenario, reading);
  for (std::size_t i = 0; i < scenario.synchronization.size(); ++i) {
    const PhaseConfig& phase = scenario.synchronization[i];
    const std::string transport = phase_path(i, "transport");
    const bool ring = reading.is_sound(transport) && phase.transport == Transport::ring;
    if (ring && reading.is_sound(phase_path(i, "policy")) && phase.policy != SynchronizationKind::bsp)
      problems.error(reading.spot(transport), "a ring needs `policy: bsp`: all workers must take part",
                     "write `transport: server`");
    if (ring && reading.is_sound("cluster.workers") && scenario.cluster.workers.size() < 2)
      problems.error(reading.spot(transport), "a ring needs at least 2 workers", "write `transport: server`");
  }
  if (reading.is_given(phase_path(0, "switch_cost")))
    problems.warning(reading.spot(phase_path(0, "switch_cost")),
                     "`switch_cost` of the first phase is not used",
                     "it is paid before a phase that follows another");
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

}  // namespace

void check_scenario(const Scenario& scenario, const Reading& reading) {
  check_dataset(scenario, reading);
  check_learner(scenario, reading);
  check_optimizer(scenario, reading);
  check_schedule(scenario, reading);
  check_phases(scenario, reading);
  check_bounds(scenario, reading);
  check_unused_batching_keys(scenario, reading);
  check_workload(scenario, reading);
}

}  // namespace paceline
