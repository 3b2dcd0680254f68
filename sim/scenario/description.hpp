// The one description of what a scenario file may hold. Reading, printing and the JSON schema are visitors of
// it, so they cannot disagree.
//
// A visitor offers
//   required(key, member, kind, description)
//   optional(key, member, kind, description)                absent: the member keeps its initial value
//   optional(key, member, kind, description, SameAs{...})   absent: the member takes another key's value
//   optional(key, member, kind, description, Absent{"what then happens"})
//                                                           absent: an empty std::optional or std::string
//   only_if(condition)                                      the keys that follow have a meaning only under it;
//                                                           otherwise they are not required, and a warning if given
//   always()                                                ends that
// Rules that join several keys are in semantic_checks.hpp.
#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/policy/batch_rule.hpp"
#include "sim/scenario/moment_kinds.hpp"
#include "sim/scenario/scenario.hpp"
#include "sim/scenario/threshold.hpp"
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

// A key of the same section, described before, that has one of these values.
struct OnlyIf {
  std::string_view key;
  std::vector<std::string_view> values;  // as written
  bool holds = false;

  [[nodiscard]] std::string text() const { return fmt::format("{}: {}", key, fmt::join(values, " or ")); }
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
  v.optional(
      "partition", c.partition,
      Choice<DataPartition>{{{"whole", DataPartition::whole}, {"equal-shards", DataPartition::equal_shards}}},
      "whole: every worker reads all training samples, in an order of its own; equal-shards: each a "
      "part of them, equal whatever the batches");
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
  v.optional("momentum_at", c.momentum_at,
             Choice<MomentumPlace>{{{"server", MomentumPlace::server}, {"workers", MomentumPlace::workers}}},
             "server: one velocity for all gradients; workers: one for each worker's gradients");
  v.optional("weight_decay", c.weight_decay, Number{at_least(0)},
             "added to the gradient, times the parameters");
  v.optional("nesterov", c.nesterov, Boolean{}, "look ahead along the velocity");
  v.optional("velocity_at_switch", c.velocity_at_switch,
             Choice<VelocityAtSwitch>{{{"keep", VelocityAtSwitch::keep},
                                       {"zero", VelocityAtSwitch::zero},
                                       {"scale", VelocityAtSwitch::scale}}},
             "what becomes of velocities when a phase begins after another");
  v.optional("velocity_scale", c.velocity_scale, Number{at_least(0)}, "scale: what they are multiplied by",
             Absent{"velocities are not scaled"});
  v.optional("momentum_at_switch", c.momentum_at_switch.rule,
             Choice<MomentumRule>{{{"keep", MomentumRule::keep},
                                   {"zero", MomentumRule::zero},
                                   {"scaled", MomentumRule::scaled},
                                   {"scaled-until", MomentumRule::scaled_until},
                                   {"staged", MomentumRule::staged},
                                   {"additive", MomentumRule::additive}}},
             "momentum of an asynchronous phase after another, over the optimizer's, with n workers; scaled: "
             "1/n; scaled-until: 1/n for a stage; staged: 1/n, doubled after each stage; additive: 1/n, and "
             "1/n more after each stage");
  v.optional("momentum_stage", c.momentum_at_switch.stage, HowMany{},
             "how long a stage of `momentum_at_switch` is", Absent{"for rules in stages only"});
  v.optional(
      "batch_norm", c.batch_norm,
      Choice<BatchNormRule>{{{"chief", BatchNormRule::chief},
                             {"averaged", BatchNormRule::averaged},
                             {"per-push", BatchNormRule::per_push}}},
      "whose batches the averages of batch normalization follow: the first worker's, the mean of one average "
      "for each worker, or every gradient's as it is applied");
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
  v.optional(
      "data_loading", c.data_loading,
      Choice<DataLoading>{{{"inline", DataLoading::inline_},
                           {"prefetched", DataLoading::prefetched},
                           {"free", DataLoading::free}}},
      "inline: fetching a batch comes before each iteration, as long as the profile says (0 where it was not "
      "measured); prefetched: meanwhile; free: it takes no time");
}

