// The sections `job`, `learner`, `evaluation`, `stop` and `expect`: what is trained, on what, by which
// optimizer; what accuracy comes of, when it is looked at, when it is enough; what must hold of the results.
#include "sim/scenario/sections/sections.hpp"

namespace paceline {

void describe(Visitor& v, DatasetSource& c) {
  v.optional(
      "kind", c.kind, Choice{"built-in-images", "built-in-text", "cifar10", "cifar100", "mnist"},
      "the generator of labelled images, or of texts whose next byte is to be predicted, or the format of "
      "the files; required by the learner `network`");
  v.optional("name", c.name, Text{},
             "of the data set; a profile and a learner of another one are refused. Required by the learner "
             "`statistical` where there is no `kind`",
             Absent{"that of `kind`, where it is written"});
  v.optional("classes", c.classes, Whole{2, 1'000'000},
             "of the data set, of text the vocabulary; a profile and a learner of another number are refused",
             Absent{"those of the data sets that `kind` names are known"});
  v.optional("path", c.path, Path{},
             "folder of the files that the learner `network` reads; for every kind that is not built in",
             Absent{"no files"});
  v.required("train_samples", c.train_samples, Whole{1},
             "training samples used; one epoch is one pass over them");
  v.optional("test_samples", c.test_samples, Whole{0},
             "held-out samples of an evaluation; required by the learner `network`");
  v.optional("partition", c.partition,
             Choice{{"whole", DataPartition::whole}, {"equal-shards", DataPartition::equal_shards}},
             "whole: every worker reads all training samples, in an order of its own; equal-shards: each a "
             "part of them, equal whatever the batches");
}

void describe(Visitor& v, LearningRateSchedule& c) {
  v.required(
      "basis", c.basis,
      Choice{{"epoch", ScheduleBasis::epoch},
             {"progress", ScheduleBasis::progress},
             {"step", ScheduleBasis::step}},
      "epoch: passes over the training samples; progress: percent of the workload; step: updates applied");
  v.optional("shape", c.shape, Choice{{"steps", ScheduleShape::steps}, {"cosine", ScheduleShape::cosine}},
             "steps: the rate drops at milestones; cosine: it falls along half a cosine");
  v.only_if({"shape", {"steps"}, c.shape == ScheduleShape::steps});
  v.required("milestones", c.milestones, ListOf{schedule_point(c.basis), "milestone"},
             "where the learning rate is multiplied, in the basis, ascending");
  v.required("factor", c.factor, Number{above_up_to(0, 1)}, "multiplies the rate at each milestone");
  v.only_if({"shape", {"cosine"}, c.shape == ScheduleShape::cosine});
  v.required("end", c.end, schedule_point(c.basis), "in the basis: from here on the rate is the least");
  v.optional("least", c.least, Number{between(0, 1)}, "part of the first rate that is left then");
  v.always();
  v.optional("warmup", c.warmup, schedule_point(c.basis),
             "in the basis: until here the rate rises linearly from 0", Absent{"no warm-up"});
}

namespace {

Choice rate_scaling() {
  return {{"none", RateScaling::none}, {"linear", RateScaling::linear}, {"sqrt", RateScaling::sqrt}};
}

}  // namespace

void describe(Visitor& v, OptimizerConfig& c) {
  const auto of = [&](OptimizerKind kind, const char* word) {
    return OnlyIf{"kind", {word}, c.kind == kind};
  };
  v.optional("kind", c.kind, Choice{{"sgd", OptimizerKind::sgd}, {"adamw", OptimizerKind::adamw}},
             "sgd: along the velocity of the gradients; adamw: along their mean over the root of their mean "
             "square");
  v.required("learning_rate", c.learning_rate, Number{above(0)}, "step size of one update");
  v.only_if(of(OptimizerKind::adamw, "adamw"));
  v.optional("beta1", c.adamw.beta1, Number{from_and_below(0, 1)},
             "share of the mean gradient kept from step to step");
  v.optional("beta2", c.adamw.beta2, Number{from_and_below(0, 1)},
             "share of the gradients' mean square kept");
  v.optional("epsilon", c.adamw.epsilon, Number{above(0)}, "added to its root");
  v.only_if(of(OptimizerKind::sgd, "sgd"));
  v.optional("momentum", c.momentum, Number{from_and_below(0, 1)},
             "share of the velocity kept from update to update");
  v.optional("momentum_at", c.momentum_at,
             Choice{{"server", MomentumPlace::server}, {"workers", MomentumPlace::workers}},
             "server: one velocity for all gradients; workers: one for each worker's gradients");
  v.always();
  v.optional("weight_decay", c.weight_decay, Number{at_least(0)},
             "times the parameters; sgd: added to the gradient; adamw: times the rate, taken off them");
  v.only_if(of(OptimizerKind::sgd, "sgd"));
  v.optional("nesterov", c.nesterov, Boolean{}, "look ahead along the velocity");
  v.optional("velocity_at_switch", c.velocity_at_switch,
             Choice{{"keep", VelocityAtSwitch::keep},
                    {"zero", VelocityAtSwitch::zero},
                    {"scale", VelocityAtSwitch::scale}},
             "what becomes of velocities when a phase begins after another");
  v.optional("velocity_scale", c.velocity_scale, Number{at_least(0)}, "scale: what they are multiplied by",
             Absent{"velocities are not scaled"});
  v.optional("momentum_at_switch", c.momentum_at_switch.rule,
             Choice{{"keep", MomentumRule::keep},
                    {"zero", MomentumRule::zero},
                    {"scaled", MomentumRule::scaled},
                    {"scaled-until", MomentumRule::scaled_until},
                    {"staged", MomentumRule::staged},
                    {"additive", MomentumRule::additive}},
             "momentum of an asynchronous phase after another, over the optimizer's, with n workers; scaled: "
             "1/n; scaled-until: 1/n for a stage; staged: 1/n, doubled after each stage; additive: 1/n, and "
             "1/n more after each stage");
  v.optional("momentum_stage", c.momentum_at_switch.stage, how_many(),
             "how long a stage of `momentum_at_switch` is", Absent{"for rules in stages only"});
  v.always();
  v.optional(
      "batch_norm", c.batch_norm,
      Choice{{"chief", BatchNormRule::chief},
             {"averaged", BatchNormRule::averaged},
             {"per-push", BatchNormRule::per_push}},
      "whose batches the averages of batch normalization follow: the first worker's, the mean of one average "
      "for each worker, or every gradient's as it is applied");
  v.optional("worker_scaling", c.worker_scaling, rate_scaling(),
             "how the rate follows the number of gradients combined in one update");
  v.optional("batch_scaling", c.batch_scaling, rate_scaling(),
             "how the rate follows the mean batch of these gradients over the initial batch");
}

void describe(Visitor& v, JobConfig& c) {
  v.required("network", c.network, Text{}, "name of the neural network; it must be the profile's");
  v.required("profile", c.profile, Path{}, "calibration file, relative to this file");
  v.required("dataset", c.dataset, Section{}, "what is trained on");
  v.required("optimizer", c.optimizer, Section{}, "what an update makes of gradients");
  v.optional("learning_rate_schedule", c.optimizer.schedule, Section{},
             "warm-up and drops of the learning rate");
  v.optional(
      "data_loading", c.data_loading,
      Choice{{"inline", DataLoading::inline_},
             {"prefetched", DataLoading::prefetched},
             {"free", DataLoading::free}},
      "inline: fetching a batch comes before each iteration, as long as the profile says (0 where it was not "
      "measured); prefetched: meanwhile; free: it takes no time");
}

void describe(Visitor& v, LearnerConfig& c) {
  v.required(
      "kind", c.kind,
      Choice{{"network", LearnerKind::network},
             {"statistical", LearnerKind::statistical},
             {"assumed", LearnerKind::assumed},
             {"none", LearnerKind::none}},
      "network: train the real network inside the simulation; statistical: a model fitted to recorded runs; "
      "assumed: a model without such runs; none: only throughput is asked");
  v.optional("model", c.model, Path{},
             "learner file of `paceline fit`; network: a TorchScript file (.pt) for the data set's samples "
             "to train, the one "
             "that `job.profile` was calibrated with; relative to this file",
             Absent{"network: the one of the list that `job.network` names"});
}

void describe(Visitor& v, EvaluationConfig& c) {
  v.required("every", c.every, how_many(), "samples, updates or epochs between two evaluations");
  v.optional(
      "who_pays", c.who_pays,
      Choice{{"free", EvaluationPayer::free},
             {"inline", EvaluationPayer::inline_workers},
             {"evaluator", EvaluationPayer::evaluator}},
      "whose time an evaluation takes; free: nobody's; inline: every worker's; evaluator: a machine of its "
      "own, so that results come late");
  v.optional("cost", c.cost, duration(at_least(0)), "time of one evaluation");
}

void describe(Visitor& v, StopConfig& c) {
  v.required("epochs", c.epochs, Number{above_up_to(0, 1e6)},
             "the workload: passes over the training samples");
  v.optional("accuracy", c.accuracy, fraction(above_up_to(0, 1)),
             "target: the job ends at the first evaluation that reaches it",
             Absent{"the whole workload is run"});
  v.optional("evaluations_in_a_row", c.evaluations_in_a_row, Whole{1, 1000},
             "that must reach the target; the first of them counts");
}

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

}  // namespace paceline
