// The one description of what a scenario file may hold. Reading, printing and the JSON schema are visitors of
// it, so they cannot disagree.
//
// A visitor offers
//   required(key, member, kind, description)
//   optional(key, member, kind, description)                absent: the member keeps its initial value
//   optional(key, member, kind, description, SameAs{...})   absent: the member takes another key's value
//   optional(key, member, kind, description, Absent{"what then happens"})
//                                                           absent: an empty std::optional or std::string
// Rules that join several keys are in semantic_checks.hpp.
#pragma once

#include <limits>
#include <string_view>

#include "sim/scenario/scenario.hpp"
#include "sim/scenario/value_kinds.hpp"

namespace paceline {

// What is used when a key is absent, in words.
struct Absent {
  std::string_view meaning;
};
template <class T>
struct SameAs {
  std::string_view key;  // described before this one
  const T& value;
};

inline constexpr std::size_t maximum_workers = 1U << 24U;  // a random stream's entity has 24 bits

template <class Visitor>
void describe(Visitor& v, DatasetSource& c) {
  v.optional(
      "kind", c.kind,
      Choice<std::string>{{{"built-in-images", "built-in-images"},
                           {"cifar10", "cifar10"},
                           {"cifar100", "cifar100"},
                           {"mnist", "mnist"}}},
      "the generator of labelled images, or the format of the files; required by the learner `network`");
  v.optional("path", c.path, Path{}, "folder of the files; for every kind but built-in-images",
             Absent{"no files"});
  v.required("train_samples", c.train_samples, Whole<std::int64_t>{1},
             "training samples used; one epoch is one pass over them");
  v.optional("test_samples", c.test_samples, Whole<std::int64_t>{0},
             "held-out samples of an evaluation; required by the learner `network`");
}

template <class Visitor>
void describe(Visitor& v, LearningRateSchedule& c) {
  v.required(
      "basis", c.basis,
      Choice<ScheduleBasis>{{{"epoch", ScheduleBasis::epoch},
                             {"progress", ScheduleBasis::progress},
                             {"step", ScheduleBasis::step}}},
      "epoch: passes over the training samples; progress: percent of the workload; step: updates applied");
  v.required("milestones", c.milestones, ListOf<SchedulePoint>{{c.basis}, "milestone"},
             "where the learning rate is multiplied, in the basis, ascending");
  v.required("factor", c.factor, Number{above_up_to(0, 1)}, "multiplies the rate at each milestone");
  v.optional("warmup", c.warmup, SchedulePoint{c.basis},
             "in the basis: until here the rate rises linearly from 0", Absent{"no warm-up"});
}

inline Choice<RateScaling> rate_scaling() {
  return {{{"none", RateScaling::none}, {"linear", RateScaling::linear}, {"sqrt", RateScaling::sqrt}}};
}

template <class Visitor>
void describe(Visitor& v, OptimizerConfig& c) {
  v.required("learning_rate", c.learning_rate, Number{above(0)}, "step size of one update");
  v.optional("momentum", c.momentum, Number{{.minimum = 0, .maximum = 1, .maximum_excluded = true}},
             "share of the velocity kept from update to update");
  v.optional("weight_decay", c.weight_decay, Number{at_least(0)},
             "added to the gradient, times the parameters");
  v.optional("nesterov", c.nesterov, Boolean{}, "look ahead along the velocity");
  v.optional("worker_scaling", c.worker_scaling, rate_scaling(),
             "how the rate follows the number of gradients combined in one update");
  v.optional("batch_scaling", c.batch_scaling, rate_scaling(),
             "how the rate follows the mean batch of these gradients over the initial batch");
}

template <class Visitor>
void describe(Visitor& v, JobConfig& c) {
  v.required("network", c.network, Text{}, "name of the neural network; it must be the profile's");
  v.required("profile", c.profile, Path{}, "calibration file, relative to this file");
  v.required("dataset", c.dataset, Section{}, "what is trained on");
  v.required("optimizer", c.optimizer, Section{}, "stochastic gradient descent");
  v.optional("learning_rate_schedule", c.optimizer.schedule, Section{},
             "warm-up and drops of the learning rate");
}

template <class Visitor>
void describe(Visitor& v, Worker& c) {
  v.required("cores", c.cores, Whole<int>{1, 1 << 16},
             "CPU cores; the profile must have measured this number");
  v.optional("speed", c.speed, Number{above(0)},
             "relative to the profile's machine; 0.5 takes twice as long");
}

template <class Visitor>
void describe(Visitor& v, StarNetwork& c) {
  // The only topology so far; named in the file so that it keeps its meaning when there are others.
  std::string topology = "star";
  v.required("topology", topology, Choice<std::string>{{{"star", "star"}}},
             "star: every worker and the server hang on one switch");
  v.required("bandwidth", c.bandwidth, rate(above(0)), "of each worker's link, in each direction");
  v.required("latency", c.latency, duration(at_least(0)), "one-way, between any two hosts");
  v.optional("server_bandwidth", c.server_bandwidth, rate(above(0)),
             "of the parameter server's link, in each direction",
             SameAs<BytesPerSecond>{"bandwidth", c.bandwidth});
}

template <class Visitor>
void describe(Visitor& v, Cluster& c) {
  v.required("workers", c.workers, ListOf<Section>{{}, "worker", 1, maximum_workers},
             "the machines that train");
  v.required("network", c.network, Section{}, "the network between them");
}

template <class Visitor>
void describe(Visitor& v, PhaseConfig& c) {
  v.required(
      "policy", c.policy,
      Choice<SynchronizationKind>{{{"bsp", SynchronizationKind::bsp}, {"asp", SynchronizationKind::asp}}},
      "bsp: an update combines one gradient of every worker; asp: each gradient is an update");
  v.required(
      "transport", c.transport, Choice<Transport>{{{"ring", Transport::ring}, {"server", Transport::server}}},
      "ring: all-reduce among the workers (bsp only); server: push to and pull from a parameter server");
  v.optional("share", c.share, percent(above_up_to(0, 1)),
             "of the job's samples; required when there are several phases");
  v.optional("switch_cost", c.switch_cost, duration(at_least(0)),
             "pause of every worker before this phase; unused by the first phase");
}

template <class Visitor>
void describe(Visitor& v, BatchingConfig& c) {
  v.required(
      "controller", c.controller,
      Choice<BatchControllerKind>{{{"uniform", BatchControllerKind::uniform},
                                   {"static", BatchControllerKind::static_by_throughput},
                                   {"dynamic", BatchControllerKind::dynamic}}},
      "uniform: equal batches; static: by calibrated throughput; dynamic: by observed iteration times");
  v.required("initial", c.initial_samples, Whole<std::int64_t>{1},
             "samples in a worker's batch at the start; times the workers, the global batch");
  v.optional("minimum", c.minimum_samples, Whole<std::int64_t>{1}, "smallest static or dynamic batch");
  v.optional("maximum", c.maximum_samples, Whole<std::int64_t>{1}, "largest static or dynamic batch");
  v.optional("dead_band", c.dead_band, Number{between(0, 1)},
             "dynamic: act only when some batch would change by more than this fraction");
  v.optional("smoothing", c.smoothing, Number{above_up_to(0, 1)},
             "dynamic: weight of the newest iteration time in the moving average");
  v.optional("adjust_every", c.adjust_every_iterations, Iterations{},
             "dynamic: iterations of every worker between two looks at the times");
  v.optional("weighting", c.weighting,
             Choice<GradientWeighting>{
                 {{"by-batch", GradientWeighting::by_batch}, {"equal", GradientWeighting::equal}}},
             "how the gradients of one update are combined: each sample counts the same, or each gradient");
}

template <class Visitor>
void describe(Visitor& v, JitterConfig& c) {
  constexpr Absent measured{"from the profile"};
  constexpr Absent run_measured{"from the profile; 3 % if it has fewer than 3 processes"};
  constexpr Absent not_measured{"0 %: a profile measures one machine"};
  v.optional("run", c.run_cv, percent(between(0, 1)), "variation (sd / mean) between whole runs",
             run_measured);
  v.optional("worker", c.worker_cv, percent(between(0, 1)), "variation between workers of a run",
             not_measured);
  v.optional("iteration", c.iteration_cv, percent(between(0, 1)), "variation between iterations", measured);
}

template <class Visitor>
void describe(Visitor& v, LearnerConfig& c) {
  v.required("kind", c.kind,
             Choice<LearnerKind>{{{"network", LearnerKind::network}, {"none", LearnerKind::none}}},
             "network: train the real network inside the simulation; none: only throughput is asked");
}

template <class Visitor>
void describe(Visitor& v, EvaluationConfig& c) {
  v.required("every", c.every, HowMany{}, "samples, updates or epochs between two evaluations");
  v.optional("who_pays", c.who_pays, Choice<EvaluationPayer>{{{"free", EvaluationPayer::free}}},
             "whose time an evaluation takes; free: nobody's");
}

template <class Visitor>
void describe(Visitor& v, StopConfig& c) {
  v.required("epochs", c.epochs, Number{above_up_to(0, 1e6)},
             "the workload: passes over the training samples");
  v.optional("accuracy", c.accuracy, Number{above_up_to(0, 1)},
             "target, as a fraction: the job ends at the first evaluation that reaches it",
             Absent{"the whole workload is run"});
}

template <class Visitor>
void describe(Visitor& v, Scenario& c) {
  v.required("name", c.name, Text{}, "appears in tables and figures");
  v.optional("question", c.question, Text{}, "what this scenario is to answer", Absent{"none"});
  v.optional("seed", c.seed, Whole<std::uint32_t>{0}, "of every random number");
  v.optional("replications", c.replications, Whole<int>{1, 1'000'000},
             "runs that differ in their random numbers");
  v.required("job", c.job, Section{}, "what is trained, and how");
  v.required("cluster", c.cluster, Section{}, "what it is trained on");
  v.required("synchronization", c.synchronization, ListOf<Section>{{}, "phase", 1, 1000},
             "phases, one after the other");
  v.required("batching", c.batching, Section{}, "batch sizes of the workers");
  v.optional("jitter", c.jitter, Section{}, "random variation of compute times");
  v.required("learner", c.learner, Section{}, "what turns updates into loss and accuracy");
  v.required("evaluation", c.evaluation, Section{}, "when accuracy is looked at");
  v.required("stop", c.stop, Section{}, "when the job ends");
}

}  // namespace paceline