template <class Visitor>
void describe(Visitor& v, CpuQuota& c) {
  v.required("cores", c.cores, Number{above(0)}, "as much processor time as so many cores give, e.g. 0.5");
  v.optional("period", c.period, duration(above(0)), "in which it may be used, all at once if need be");
}

template <class Visitor>
void describe(Visitor& v, Worker& c) {
  v.required("cores", c.cores, Whole<int>{1, 1 << 16},
             "CPU cores; the profile must have measured this number");
  v.optional("speed", c.speed, Number{above(0)},
             "relative to the profile's machine; 0.5 takes twice as long");
  v.optional("profile", c.profile, Path{}, "calibration file of this machine, for the job's network",
             Absent{"the job's"});
  v.optional("quota", c.quota, Section{}, "limit of processor time, as containers have", Absent{"none"});
  v.optional("memory", c.memory, size(above(0)),
             "what a batch must fit into, by the profile's memory model: larger ones are cut and reported",
             Absent{"no limit"});
  v.optional("flops", c.flops, flop_rate(above(0)), "declared peak, for `batching.shares: flops`",
             Absent{"not declared"});
}

template <class Visitor>
void describe(Visitor& v, Machine& c) {
  v.required("cores", c.cores, Whole<int>{1, 1 << 16}, "of the whole machine");
  v.required("workers", c.workers, ListOf<Whole<std::uint64_t>>{{0}, "worker", 1},
             "that run on it, from 0, on cores of their own");
}

template <class Visitor>
void describe(Visitor& v, EdgeConfig& c) {
  v.required("from", c.from, Text{}, "name of a node");
  v.required("to", c.to, Text{}, "name of another node");
  v.required("bandwidth", c.bandwidth, rate(above(0)), "in each direction");
  v.required("latency", c.latency, duration(at_least(0)), "one-way");
}

template <class Visitor>
void describe(Visitor& v, MessageSegment& c) {
  v.required("from", c.from, size(at_least(0)), "smallest message it holds for, up to the next segment's");
  v.optional("latency_factor", c.latency_factor, Number{at_least(0)}, "multiplies the model's");
  v.optional("bandwidth_factor", c.bandwidth_factor, Number{above(0)}, "multiplies the model's");
}

template <class Visitor>
void describe(Visitor& v, NetworkModel& c) {
  v.optional("latency_factor", c.latency_factor, Number{above(0)}, "multiplies every route's latency");
  v.optional("bandwidth_factor", c.bandwidth_factor, Number{above_up_to(0, 1)},
             "share of a link's bandwidth that messages get");
  v.optional("tcp_gamma", c.tcp_gamma, size(at_least(0)),
             "window: a message is no faster than this / (2 x its route's latency); 0 B: no such bound");
  v.optional("cross_traffic", c.cross_traffic, Boolean{},
             "a message also takes 5 % of its rate in the other direction");
  v.optional("segments", c.segments, ListOf<Section>{{}, "segment"},
             "factors by message size, as `paceline calibrate network` measures them, ascending");
}

