// Rules that join the keys of `synchronization`, and those of `reaction` with the rest.
#include <array>
#include <ranges>

#include "sim/policy/synchronization/synchronization.hpp"
#include "sim/scenario/checks/check.hpp"

namespace paceline {
namespace {

constexpr double share_tolerance = 1e-9;  // 33.3 % + 66.7 % does not sum to 1 exactly in binary

// What is paid before a phase that follows another; the last one says how.
constexpr std::array switch_keys = {"switch_cost", "switch_cost_per_worker", "switch_sleep", "restart"};

class PhaseRules : Rules {
 public:
  using Rules::Rules;

  void check() const {
    if (phases.empty()) return;
    check_shares();
    check_lengths();
    for (std::size_t i = 0; i < phases.size(); ++i) {
      if (sound(in_phase(i, "policy"), in_phase(i, "transport"), "cluster.workers")) check_policy(i);
      if (const std::string key = in_phase(i, "checkpoint_cost"); given(key) && !scenario.checkpoints)
        warn(key, "`checkpoint_cost` is not used without `checkpoints`");
    }
    // A policy that leaves the first phase may come back to it.
    if (!scenario.reaction || !scenario.reaction->policy->leaves_phases)
      for (const char* key : switch_keys)
        if (given(in_phase(0, key)))
          warn(in_phase(0, key), fmt::format("`{}` of the first phase is not used", key),
               "it is paid before a phase that follows another; see `start_up`");
  }

 private:
  const std::vector<PhaseEntry>& phases = scenario.synchronization;

  // How far a phase goes: by `share` or by `length`; only the last one may leave it open.
  [[nodiscard]] bool check_extent(std::size_t i) const {
    const PhaseEntry& phase = phases[i];
    const std::string share = in_phase(i, "share");
    if (phase.share && phase.length) {
      error(in_phase(i, "length"), "a phase has a `share` or a `length`, not both", "remove one of them");
      return false;
    }
    if (phase.share || phase.length || i + 1 == phases.size()) return true;
    if (given(share) || given(in_phase(i, "length"))) return false;
    error(share, "missing key `share`: another phase follows",
          "say what part of the job's samples this phase processes, for example `share: 25 %`, or its "
          "`length`");
    return false;
  }

  void check_shares() const {
    double sum = 0.0;
    bool all_are_shares = true;
    for (std::size_t i = 0; i < phases.size(); ++i) {
      const bool good = check_extent(i) && sound(in_phase(i, "share"), in_phase(i, "length"));
      all_are_shares = all_are_shares && good && phases[i].share.has_value();
      sum += phases[i].share.value_or(0.0);
    }
    const bool is_short = all_are_shares && sum < 1.0 - share_tolerance;
    if (is_short || sum > 1.0 + share_tolerance)
      error(in_phase(phases.size() - 1, "share"),
            fmt::format("the shares of the phases sum to {:.10g} %, not to 100 %", 100.0 * sum),
            "leave out the last phase's `share`: it takes the rest");
  }

  void check_policy(std::size_t i) const {
    const PhaseConfig& phase = phases[i].config;
    const std::size_t workers = scenario.cluster.workers.size();
    const std::string transport = in_phase(i, "transport");
    const bool is_all_reduce = phase.transport != Transport::server;
    if (is_all_reduce && phase.policy->waits_for != WaitsFor::all)
      error(transport, "an all-reduce needs `policy: bsp`: all workers must take part",
            "write `transport: server`");
    if (is_all_reduce && workers < 2)
      error(transport, "an all-reduce needs at least 2 workers", "write `transport: server`");
    if (const auto complaint = complaint_about(phase.policy, static_cast<std::int64_t>(workers)))
      if (const std::string key = in_phase(i, complaint->key); sound(key)) error(key, complaint->message);
    if (scenario.cluster.servers.count > 1 && sound("cluster.servers") &&
        !phase.policy->decides_alike_on_every_server)
      error(in_phase(i, "policy"),
            "this policy needs a single server: several could take different gradients",
            "set `cluster.servers.count` to 1");
    check_local_training(i);
    if (phase.exchange == Exchange::parameters && phase.policy->waits_for != WaitsFor::nobody)
      error(in_phase(i, "exchange"), "`exchange: parameters` needs `policy: asp`", "remove `exchange`");
  }

