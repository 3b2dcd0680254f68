// The one description of what a scenario file may hold. Reading, printing and the JSON schema are visitors of
// it, so they cannot disagree. Each section has a file of its own in description/; what composes them is here.
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

#include <cstdint>

#include "sim/scenario/scenario.hpp"
#include "sim/scenario/schema/value_kinds.hpp"
#include "sim/scenario/sections/batching.hpp"
#include "sim/scenario/sections/cluster.hpp"
#include "sim/scenario/sections/expectations.hpp"
#include "sim/scenario/sections/fixed_costs.hpp"
#include "sim/scenario/sections/heterogeneity.hpp"
#include "sim/scenario/sections/job.hpp"
#include "sim/scenario/sections/learning.hpp"
#include "sim/scenario/sections/phases.hpp"
#include "sim/scenario/sections/reaction.hpp"
#include "sim/scenario/sections/terms.hpp"

namespace paceline {

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