template <class Visitor>
void describe(Visitor& v, NetworkConfig& c) {
  v.required("topology", c.topology,
             Choice<Topology>{{{"star", Topology::star},
                               {"two-level", Topology::two_level},
                               {"tree", Topology::tree},
                               {"graph", Topology::graph}}},
             "star: all on one switch; two-level: racks under a core switch; tree: switches below switches; "
             "graph: nodes and edges by name");
  v.only_if({"topology", {"star", "two-level", "tree"}, c.topology != Topology::graph});
  v.required("bandwidth", c.bandwidth, rate(above(0)), "of each worker's link, in each direction");
  v.required("latency", c.latency, duration(at_least(0)), "one-way, between two hosts under one switch");
  v.optional("server_bandwidth", c.server_bandwidth, rate(above(0)),
             "of each parameter server's link, in each direction",
             SameAs<BytesPerSecond>{"bandwidth", c.bandwidth});
  const bool has_uplinks = c.topology == Topology::two_level || c.topology == Topology::tree;
  v.only_if({"topology", {"two-level", "tree"}, has_uplinks});
  v.required("uplink_bandwidth", c.uplink_bandwidth, rate(above(0)),
             "of each link between switches, in each direction");
  v.required("uplink_latency", c.uplink_latency, duration(at_least(0)),
             "one-way, added by each link between switches");
  v.only_if({"topology", {"two-level"}, c.topology == Topology::two_level});
  v.required("racks", c.racks, Whole<std::uint32_t>{1, 1U << 16U},
             "each with a switch; workers are spread evenly, in order; servers hang on the core switch");
  v.only_if({"topology", {"tree"}, c.topology == Topology::tree});
  v.required("depth", c.depth, Whole<std::uint32_t>{1, 16},
             "links from the root to a worker; servers hang on the root");
  v.required("fan_out", c.fan_out, Whole<std::uint32_t>{2, 1U << 16U},
             "links below each switch, towards workers");
  v.only_if({"topology", {"graph"}, c.topology == Topology::graph});
  v.required("nodes", c.nodes, ListOf<Text>{{}, "node", 1, maximum_workers}, "names of hosts and switches");
  v.required("edges", c.edges, ListOf<Section>{{}, "edge"}, "full-duplex links between nodes");
  v.required("worker_nodes", c.worker_nodes, ListOf<Text>{{}, "worker", 1, maximum_workers},
             "on which node each worker sits");
  v.optional("server_nodes", c.server_nodes, ListOf<Text>{{}, "server"},
             "on which node each separate parameter server sits");
  v.always();
  v.optional("model", c.model, Section{}, "corrections of the network simulation");
}

template <class Visitor>
void describe(Visitor& v, ServersConfig& c) {
  v.optional("count", c.count, Whole<std::uint32_t>{1, 1U << 16U},
             "parameter servers; each holds an equal shard of the parameters");
  v.optional("placement", c.placement,
             Choice<ServerPlacement>{
                 {{"separate", ServerPlacement::separate}, {"with-workers", ServerPlacement::with_workers}}},
             "separate: machines of their own; with-workers: server k runs on worker k (mod workers)");
}

template <class Visitor>
void describe(Visitor& v, Cluster& c) {
  v.required("workers", c.workers, ListOf<Section>{{}, "worker", 1, maximum_workers},
             "the machines that train");
  v.required("network", c.network, Section{}, "the network between them");
  v.optional("servers", c.servers, Section{}, "parameter servers, for `transport: server`");
  v.optional("machines", c.machines, ListOf<Section>{{}, "machine"},
             "hosts that several workers share: no level may ask for more cores than they have");
}

template <class Visitor>
void describe(Visitor& v, RestartCost& c) {
  v.optional("time", c.time, duration(at_least(0)), "pause of every worker");
  v.optional("per_worker", c.per_worker, duration(at_least(0)), "starting one worker, added to that");
  v.optional(
      "order", c.order,
      Choice<RestartOrder>{{{"parallel", RestartOrder::parallel}, {"sequential", RestartOrder::sequential}}},
      "whether workers are started at once or one after the other");
}

template <class Visitor>
void describe(Visitor& v, RampUp& c) {
  v.required("iterations", c.iterations, Whole<std::int64_t>{1}, "of each worker after a start or a switch");
  v.required("slowdown", c.slowdown, Number{at_least(1)}, "of the first of them; falls linearly to 1");
}

template <class Visitor>
void describe(Visitor& v, CoordinationCost& c) {
  v.optional("per_step", c.per_step, duration(at_least(0)), "serial time of each synchronous update");
  v.optional("per_worker", c.per_worker, duration(at_least(0)), "added for each worker that goes on");
  v.optional("per_sample", c.per_sample, duration(at_least(0)), "added for each sample of the update");
  v.optional("round_trips", c.round_trips, Number{at_least(0)},
             "with each worker in each update, one worker after the other: each is delayed by the worker's "
             "added latency",
             Absent{"added latency holds back the worker's gradient instead, by the straggler's own number"});
}

