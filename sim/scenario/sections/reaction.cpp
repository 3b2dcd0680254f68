// The section `reaction`: what is done about stragglers that were seen. Switch policies bring their words themselves
// (sim/policy/switching/switch_rules.inc).
#include <fmt/format.h>

#include "sim/policy/switching/switch_policy.hpp"
#include "sim/scenario/sections/sections.hpp"

namespace paceline {

namespace {

std::string switch_descriptions() {
  std::string text;
  for (const SwitchRule& rule : switch_rules())
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", rule.word, rule.description);
  return text;
}
Choice switch_choice() {
  std::vector<Choice::Word> words;
  for (const SwitchRule& rule : switch_rules()) words.emplace_back(rule.word, rule.kind);
  return Choice(std::move(words));
}
std::vector<std::string_view> switch_words(bool SwitchRule::*property) {
  std::vector<std::string_view> words;
  for (const SwitchRule& rule : switch_rules())
    if (rule.*property) words.push_back(rule.word);
  return words;
}

}  // namespace

void describe(Visitor& v, ReactionEntry& c) {
  v.required("policy", c.config.policy, switch_choice(), switch_descriptions());
  const SwitchRule& rule = rule_of(c.config.policy);
  DetectionConfig& detection = c.config.detection;
  v.only_if({"policy", switch_words(&SwitchRule::watches), rule.watches});
  v.optional("window", detection.window_iterations, iterations(),
             "of every worker, over which its throughput is taken");
  v.optional("consecutive", detection.consecutive_windows, Whole{1, 1000},
             "windows in a row that raise an alarm, or clear it");
  v.optional("floor", detection.floor, percent(from_and_below(0, 1)),
             "below its own baseline: a worker is not slow above that");
  v.optional("deviations", detection.deviations, Number{at_least(0)},
             "standard deviations below the mean of all workers: a worker is not slow above that");
  v.only_if({"policy", switch_words(&SwitchRule::drops_workers), rule.drops_workers});
  v.optional("probe_every", c.config.probe_every_updates, updates(), "between two probes of dropped workers");
  v.optional("probe_cost", c.probe_cost, duration(at_least(0)), "pause of every other worker for a probe");
  v.optional("regroup_cost", c.regroup_cost, duration(at_least(0)),
             "pause of every worker that goes on when some are dropped or taken in again");
  v.always();
}

}  // namespace paceline
