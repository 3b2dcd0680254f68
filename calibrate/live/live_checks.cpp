// What a live job cannot do yet is refused at the key that asks for it.
#include <algorithm>
#include <functional>

#include <boost/asio/ip/address.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "calibrate/live/cpu_budget.hpp"
#include "calibrate/live/emulated_links.hpp"
#include "calibrate/live/live_run.hpp"
#include "calibrate/live/sharing_timing.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/study/checks_before_running.hpp"

namespace paceline::live {
namespace {

using Refuse = std::function<void(const std::string& key, const std::string& what, const std::string& hint)>;

bool has_ring(const Scenario& scenario) {
  return std::ranges::any_of(scenario.synchronization, [](const PhaseEntry& phase) {
    return phase.config.transport != Transport::server;
  });
}

// Velocities of steps on a worker's own copy are its process's alone.
void check_own_steps(const LoadedScenario& loaded, const std::string& key, const Refuse& refuse) {
  const Scenario& scenario = loaded.scenario;
  const auto exchanges_gradients = [](const PhaseEntry& phase) {
    return phase.config.exchange == Exchange::gradients;
  };
  if (scenario.job.optimizer.momentum_at == MomentumPlace::workers &&
      std::ranges::any_of(scenario.synchronization, exchanges_gradients))
    refuse(key,
           "in a live job velocities of workers are not carried between phases that exchange parameters "
           "and others",
           "`momentum_at: server`, or the same exchange in all phases");
  if (scenario.emulate && scenario.emulate->restarts)
    refuse("emulate.restarts",
           "workers that step on their own copies would lose their velocities in a restart",
           "`exchange: gradients`, or remove `restarts`");
}

void check_phases(const LoadedScenario& loaded, const Refuse& refuse) {
  const std::vector<PhaseEntry>& phases = loaded.scenario.synchronization;
  for (std::size_t i = 0; i < phases.size(); ++i) {
    const std::string key = fmt::format("synchronization.{}", i);
    const Transport transport = phases[i].config.transport;
    if (transport != Transport::server && transport != Transport::ring)
      refuse(key + ".transport", "workers of a live job sum their gradients in a ring",
             "`transport: ring`, or `transport: server`");
    if (phases[i].config.exchange == Exchange::parameters) check_own_steps(loaded, key + ".exchange", refuse);
    if (phases[i].config.buckets)
      refuse(key + ".buckets", "workers of a live job sum a gradient once all of it is computed",
             "remove `buckets`");
    if (phases[i].config.local)
      refuse(key + ".local", "workers of a live job send a gradient after every step", "remove `local`");
  }
}

void check_workers(const LoadedScenario& loaded, const Refuse& refuse) {
  const std::vector<Worker>& workers = loaded.scenario.cluster.workers;
  for (std::size_t w = 0; w < workers.size(); ++w) {
    const std::string key = fmt::format("cluster.workers.{}", w);
    if (workers[w].cores != 1)
      refuse(key + ".cores", "a worker of a live job computes with one thread", "`cores: 1`");
    if (workers[w].speed > 1.0)
      refuse(key + ".speed", "a live worker cannot be made faster than this machine", "a speed of at most 1");
    if (const std::string reason = why_no_cpu_budget(); workers[w].quota && !reason.empty())
      refuse(key + ".quota.cores", fmt::format("no limit of processor time can be set: {}", reason),
             "run as root, or use `speed` instead");
  }
}

// A level that would make a worker faster than this machine.
void check_levels(const LoadedScenario& loaded, const Refuse& refuse) {
  const std::vector<Level>& schedule = loaded.scenario.heterogeneity.changes.schedule;
  const std::vector<Worker>& workers = loaded.scenario.cluster.workers;
  for (std::size_t i = 0; i < schedule.size(); ++i)
    for (std::size_t k = 0; k < schedule[i].speeds.size(); ++k) {
      const std::uint64_t worker = schedule[i].workers.empty() ? k : schedule[i].workers[k];
      const double speed = workers.at(worker).speed * schedule[i].speeds[k];
      if (speed <= 1.0) continue;
      refuse(fmt::format("heterogeneity.schedule.{}.speed.{}", i, k),
             fmt::format("worker {} would have a speed of {:g}: a live worker cannot be made faster than "
                         "this machine",
                         worker, speed),
             fmt::format("at most {:g}", 1.0 / workers.at(worker).speed));
    }
}

// Speeds and members may change; bandwidths where links are emulated; latency of messages with a server.
void check_changes(const LoadedScenario& loaded, const Refuse& refuse) {
  const Heterogeneity& changes = loaded.scenario.heterogeneity.changes;
  for (std::size_t i = 0; i < changes.schedule.size(); ++i) {
    const std::string key = fmt::format("heterogeneity.schedule.{}", i);
    if (!changes.schedule[i].cores.empty())
      refuse(key, "cores of a live job do not change while it runs",
             "speeds, members, bandwidths and latencies may change");
    if (!changes.schedule[i].bandwidths.empty() && !emulated_network(loaded.scenario))
      refuse(key, "bandwidths of a live job change only where it emulates them", "`emulate: {links: true}`");
  }
  const auto check_latency = [&](const std::string& key, Seconds added) {
    if (has_ring(loaded.scenario) && added > Seconds{})
      refuse(key + ".added_latency", "a live job adds no latency to messages of an all-reduce",
             "`transport: server`, or `slowdown`");
  };
  for (std::size_t i = 0; i < changes.stragglers.size(); ++i)
    check_latency(fmt::format("heterogeneity.stragglers.{}", i), changes.stragglers[i].added_latency);
  if (changes.random_stragglers)
    check_latency("heterogeneity.random_stragglers", changes.random_stragglers->added_latency);
  if (!loaded.scenario.heterogeneity.trace.empty())
    refuse("heterogeneity.trace", "a live job follows no trace", "a `schedule`");
}

bool has_slow_workers(const Scenario& scenario) {
  const Heterogeneity& changes = scenario.heterogeneity.changes;
  const auto is_slow = [](double speed) { return speed < 1.0; };
  return std::ranges::any_of(scenario.cluster.workers, is_slow, &Worker::speed) ||
         std::ranges::any_of(
             changes.schedule,
             [&](const Level& level) { return std::ranges::any_of(level.speeds, is_slow); }) ||
         !changes.stragglers.empty() || changes.random_stragglers;
}

// All that a live job without hosts starts runs on this machine.
void check_machines(const LoadedScenario& loaded, const Refuse& refuse) {
  const Scenario& scenario = loaded.scenario;
  const std::vector<Machine>& machines = scenario.cluster.machines;
  for (std::size_t m = 0; m < machines.size(); ++m) {
    if (!machines[m].is_shared) continue;
    const std::string key = fmt::format("cluster.machines.{}", m);
    if (workers_on(machines[m], scenario.cluster.workers.size()).size() < scenario.cluster.workers.size())
      refuse(key + ".workers", "all workers of a live job run on this machine",
             "leave `workers` out: it has all");
    if (!machines[m].hosts_servers && scenario.cluster.servers.placement == ServerPlacement::separate)
      refuse(key, "the server of a live job runs on this machine, too", "`servers: true`");
    if (machines[m].slow_workers == SlowWorkers::compute && has_slow_workers(scenario))
      refuse(key, "a worker of a live job is slower than this machine by resting", "`slow_workers: rest`");
  }
}

void check_job(const LoadedScenario& loaded, const Refuse& refuse) {
  const Scenario& scenario = loaded.scenario;
  if (scenario.learner.kind != LearnerKind::network)
    refuse("learner.kind", "a live job really trains its network",
           "`learner: {kind: network}`, with a network for 32x32 images");
  if (scenario.cluster.servers.count != 1)
    refuse("cluster.servers.count", "a live job has one server", "`count: 1`");
  check_changes(loaded, refuse);
  check_levels(loaded, refuse);
}

void check_hosts(const LoadedScenario& loaded, const Refuse& refuse) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=,+-@%";
  const Scenario& scenario = loaded.scenario;
  const HostsConfig& hosts = *scenario.hosts;
  if (hosts.launch.find_first_not_of(' ') == std::string::npos)
    refuse("hosts.launch", "the launcher has no command", "`launch: ssh {host}`");
  for (std::size_t i = 0; i < hosts.names.size(); ++i) {
    const std::string& name = hosts.names[i];
    if (name.empty() || name.front() == '-' || name.find_first_not_of(plain) != std::string::npos)
      refuse(fmt::format("hosts.names.{}", i), fmt::format("`{}` names no host", name),
             "letters, digits, dots and hyphens");
  }
  if (hosts.program.find_first_not_of(plain) != std::string::npos)
    refuse("hosts.program", fmt::format("`{}` is not passed on by every shell as it is", hosts.program),
           "a path of letters, digits and ./_-");
  boost::system::error_code error;
  boost::asio::ip::make_address(hosts.address, error);
  if (error) refuse("hosts.address", fmt::format("`{}` is no address", hosts.address), "`address: 10.0.0.1`");
  for (std::size_t w = 0; w < scenario.cluster.workers.size(); ++w)
    if (scenario.cluster.workers[w].quota)
      refuse(fmt::format("cluster.workers.{}.quota", w), "processor time is limited on this machine only",
             "`speed` instead");
  if (emulated_network(scenario))
    refuse("emulate.links", "links are emulated on this machine only", "remove `emulate`, or `hosts`");
}

void check_emulation(const LoadedScenario& loaded, const Refuse& refuse) {
  if (has_own_ring(loaded.scenario) && !has_ring(loaded.scenario))
    refuse("emulate.own_ring", "no phase sums its gradients in a ring",
           "`transport: ring`, or remove `own_ring`");
  if (!emulated_network(loaded.scenario)) return;
  if (loaded.scenario.cluster.network.topology != Topology::star)
    refuse("cluster.network.topology", "a live job emulates the links of a star only",
           "`topology: star`, or remove `emulate`");
  if (const std::string reason = why_no_emulated_links(); !reason.empty())
    refuse("emulate.links", reason, "run as root, with iproute2 installed, or remove `emulate`");
}

}  // namespace