template <class Visitor>
void describe(Visitor& v, CheckpointConfig& c) {
  v.required("every", c.every, HowOften{}, "time, updates, samples or epochs between two checkpoints");
  v.required(
      "cost", c.cost, duration(at_least(0)),
      "pause of the workers released together with the chief, the lowest worker present: all of them under "
      "bsp, the chief alone under asp and ssp");
}

template <class Visitor>
void describe_switch(Visitor& v, RestartCost& c) {
  v.optional("switch_cost", c.time, duration(at_least(0)),
             "pause of every worker before this phase; unused by the first phase");
  v.optional("switch_cost_per_worker", c.per_worker, duration(at_least(0)),
             "of restarting one worker, added to that");
  v.optional("switch_sleep", c.sleep, duration(at_least(0)), "that the driver of the switch waits besides");
  v.optional(
      "restart", c.order,
      Choice<RestartOrder>{{{"parallel", RestartOrder::parallel}, {"sequential", RestartOrder::sequential}}},
      "whether workers are restarted at once or one after the other");
}

inline std::vector<std::pair<std::string, SynchronizationKind>> policy_words() {
  std::vector<std::pair<std::string, SynchronizationKind>> words;
  for (const SynchronizationRule& rule : synchronization_rules()) words.emplace_back(rule.word, rule.kind);
  return words;
}
inline std::string policy_descriptions() {
  std::string text;
  for (const SynchronizationRule& rule : synchronization_rules())
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", rule.word, rule.description);
  return text;
}

template <class Visitor>
void describe(Visitor& v, PhaseEntry& c) {
  v.required("policy", c.config.policy, Choice<SynchronizationKind>{policy_words()}, policy_descriptions());
  v.required(
      "transport", c.config.transport,
      Choice<Transport>{{{"ring", Transport::ring},
                         {"tree", Transport::tree},
                         {"halving-doubling", Transport::halving_doubling},
                         {"server", Transport::server}}},
      "ring, tree, halving-doubling: all-reduce among the workers (bsp only); server: push to and pull from "
      "parameter servers");
  v.optional("share", c.share, percent(above_up_to(0, 1)), "of the job's samples",
             Absent{"`length` says; a last phase may have neither and takes the rest"});
  v.optional("length", c.length, Length{}, "updates, epochs or time, instead of a share",
             Absent{"`share` says"});
  for (const SynchronizationRule& rule : synchronization_rules()) {
    if (!rule.parameter) continue;
    std::optional<std::int64_t>& parameter = c.parameters[rule.kind];
    v.optional(rule.parameter->key, parameter, Whole<std::int64_t>{rule.parameter->minimum},
               fmt::format("{}: {}", rule.word, rule.parameter->description),
               Absent{"needed by this policy only"});
  }
  v.optional("exchange", c.config.exchange,
             Choice<Exchange>{{{"gradients", Exchange::gradients}, {"parameters", Exchange::parameters}}},
             "gradients: pull, compute, push in every iteration; parameters: (asp only) a worker steps by "
             "itself, its "
             "parameters overwrite the server's, and it pulls once per epoch");
  describe_switch(v, c.switching);
  v.optional("checkpoint_cost", c.checkpoint_cost, duration(at_least(0)), "of a checkpoint in this phase",
             Absent{"`checkpoints.cost`"});
}

inline std::string switch_descriptions() {
  std::string text;
  for (const SwitchRule& rule : switch_rules())
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", rule.word, rule.description);
  return text;
}
inline Choice<SwitchKind> switch_choice() {
  Choice<SwitchKind> choice;
  for (const SwitchRule& rule : switch_rules()) choice.choices.emplace_back(rule.word, rule.kind);
  return choice;
}
inline std::vector<std::string_view> switch_words(bool SwitchRule::*property) {
  std::vector<std::string_view> words;
  for (const SwitchRule& rule : switch_rules())
    if (rule.*property) words.push_back(rule.word);
  return words;
}

