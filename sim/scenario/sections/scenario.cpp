// A scenario file as a whole: its sections.
#include "sim/scenario/sections/sections.hpp"

namespace paceline {

void describe(Visitor& v, HostsConfig& c) {
  v.required("launch", c.launch, Text{},
             "starts a worker: runs what follows it on {host}, as `ssh {host}` does");
  v.required("names", c.names, ListOf{Text{}, "host", 1, 65'536},
             "of the workers' hosts, in their order; after the last comes the first again");
  v.optional("address", c.address, Text{},
             "of this machine, as the hosts reach it: the server listens there only");
  v.optional("program", c.program, Text{}, "paceline-calibrate on the hosts", Absent{"where it is here"});
}

void describe(Visitor& v, EmulationConfig& c) {
  v.optional("links", c.links, Boolean{},
             "whether workers and server get links of the network's bandwidth, burst and latency (star only; "
             "needs root)");
  v.optional("restarts", c.restarts, Boolean{},
             "whether at a switch the state is saved and workers' processes end and start anew, which takes "
             "what it takes; a simulation takes the phase's `switch_cost`");
  v.optional(
      "own_ring", c.own_ring, Boolean{},
      "whether workers sum their gradients in paceline's own ring, never by Gloo: its messages take the "
      "network's latency on emulated links, and Gloo's cannot be held back");
}

void describe(Visitor& v, Scenario& c) {
  v.required("name", c.name, Text{}, "appears in tables and figures");
  v.optional("question", c.question, Text{}, "what this scenario is to answer", Absent{"none"});
  v.optional("seed", c.seed, Whole{0, std::numeric_limits<std::uint32_t>::max()}, "of every random number");
  v.optional("replications", c.replications, Whole{1, 1'000'000}, "runs that differ in their random numbers");
  v.optional("engine", c.engine,
             Choice{{"auto", NetworkEngine::automatic},
                    {"fluid", NetworkEngine::fluid},
                    {"simgrid", NetworkEngine::simgrid}},
             "what simulates the network; auto: fluid, which is faster, where its dates are SimGrid's");
  v.optional(
      "shortcuts", c.shortcuts, Choice{{"on", Shortcuts::on}, {"off", Shortcuts::off}},
      "off: nothing is left out because it would come out as before, local steps are taken one by one, "
      "and auto is simgrid");
  v.required("job", c.job, Section{}, "what is trained, and how");
  v.required("cluster", c.cluster, Section{}, "what it is trained on");
  v.required("synchronization", c.synchronization, ListOf{Section{}, "phase", 1, 1000},
             "phases, one after the other");
  v.optional("reaction", c.reaction, Section{}, "what is done about stragglers seen in bsp phases",
             Absent{"nobody is watched"});
  v.optional("coordination", c.coordination, Section{}, "serial cost of synchronous updates");
  v.optional("communication", c.communication, Section{},
             "processor time of messages at workers and servers; a live job prints what they took",
             Absent{"none: not calibrated"});
  v.optional("start_up", c.start_up, Section{}, "pause before the first phase", Absent{"none"});
  v.optional("ramp_up", c.ramp_up, Section{}, "slow iterations after a start or a switch", Absent{"none"});
  v.optional("resume", c.resume, ListOf{Section{}, "rest", 1, 1000},
             "what an iteration takes longer after its worker has waited, by ascending rests",
             Absent{"none: not calibrated"});
  v.optional("checkpoints", c.checkpoints, Section{}, "periodic pauses", Absent{"none"});
  v.required("batching", c.batching, Section{}, "batch sizes of the workers");
  v.optional("heterogeneity", c.heterogeneity, Section{}, "what changes while the job runs");
  v.optional("jitter", c.jitter, Section{}, "random variation of compute times");
  v.optional("prediction", c.prediction, Section{}, "which cluster the results are to hold for");
  v.required("learner", c.learner, Section{}, "what turns updates into loss and accuracy");
  v.required("evaluation", c.evaluation, Section{}, "when accuracy is looked at");
  v.required("stop", c.stop, Section{}, "when the job ends");
  v.optional("expect", c.expect, Section{}, "what must hold of the results, or the exit code is 3");
  v.optional("hosts", c.hosts, Section{}, "of a live job: other machines that its workers run on",
             Absent{"all run here"});
  v.optional("emulate", c.emulate, Section{}, "of a live job: what it imposes on this machine",
             Absent{"messages pass as fast as they can"});
}

}  // namespace paceline
