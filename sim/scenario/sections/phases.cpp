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

}  // namespace

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