template <class Visitor>
void describe(Visitor& v, ReactionEntry& c) {
  v.required("policy", c.config.policy, switch_choice(), switch_descriptions());
  const SwitchRule& rule = rule_of(c.config.policy);
  DetectionConfig& detection = c.config.detection;
  v.only_if({"policy", switch_words(&SwitchRule::watches), rule.watches});
  v.optional("window", detection.window_iterations, Iterations{},
             "of every worker, over which its throughput is taken");
  v.optional("consecutive", detection.consecutive_windows, Whole<int>{1, 1000},
             "windows in a row that raise an alarm, or clear it");
  v.optional("floor", detection.floor, percent({.minimum = 0, .maximum = 1, .maximum_excluded = true}),
             "below its own baseline: a worker is not slow above that");
  v.optional("deviations", detection.deviations, Number{at_least(0)},
             "standard deviations below the mean of all workers: a worker is not slow above that");
  v.only_if({"policy", switch_words(&SwitchRule::drops_workers), rule.drops_workers});
  v.optional("probe_every", c.config.probe_every_updates, Iterations{},
             "rounds between two probes of dropped workers");
  v.optional("probe_cost", c.probe_cost, duration(at_least(0)), "pause of every other worker for a probe");
  v.optional("regroup_cost", c.regroup_cost, duration(at_least(0)),
             "pause of every worker that goes on when some are dropped or taken in again");
  v.always();
}

inline std::vector<std::pair<std::string, BatchControllerKind>> controller_words() {
  std::vector<std::pair<std::string, BatchControllerKind>> words;
  for (const BatchControllerRule& rule : batch_controller_rules()) {
    words.emplace_back(rule.word, rule.kind);
    if (!rule.synonym.empty()) words.emplace_back(rule.synonym, rule.kind);
  }
  return words;
}
inline std::string controller_descriptions() {
  std::string text;
  for (const BatchControllerRule& rule : batch_controller_rules())
    text += fmt::format("{}{}{}{}: {}", text.empty() ? "" : "; ", rule.word,
                        rule.synonym.empty() ? "" : " or ", rule.synonym, rule.description);
  return text;
}

template <class Visitor>
void describe(Visitor& v, BatchingConfig& c) {
  v.required("controller", c.controller, Choice<BatchControllerKind>{controller_words()},
             controller_descriptions());
  v.optional(
      "shares", c.shares,
      Choice<ShareBasis>{{{"throughput", ShareBasis::throughput},
                          {"cores", ShareBasis::cores},
                          {"flops", ShareBasis::flops}}},
      "what static batches are proportional to: calibrated samples/s, cores, or each worker's `flops`");
  v.optional("start", c.start,
             Choice<StartBatches>{{{"uniform", StartBatches::uniform}, {"static", StartBatches::shares}}},
             "batches that a controller which adjusts begins with");
  v.required("initial", c.initial_samples, Whole<std::int64_t>{1},
             "samples in a worker's batch at the start; times the workers, the global batch");
  v.optional("minimum", c.minimum_samples, Whole<std::int64_t>{1}, "smallest batch of all but uniform ones");
  v.optional("maximum", c.maximum_samples, Whole<std::int64_t>{1}, "largest batch of all but uniform ones");
  v.optional(
      "dead_band", c.dead_band, Number{between(0, 1)},
      "change, as a fraction, up to which batches are left alone: dynamic and proportional-repair look "
      "at the largest one, released at each worker's",
      Absent{"0.05; released: 0.2"});
  v.optional("smoothing", c.smoothing, Number{above_up_to(0, 1)},
             "weight of the newest iteration time in a moving average");
  v.optional("adjust_every", c.adjust_every, Period{},
             "iterations of every worker, or epochs of the job, between two looks at the times",
             Absent{"10 iterations; lb-bsp: 1 iterations; released: 1 epochs"});
  v.optional("adjustment_cost", c.adjustment_cost, duration(at_least(0)),
             "pause of every worker before it goes on with other batches: a new data loader, or a restart");
  v.optional("weighting", c.weighting,
             Choice<GradientWeighting>{
                 {{"by-batch", GradientWeighting::by_batch}, {"equal", GradientWeighting::equal}}},
             "how the gradients of one update are combined: each sample counts the same, or each gradient");
}

