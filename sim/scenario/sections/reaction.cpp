// The section `reaction`: what is done about stragglers that were seen.
#include "sim/scenario/sections/sections.hpp"

namespace paceline {

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