  void check_local_training(std::size_t i) const {
    const PhaseConfig& phase = phases[i].config;
    if (!phase.local) return;
    const OuterOptimizer& outer = phase.local->outer;
    const std::string place = in_phase(i, "local.outer");
    if (phase.exchange == Exchange::parameters)
      error(in_phase(i, "exchange"), "local training exchanges differences, not parameters",
            "remove `exchange`");
    const bool is_alone = phase.policy->waits_for == WaitsFor::nobody && scenario.cluster.servers.count == 1;
    if (outer.every > 1 && !is_alone)
      error(place + ".every", "a buffer of differences needs `policy: asp` and a single server",
            "remove `every`");
    check_delayed_momentum(outer, is_alone, place);
    if (outer.nesterov && outer.momentum == 0.0)
      error(place + ".nesterov", "`nesterov` needs `momentum` above 0",
            "write a `momentum`, for example 0.9");
    check_fragments(i);
    const LearnerKind learner = scenario.learner.kind;
    const bool takes_the_mean = phase.policy->waits_for == WaitsFor::all && outer.learning_rate == 1.0 &&
                                outer.momentum == 0.0 && !phase.local->fragments;
    const bool is_equal = !phase.local->by_speed && !phase.local->growth;
    if ((learner == LearnerKind::statistical || learner == LearnerKind::assumed) &&
        !(takes_the_mean && is_equal))
      error(in_phase(i, "local"),
            "a statistical learner knows local training only under `bsp`, with equal numbers of steps whose "
            "mean becomes the parameters",
            "leave `outer`, `fragments`, `by_speed` and `growth` out, train the network itself (`learner: "
            "{kind: network}`), or ask for times alone (`kind: none`)");
  }

  void check_delayed_momentum(const OuterOptimizer& outer, bool is_alone, const std::string& place) const {
    const auto many = static_cast<double>(outer.momentum_every);
    const std::string every = place + ".momentum_every";
    if (given(place + ".momentum_between") && outer.momentum_between > 1.0 / many)
      error(place + ".momentum_between",
            fmt::format("{} steps between two moves of the velocity count at most 1/{} of it each",
                        outer.momentum_every, outer.momentum_every),
            "0 leaves it to the step with which it moves");
    if (outer.momentum_every == 1) return;
    if (!is_alone)
      error(every, "a delayed velocity needs `policy: asp` and a single server", "remove `momentum_every`");
    if (outer.every > 1)
      error(every, "a buffer of differences is one step: its velocity has nothing to wait for",
            "remove `every` or `momentum_every`");
    if (!outer.nesterov)
      error(every, "a delayed velocity is Nesterov's", "write `nesterov: true`, and a `momentum`");
  }

  void check_fragments(std::size_t i) const {
    const PhaseConfig& phase = phases[i].config;
    if (!phase.local->fragments) return;
    const auto& [count, delay, mixing] = *phase.local->fragments;
    const std::string place = in_phase(i, "local.fragments");
    if (phase.policy->waits_for != WaitsFor::all || phase.transport == Transport::server)
      error(place, "fragments are exchanged by all workers together",
            "use `policy: bsp` with an all-reduce, for example `transport: ring`");
    if (phase.local->by_speed || phase.local->growth)
      error(place, "fragments are exchanged after the same number of steps by every worker",
            "remove `by_speed` or `growth`");
    if (phase.local->steps % count != 0)
      return error(place + ".count",
                   fmt::format("{} fragments do not divide {} steps", count, phase.local->steps),
                   fmt::format("one of them is exchanged after every steps / count: for example `steps: {}`",
                               (phase.local->steps / count + 1) * count));
    if (const std::int64_t between = phase.local->steps / count; delay >= between)
      error(
          place + ".delay",
          fmt::format("a fragment that travels for {} steps is not there when the next one is due, after {}",
                      delay, between),
          fmt::format("write `delay: {}` or less", between - 1));
  }