template <class Visitor>
void describe(Visitor& v, Level& c) {
  v.required("at", c.at, When{}, "when it begins");
  v.optional("workers", c.workers, ListOf<Whole<std::uint64_t>>{{0}, "worker"},
             "which workers the lists below are about, from 0; empty: all, in order");
  v.optional("speed", c.speeds, ListOf<Number>{{above(0)}, "worker"}, "relative to each worker's own");
  v.optional("cores", c.cores, ListOf<Whole<int>>{{1, 1 << 16}, "worker"},
             "instead of each worker's own; the profile must have measured these numbers");
  v.optional("bandwidth", c.bandwidths, ListOf<Number>{{above(0)}, "worker"},
             "relative to each worker's link");
}

template <class Visitor>
void describe(Visitor& v, Straggler& c) {
  v.required("worker", c.worker, Whole<std::uint64_t>{0}, "from 0");
  v.required("from", c.from, When{}, "when it begins");
  v.required("duration", c.duration, duration(above(0)), "how long it lasts");
  v.optional("slowdown", c.slowdown, Number{above(0)}, "factor on its compute times");
  v.optional("added_latency", c.added_latency, duration(at_least(0)), "of each message it sends");
  v.optional("round_trips", c.round_trips, Number{at_least(0)},
             "such messages in a row in each iteration: what an iteration is delayed by");
}

template <class Visitor>
void describe(Visitor& v, RandomStragglers& c) {
  v.required("probability", c.probability, percent(between(0, 1)), "of a worker to straggle during a window");
  v.required("window", c.window, duration(above(0)), "length of a window");
  v.optional("slowdown", c.slowdown, Number{above(0)}, "factor on its compute times");
  v.optional("added_latency", c.added_latency, duration(at_least(0)), "of each message it sends");
  v.optional("round_trips", c.round_trips, Number{at_least(0)}, "such messages in a row in each iteration");
}

template <class Visitor>
void describe(Visitor& v, MembershipChange& c) {
  v.required("at", c.at, When{}, "when it happens");
  v.required("worker", c.worker, Whole<std::uint64_t>{0}, "from 0");
  v.required(
      "event", c.event,
      Choice<MembershipEvent>{{{"leaves", MembershipEvent::leaves}, {"joins", MembershipEvent::joins}}},
      "a worker whose first event is to join is absent at the start");
}

template <class Visitor>
void describe(Visitor& v, HeterogeneityConfig& c) {
  v.optional("schedule", c.changes.schedule, ListOf<Section>{{}, "level"},
             "levels of speed, cores, bandwidth");
  v.optional("trace", c.trace, Path{}, "CSV file with columns time_s, worker, speed, bandwidth",
             Absent{"no trace"});
  v.optional("stragglers", c.changes.stragglers, ListOf<Section>{{}, "straggler"}, "scripted ones");
  v.optional("random_stragglers", c.changes.random_stragglers, Section{}, "ones that chance chooses",
             Absent{"none"});
  v.optional("membership", c.changes.membership, ListOf<Section>{{}, "change"}, "workers that leave or join");
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
  v.required(
      "kind", c.kind,
      Choice<LearnerKind>{{{"network", LearnerKind::network},
                           {"statistical", LearnerKind::statistical},
                           {"assumed", LearnerKind::assumed},
                           {"none", LearnerKind::none}}},
      "network: train the real network inside the simulation; statistical: a model fitted to recorded runs; "
      "assumed: a model without such runs; none: only throughput is asked");
  v.optional("model", c.model, Path{}, "learner file of `paceline fit`, relative to this file",
             Absent{"no file: for `network` and `none`"});
}

