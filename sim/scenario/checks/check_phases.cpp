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
    if (phase.buckets) check_buckets(i);
    if (phase.exchange == Exchange::parameters && phase.policy->waits_for != WaitsFor::nobody)
      error(in_phase(i, "exchange"), "`exchange: parameters` needs `policy: asp`", "remove `exchange`");
  }

  void check_buckets(std::size_t i) const {
    const PhaseConfig& phase = phases[i].config;
    const std::string key = in_phase(i, "buckets");
    if (phase.transport == Transport::server)
      error(key, "a server is sent a gradient as a whole", "remove `buckets`, or write `transport: ring`");
    if (phase.local)
      error(key, "workers that train by themselves have nothing to exchange before their last step",
            "remove `buckets` or `local`");
    const auto rests = [](const Machine& machine) { return machine.slow_workers == SlowWorkers::rest; };
    if (std::ranges::any_of(scenario.cluster.machines, rests))
      error(key, "a slow worker that rests sends nothing before it has rested",
            "write `slow_workers: compute`");
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