  // A length may end the job early, or never be reached: both are said.
  void check_lengths() const {
    if (phases.back().length)
      warn(in_phase(phases.size() - 1, "length"),
           "the job ends with this phase, even if it has not processed `stop.epochs`",
           "leave `length` out to go on to the end");
    double epochs = 0.0;
    for (std::size_t i = 0; i + 1 < phases.size(); ++i) {
      const auto* count = phases[i].length ? std::get_if<EpochCount>(&*phases[i].length) : nullptr;
      epochs += count != nullptr ? count->epochs : phases[i].share.value_or(0.0) * scenario.stop.epochs;
      if (count != nullptr && sound("stop.epochs") && epochs >= scenario.stop.epochs)
        warn(in_phase(i, "length"),
             fmt::format("the phases after this one are never reached: the job ends at epoch {}",
                         scenario.stop.epochs));
    }
  }
};

class ReactionRules : Rules {
 public:
  using Rules::Rules;

  void check() const {
    if (!scenario.reaction || !sound(policy, "synchronization", "cluster.workers")) return;
    const SwitchChoice& rule = scenario.reaction->policy;
    if (!rule->watches) return;
    std::vector<PhaseConfig> phases;
    for (const PhaseEntry& phase : scenario.synchronization) phases.push_back(phase.config);
    if (std::ranges::none_of(phases, is_watched))
      error(policy, fmt::format("`policy: {}` has nothing to watch: no phase is `bsp`", rule->word),
            "stragglers matter where all workers wait for each other");
    // Of two workers each is as far from their mean as the deviation: who is slow would be a matter of
    // rounding.
    if (scenario.cluster.workers.size() < 3)
      error(policy, "who straggles is told from the others: at least 3 workers are needed",
            "remove `reaction`");
    if (const BatchControllerChoice& controller = scenario.batching.controller; controller->adjusts)
      error(policy,
            fmt::format("`controller: {}` changes batches, and with them throughputs: a smaller batch would "
                        "be taken for a straggler",
                        controller->word),
            "use a controller that keeps its batches, `uniform` or `static`, or remove `reaction`");
    if (rule->drops_workers && !scenario.heterogeneity.changes.membership.empty())
      error(policy,
            fmt::format("`policy: {}` cannot be combined with `heterogeneity.membership`", rule->word),
            "workers are dropped by the policy, or leave by themselves");
    if (rule->leaves_phases) check_phases_to_leave(phases, rule->word);
  }

 private:
  const std::string policy = "reaction.policy";

  void check_phases_to_leave(const std::vector<PhaseConfig>& phases, std::string_view word) const {
    bool leaves_some = false;
    for (std::size_t i = 0; i < phases.size(); ++i) {
      if (!is_watched(phases[i]) || !asynchronous_phase_after(phases, i)) continue;
      leaves_some = true;
      const std::optional<PhaseLength>& length = scenario.synchronization[i].length;
      if (length && std::holds_alternative<Seconds>(*length))
        error(in_phase(i, "length"), "a phase that may be left and taken up again cannot end by time",
              "give a `share`, or a `length` in updates or epochs");
      const auto is_given = [&](const char* key) { return given(in_phase(i, key)); };
      if (std::ranges::none_of(switch_keys | std::views::take(switch_keys.size() - 1), is_given))
        warn(in_phase(i, "policy"),
             "coming back to this phase after a straggler costs nothing: it has no `switch_cost`",
             "write `switch_cost: 0 s` if that is meant");
    }
    if (!leaves_some)
      error(policy, fmt::format("`policy: {}` has nowhere to go: no `asp` phase follows a `bsp` phase", word),
            "add one to `synchronization`, for example `{policy: asp, transport: server, share: 95 %}`");
  }
};

}  // namespace

void check_phases(const Scenario& scenario, const Reading& reading) {
  PhaseRules(scenario, reading).check();
  ReactionRules(scenario, reading).check();
}

}  // namespace paceline