template <class Visitor>
void describe(Visitor& v, EvaluationConfig& c) {
  v.required("every", c.every, HowMany{}, "samples, updates or epochs between two evaluations");
  v.optional(
      "who_pays", c.who_pays,
      Choice<EvaluationPayer>{{{"free", EvaluationPayer::free},
                               {"inline", EvaluationPayer::inline_workers},
                               {"evaluator", EvaluationPayer::evaluator}}},
      "whose time an evaluation takes; free: nobody's; inline: every worker's; evaluator: a machine of its "
      "own, so that results come late");
  v.optional("cost", c.cost, duration(at_least(0)), "time of one evaluation");
}

template <class Visitor>
void describe(Visitor& v, StopConfig& c) {
  v.required("epochs", c.epochs, Number{above_up_to(0, 1e6)},
             "the workload: passes over the training samples");
  v.optional("accuracy", c.accuracy, Number{above_up_to(0, 1)},
             "target, as a fraction: the job ends at the first evaluation that reaches it",
             Absent{"the whole workload is run"});
  v.optional("evaluations_in_a_row", c.evaluations_in_a_row, Whole<int>{1, 1000},
             "that must reach the target; the first of them counts");
}

// Whoever prints a threshold needs its kind too.
inline const ThresholdText expected_duration{&duration_units(), above(0), "< 10 min"};
inline const ThresholdText expected_fraction{nullptr, between(0, 1), "> 0.9"};
inline const ThresholdText expected_rate{nullptr, above(0), "> 100"};
inline const ThresholdText expected_staleness{nullptr, at_least(0), "< 8"};

template <class Visitor>
void describe(Visitor& v, ExpectConfig& c) {
  constexpr Absent nothing{"anything"};
  v.optional("time_to_accuracy", c.time_to_accuracy, expected_duration,
             "median over the replications; one that never reaches the target counts as slowest", nothing);
  v.optional("p_reach", c.p_reach, expected_fraction,
             "probability that a run reaches the target: (k + 1/2) / (n + 1) of k of n replications",
             nothing);
  v.optional("time_per_epoch", c.time_per_epoch, expected_duration, "median over the replications", nothing);
  v.optional("final_accuracy", c.final_accuracy, expected_fraction,
             "of the last evaluation, median over the replications", nothing);
  v.optional("samples_per_s", c.samples_per_s, expected_rate, "applied, median over the replications",
             nothing);
  v.optional("staleness", c.staleness, expected_staleness,
             "mean over a run's gradients, median over the replications", nothing);
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
  v.optional("reaction", c.reaction, Section{}, "what is done about stragglers seen in bsp phases",
             Absent{"nobody is watched"});
  v.optional("coordination", c.coordination, Section{}, "serial cost of synchronous updates");
  v.optional("start_up", c.start_up, Section{}, "pause before the first phase", Absent{"none"});
  v.optional("ramp_up", c.ramp_up, Section{}, "slow iterations after a start or a switch", Absent{"none"});
  v.optional("checkpoints", c.checkpoints, Section{}, "periodic pauses", Absent{"none"});
  v.required("batching", c.batching, Section{}, "batch sizes of the workers");
  v.optional("heterogeneity", c.heterogeneity, Section{}, "what changes while the job runs");
  v.optional("jitter", c.jitter, Section{}, "random variation of compute times");
  v.required("learner", c.learner, Section{}, "what turns updates into loss and accuracy");
  v.required("evaluation", c.evaluation, Section{}, "when accuracy is looked at");
  v.required("stop", c.stop, Section{}, "when the job ends");
  v.optional("expect", c.expect, Section{}, "what must hold of the results, or the exit code is 3");
}

}  // namespace paceline
