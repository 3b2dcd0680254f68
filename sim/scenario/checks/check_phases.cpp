// Rules that join the keys of `synchronization`.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/policy/synchronization/synchronization.hpp"
#include "sim/scenario/checks/check.hpp"

namespace paceline {
namespace {

constexpr double share_tolerance = 1e-9;  // 33.3 % + 66.7 % does not sum to 1 exactly in binary

// How far a phase goes: by `share` or by `length`; only the last one may leave it open.
bool check_phase_length(const PhaseEntry& phase, std::size_t index, std::size_t count,
                        const Reading& reading) {
  Problems& problems = reading.problems();
  const std::string share = phase_path(index, "share");
  if (phase.share && phase.length) {
    problems.error(reading.spot(phase_path(index, "length")), "a phase has a `share` or a `length`, not both",
                   "remove one of them");
    return false;
  }
  if (phase.share || phase.length || index + 1 == count) return true;
  if (reading.is_given(share) || reading.is_given(phase_path(index, "length"))) return false;
  problems.error(
      reading.spot(share), "missing key `share`: another phase follows",
      "say what part of the job's samples this phase processes, for example `share: 25 %`, or its `length`");
  return false;
}

void check_shares(const Scenario& scenario, const Reading& reading) {
  const std::vector<PhaseEntry>& phases = scenario.synchronization;
  double sum = 0.0;
  bool all_are_shares = true;
  for (std::size_t i = 0; i < phases.size(); ++i) {
    const bool sound = check_phase_length(phases[i], i, phases.size(), reading) &&
                       all_sound(reading, {phase_path(i, "share").c_str(), phase_path(i, "length").c_str()});
    all_are_shares = all_are_shares && sound && phases[i].share.has_value();
    sum += phases[i].share.value_or(0.0);
  }
  const Spot last = reading.spot(phase_path(phases.size() - 1, "share"));
  if (all_are_shares && std::abs(sum - 1.0) > share_tolerance)
    reading.problems().error(
        last, fmt::format("the shares of the phases sum to {:.10g} %, not to 100 %", 100.0 * sum), "");
  else if (sum > 1.0 + share_tolerance)
    reading.problems().error(last, fmt::format("the shares of the phases sum to {:.10g} %", 100.0 * sum), "");
}

void check_policy(const Scenario& scenario, std::size_t index, const Reading& reading) {
  Problems& problems = reading.problems();
  const PhaseConfig& phase = scenario.synchronization[index].config;
  const std::string policy = phase_path(index, "policy");
  const std::string transport = phase_path(index, "transport");
  if (!all_sound(reading, {policy.c_str(), transport.c_str(), "cluster.workers"})) return;
  const auto workers = static_cast<std::int64_t>(scenario.cluster.workers.size());
  const bool is_all_reduce = phase.transport != Transport::server;
  if (is_all_reduce && phase.policy->waits_for != WaitsFor::all)
    problems.error(reading.spot(transport), "an all-reduce needs `policy: bsp`: all workers must take part",
                   "write `transport: server`");
  if (is_all_reduce && workers < 2)
    problems.error(reading.spot(transport), "an all-reduce needs at least 2 workers",
                   "write `transport: server`");
  if (const std::optional<Complaint> complaint = complaint_about(phase.policy, workers))
    if (const std::string key = phase_path(index, complaint->key); reading.is_sound(key))
      problems.error(reading.spot(key), complaint->message, "");
  if (scenario.cluster.servers.count > 1 && reading.is_sound("cluster.servers") &&
      !phase.policy->decides_alike_on_every_server)
    problems.error(reading.spot(policy),
                   "this policy needs a single server: several could take different gradients",
                   "set `cluster.servers.count` to 1");
  if (phase.exchange == Exchange::parameters && phase.policy->waits_for != WaitsFor::nobody)
    problems.error(reading.spot(phase_path(index, "exchange")), "`exchange: parameters` needs `policy: asp`",
                   "remove `exchange`");
}

// A length may end the job early, or never be reached: both are said.
void check_lengths(const Scenario& scenario, const Reading& reading) {
  const std::vector<PhaseEntry>& phases = scenario.synchronization;
  if (phases.back().length)
    reading.problems().warning(reading.spot(phase_path(phases.size() - 1, "length")),
                               "the job ends with this phase, even if it has not processed `stop.epochs`",
                               "leave `length` out to go on to the end");
  double epochs = 0.0;
  for (std::size_t i = 0; i + 1 < phases.size(); ++i) {
    const auto* count = phases[i].length ? std::get_if<EpochCount>(&*phases[i].length) : nullptr;
    epochs += count != nullptr ? count->epochs : phases[i].share.value_or(0.0) * scenario.stop.epochs;
    if (count != nullptr && reading.is_sound("stop.epochs") && epochs >= scenario.stop.epochs)
      reading.problems().warning(
          reading.spot(phase_path(i, "length")),
          fmt::format("the phases after this one are never reached: the job ends at epoch {}",
                      scenario.stop.epochs));
  }
}

}  // namespace

void check_phases(const Scenario& scenario, const Reading& reading) {
  if (!reading.is_sound("synchronization") && scenario.synchronization.empty()) return;
  check_shares(scenario, reading);
  check_lengths(scenario, reading);
  for (std::size_t i = 0; i < scenario.synchronization.size(); ++i) check_policy(scenario, i, reading);
  // A policy that leaves the first phase may come back to it.
  const bool may_come_back = scenario.reaction && scenario.reaction->policy->leaves_phases;
  for (const char* key : {"switch_cost", "switch_cost_per_worker", "switch_sleep", "restart"})
    if (reading.is_given(phase_path(0, key)) && !may_come_back)
      reading.problems().warning(reading.spot(phase_path(0, key)),
                                 fmt::format("`{}` of the first phase is not used", key),
                                 "it is paid before a phase that follows another; see `start_up`");
  for (std::size_t i = 0; i < scenario.synchronization.size(); ++i)
    if (const std::string key = phase_path(i, "checkpoint_cost");
        reading.is_given(key) && !scenario.checkpoints)
      reading.problems().warning(reading.spot(key), "`checkpoint_cost` is not used without `checkpoints`");
}

}  // namespace paceline