std::vector<std::string> check_live(const LoadedScenario& loaded) {
  UserErrors mistakes;
  const Refuse refuse = [&](const std::string& key, const std::string& what, const std::string& hint) {
    mistakes.attempt([&] { fail_at(loaded, key, what, hint); });
  };
  check_phases(loaded, refuse);
  check_workers(loaded, refuse);
  check_job(loaded, refuse);
  check_emulation(loaded, refuse);
  if (loaded.scenario.hosts)
    check_hosts(loaded, refuse);
  else
    check_machines(loaded, refuse);
  mistakes.throw_if_any();
  const Scenario& scenario = loaded.scenario;
  std::vector<std::string> notes;
  if (!emulated_network(scenario))
    notes.emplace_back(
        "workers, server and messages are real; the scenario's network and jitter are not imposed");
  else if (has_own_ring(scenario) || !has_ring(scenario))
    notes.emplace_back("workers, server, messages and links are real; the scenario's jitter is not imposed");
  else
    notes.emplace_back(
        "workers, server, messages and links are real; the scenario's jitter is not imposed, nor is latency "
        "on messages of an all-reduce: Gloo's cannot be held back "
        "(`emulate: {links: true, own_ring: true}`)");
  if (scenario.hosts)
    notes.push_back(fmt::format("workers run on {}, started by `{}`; the server on this machine",
                                fmt::join(scenario.hosts->names, ", "), scenario.hosts->launch));
  else
    notes.emplace_back("server and workers are processes of this machine");
  const bool says_shared = std::ranges::any_of(scenario.cluster.machines, &Machine::is_shared);
  const auto processes = static_cast<int>(scenario.cluster.workers.size());
  if (processes >= usable_cores() && !says_shared && !scenario.hosts)
    notes.push_back(fmt::format(
        "{} workers and a server share {} cores, and a simulation of this scenario knows nothing of it: "
        "`machines: [{{cores: {}, shared: true, servers: true, slow_workers: rest}}]`",
        processes, usable_cores(), usable_cores()));
  bool rests = false;
  for (const Worker& worker : scenario.cluster.workers) rests = rests || worker.speed < 1.0;
  if (rests)
    notes.emplace_back(
        "a worker with a speed below 1 rests after each gradient, in proportion to the processor time it "
        "took");
  switch (scenario.evaluation.who_pays) {
    case EvaluationPayer::free:
      notes.emplace_back(
          "evaluations are free: they are made after the job, which goes on to its last epoch whatever its "
          "accuracy; results end where the target was reached");
      break;
    case EvaluationPayer::inline_workers:
      notes.emplace_back(
          "workers rest for the declared cost of an evaluation, which a process of its own makes meanwhile");
      break;
    case EvaluationPayer::evaluator:
      notes.emplace_back(
          "evaluations are made by a process of its own, which takes processor time from the workers unless "
          "a core is free");
      break;
  }
  return notes;
}

}  // namespace paceline::live
