// The sections `synchronization` and `reaction`: phases, one after the other, each with its policy and what
// it costs to begin it; what is done about stragglers that were seen.
#include "sim/scenario/sections/sections.hpp"

namespace paceline {

namespace {

void describe_switch(Visitor& v, RestartCost& c) {
  v.optional("switch_cost", c.time, duration(at_least(0)),
             "pause of every worker before this phase; unused by the first phase");
  v.optional("switch_cost_per_worker", c.per_worker, duration(at_least(0)),
             "of restarting one worker, added to that");
  v.optional("switch_sleep", c.sleep, duration(at_least(0)), "that the driver of the switch waits besides");
  v.optional("restart", c.order,
             Choice{{"parallel", RestartOrder::parallel}, {"sequential", RestartOrder::sequential}},
             "whether workers are restarted at once or one after the other");
}

void describe_staleness_weight(Visitor& v, StalenessWeight& c) {
  v.optional("staleness_weight", c.rule,
             Choice{{"none", StalenessRule::none},
                    {"inverse", StalenessRule::inverse},
                    {"power", StalenessRule::power},
                    {"cut-off", StalenessRule::cut_off}},
             "what a gradient of staleness t counts; inverse: 1/t; power: (1 + t)^-exponent; cut-off: "
             "nothing beyond a limit");
  v.only_if({"staleness_weight", {"power"}, c.rule == StalenessRule::power});
  v.optional("staleness_exponent", c.exponent, Number{above_up_to(0, 10)}, "of `power`");
  v.only_if({"staleness_weight", {"cut-off"}, c.rule == StalenessRule::cut_off});
  v.required("staleness_limit", c.limit, Whole{0}, "updates, of `cut-off`");
  v.always();
}

}  // namespace

void describe(Visitor& v, OuterOptimizer& c) {
  v.optional("learning_rate", c.learning_rate, Number{above(0)},
             "of the step along the differences; 1 takes their mean");
  v.optional("momentum", c.momentum, Number{from_and_below(0, 1)},
             "share of its velocity kept from step to step");
  v.optional("nesterov", c.nesterov, Boolean{}, "look ahead along it");
  v.optional("every", c.every, Whole{1}, "differences in a step (asp only): a buffer collects them");
  v.optional("momentum_every", c.momentum_every, Whole{1},
             "delayed Nesterov (asp only): the velocity moves with the mean of so many differences");
  v.optional("momentum_between", c.momentum_between, Number{between(0, 1)},
             "what the steps between count of it, at most 1 / momentum_every");
}

void describe(Visitor& v, Streaming& c) {
  v.required("count", c.count, Whole{1},
             "parts of the parameters, exchanged in turn: one after every steps / count");
  v.optional("delay", c.delay, Whole{0}, "steps that workers go on training while a part travels");
  v.optional("mixing", c.mixing, Number{between(0, 1)},
             "what a worker keeps of its own part; 0 takes over the merged one, 1 never does");
}

void describe(Visitor& v, LocalTraining& c) {
  v.required("steps", c.steps, Whole{1}, "of a worker's own optimizer between two exchanges");
  v.optional("by_speed", c.by_speed, Boolean{}, "a slower worker takes fewer, in proportion to its speed");
  v.only_if({"by_speed", {"true"}, c.by_speed});
  v.optional("least", c.least, Whole{1}, "steps of a slow worker");
  v.only_if({"by_speed", {"false"}, !c.by_speed});
  v.optional("growth", c.growth, Number{above(0)},
             "more as the learning rate falls: (growth / rate)², at least `steps`",
             Absent{"`steps` at any rate"});
  v.always();
  v.optional("sent_as", c.sent_as, Choice{{"fp32", NumberType::fp32}, {"fp16", NumberType::fp16}},
             "numbers of the differences that travel; fp16 halves their bytes and rounds them");
  v.optional("outer", c.outer, Section{}, "the step that is taken along the difference");
  v.optional("fragments", c.fragments, Section{},
             "parameters are exchanged part by part while training goes on (bsp by all-reduce only)",
             Absent{"all of them at once"});
}

void describe(Visitor& v, BucketSizes& c) {
  v.optional("first", c.first, size(above(0)), "bytes from which on the first bucket takes in no more");
  v.optional("size", c.size, size(above(0)), "of each further one");
}

void describe(Visitor& v, PhaseEntry& c) {
  describe_word(v, "policy", c.config.policy);
  v.required(
      "transport", c.config.transport,
      Choice{{"ring", Transport::ring},
             {"tree", Transport::tree},
             {"halving-doubling", Transport::halving_doubling},
             {"server", Transport::server}},
      "ring, tree, halving-doubling: all-reduce among the workers (bsp only); server: push to and pull from "
      "parameter servers");
  v.optional("share", c.share, percent(above_up_to(0, 1)), "of the job's samples",
             Absent{"`length` says; a last phase may have neither and takes the rest"});
  v.optional("length", c.length, length(), "updates, epochs or time, instead of a share",
             Absent{"`share` says"});
  describe_parameters(v, "policy", c.config.policy);
  v.optional("exchange", c.config.exchange,
             Choice{{"gradients", Exchange::gradients}, {"parameters", Exchange::parameters}},
             "gradients: pull, compute, push in every iteration; parameters: (asp only) a worker steps by "
             "itself, its parameters overwrite the server's, and it pulls once per epoch");
  v.optional("buckets", c.config.buckets, Section{},
             "gradients are summed bucket by bucket, from when they are computed, as DistributedDataParallel "
             "does (all-reduce only)",
             Absent{"all at once, after the backward pass"});
  v.optional("local", c.config.local, Section{},
             "workers train by themselves for several steps, and exchange the difference that made",
             Absent{"they exchange after every step"});
  describe_staleness_weight(v, c.config.staleness_weight);
  describe_switch(v, c.switching);
  v.optional("checkpoint_cost", c.checkpoint_cost, duration(at_least(0)), "of a checkpoint in this phase",
             Absent{"`checkpoints.cost`"});
}

void describe(Visitor& v, ReactionEntry& c) {
  describe_word(v, "policy", c.policy);
  describe_parameters(v, "policy", c.policy);
  v.only_if({"policy", words_with(&SwitchRule::drops_workers), c.policy->drops_workers});
  v.optional("probe_cost", c.probe_cost, duration(at_least(0)), "pause of every other worker for a probe");
  v.optional("regroup_cost", c.regroup_cost, duration(at_least(0)),
             "pause of every worker that goes on when some are dropped or taken in again");
  v.always();
}

}  // namespace paceline
