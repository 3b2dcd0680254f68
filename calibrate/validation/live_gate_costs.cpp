// What the scenario leaves open of its costs is measured: messages, rings, waits, rests, new batches,
// restarts, and how much processes slow each other down.
#include <algorithm>

#include <fmt/format.h>

#include "calibrate/collective/ring_in_job.hpp"
#include "calibrate/live/batch_preparation.hpp"
#include "calibrate/live/restart_timing.hpp"
#include "calibrate/validation/gate_simulation.hpp"
#include "calibrate/validation/live_gate.hpp"
#include "calibrate/validation/live_validation.hpp"
#include "sim/base/progress.hpp"
#include "sim/cost/quota_clock.hpp"
#include "sim/study/simulation.hpp"

namespace paceline {

// For gradients of the size of a network's that take so long to compute.
const live::CommunicationFit& LiveGate::communication_of(Bytes gradient, Seconds computing) {
  const auto values = static_cast<std::uint64_t>(std::max(1.0, gradient.value() / sizeof(float)));
  const std::tuple point{values, computing, links()};
  const auto known = communication_.find(point);
  if (known != communication_.end()) return known->second;
  Progress progress("timing requests");
  return communication_[point] = live::fit_communication(pace_.steadily([&] {
           return live::time_passes(
                      live::worker_program(),
                      {.values = {values, 2 * values, 4 * values},
                       .busy = live::memory_work_of(computing),
                       .links = without_burst()},
                      [&](double share) { progress.update(share, fmt::format("{} values", values)); })
               .of_number.front();
         }));
}

LiveGate::Links LiveGate::links() const {
  if (!options_.links) return {};
  const NetworkConfig& network = *options_.links;
  return {network.bandwidth.value(), network.server_bandwidth.value(), network.latency.value()};
}

live::LiveOptions LiveGate::without_links() const {
  live::LiveOptions options = options_;
  options.links.reset();
  return options;
}

// A line through messages of several sizes knows no burst.
std::optional<NetworkConfig> LiveGate::without_burst() const {
  std::optional<NetworkConfig> links = options_.links;
  if (links) links->model.burst = {};
  return links;
}

// What passes between a worker and the server passes both their links; the slower one has set its rate.
void LiveGate::adopt_connection(NetworkConfig& network, const live::Connection& connection,
                                GateFigures& figures) const {
  const auto [worker, server, latency] = links();
  const double slower = std::min(worker, server);
  network.latency = connection.latency;
  network.bandwidth = connection.bandwidth * (slower > 0.0 ? worker / slower : 1.0);
  network.server_bandwidth = connection.bandwidth * (slower > 0.0 ? server / slower : 1.0);
  state(figures, fmt::format("network: {{{}}}", live::scenario_words(connection)));
}

// Where the scenario does not say what messages cost it is measured; and so is the connection, since a live
// job does not impose the scenario's, or a little less of it.
bool LiveGate::fill_in_communication(Scenario& scenario, const Profiles& profiles, GateFigures& figures) {
  if (!profiles.job().loading)
    fmt::print(stderr,
               "note: {}: real workers fetch their batches, and the profile does not say how long that takes "
               "(`paceline calibrate --data`)\n",
               scenario.name);
  if (scenario.communication) return false;
  const live::CommunicationFit& fit =
      communication_of(profiles.job().parameter_bytes, quickest_iteration(scenario, profiles));
  adopt_communication(scenario, fit, figures);
  if (scenario.cluster.network.topology != Topology::star) return false;
  adopt_connection(scenario.cluster.network, connection_of(fit), figures);
  return true;
}

const calibrate::CollectiveFit& LiveGate::ring_of(const Scenario& scenario, Bytes gradient,
                                                  const std::vector<Seconds>& iterations) {
  const auto values = static_cast<std::uint64_t>(std::max(1.0, gradient.value() / sizeof(float)));
  const bool own = live::has_own_ring(scenario);
  const std::tuple point{values, iterations, links(), own};
  const auto known = rings_.find(point);
  if (known != rings_.end()) return known->second;
  constexpr int passes = 5;
  Progress progress("timing all-reduces");
  const std::vector<std::uint64_t> sizes = {values, 2 * values, 4 * values};
  const auto times = pace_.steadily([&] {
    return calibrate::time_rings_in_jobs(
        live::worker_program(), iterations, sizes, passes, Seconds{0.2}, without_burst(), own,
        [&](double share) { progress.update(share, fmt::format("{} members", iterations.size())); });
  });
  // Members wait for each other's turns as they will in the job, whatever the number of cores.
  return rings_[point] = calibrate::fit_collectives(times, iterations.size());
}

// Of the job's own ring, with what its server is asked in each round.
void LiveGate::fill_in_ring(Scenario& scenario, const Profiles& profiles, GateFigures& figures) {
  const calibrate::CollectiveFit& fit =
      ring_of(scenario, profiles.job().parameter_bytes, calibrated_iterations(scenario, profiles));
  scenario.communication = calibrate::cost_of(fit);
  state(figures, live::scenario_words(*scenario.communication));
  if (scenario.cluster.network.topology != Topology::star) return;
  adopt_connection(scenario.cluster.network, calibrate::connection_of(fit), figures);
}

// Processes that share cores wait for each other's turns, which a connection alone does not show: those that
// never rest more than others.
void LiveGate::delay_messages(LoadedScenario& loaded, const Profiles& profiles, GateFigures& figures) {
  const std::vector<std::int64_t> initial = live::initial_batches(loaded.scenario);
  std::vector<Seconds> measured;
  for (const TogetherTime& together : figures.together) measured.push_back(together.measured.between);
  const auto delayed = [&](const std::vector<Seconds>& added) {
    LoadedScenario job = loaded;
    for (std::size_t w = 0; w < added.size(); ++w) {
      std::optional<Seconds>& wait = job.scenario.cluster.workers[w].message_wait;
      wait = wait.value_or(job.scenario.jitter.message) + added[w];
    }
    return job;
  };
  const std::vector<Seconds> added =
      live::added_to_messages(measured, [&](const std::vector<Seconds>& tried) {
        std::vector<Seconds> between;
        for (const live::CycleTime& cycle :
             simulated_cycles(delayed(tried), profiles, WaitsFor::nobody, initial))
          between.push_back(cycle.between);
        return between;
      }).added;
  loaded = delayed(added);
  std::string waits;
  for (const Worker& worker : loaded.scenario.cluster.workers)
    waits += fmt::format("{}{{message_wait: {:.3g} us}}", waits.empty() ? "" : ", ",
                         1e6 * worker.message_wait.value_or(Seconds{}).value());
  state(figures, fmt::format("messages wait for a processor: workers: [{}]", waits));
}

const live::SharingTimes& LiveGate::sharing_of(const Scenario& scenario, Seconds iteration) {
  const std::tuple point{scenario.job.network, scenario.learner.model, scenario.batching.initial_samples,
                         scenario.cluster.workers.size()};
  const auto known = sharing_.find(point);
  if (known != sharing_.end()) return known->second;
  Progress progress("timing processes beside each other");
  const live::SharingLoad load{.learner = network_learner_config(scenario, {scenario.seed, 0}),
                               .batch_samples = scenario.batching.initial_samples,
                               .for_each = std::max(Seconds{0.5}, 10.0 * iteration)};
  const auto passes = pace_.steadily([&] {
    return live::time_sharing(live::worker_program(), load,
                              [&](double share) { progress.update(share, scenario.job.network); });
  });
  return sharing_[point] = live::sharing_here(passes);
}

const std::vector<RestCost>& LiveGate::resume_of(const Scenario& scenario, const Profiles& profiles) {
  const std::tuple point{scenario.job.network, scenario.learner.model, scenario.batching.initial_samples,
                         live::workers_beside_rests(scenario.cluster.workers.size(), live::usable_cores())};
  const auto known = resume_.find(point);
  if (known != resume_.end()) return known->second;
  Progress progress("timing iterations after rests");
  return resume_[point] = calibrate::resume_costs(pace_.steadily([&] {
           return live::time_rests(scenario, profiles, without_links(),
                                   [&](double share) { progress.update(share, scenario.job.network); });
         }));
}

// Where the scenario does not say what going on after a rest costs. A quota's stop is a rest, too.
void LiveGate::fill_in_resume(Scenario& scenario, const Profiles& profiles, GateFigures& figures) {
  if (scenario.resume.empty()) {
    scenario.resume = resume_of(scenario, profiles);
    state(figures, calibrate::scenario_words(scenario.resume));
  }
  for (Worker& worker : scenario.cluster.workers) {
    if (!worker.quota || worker.quota->resume) continue;
    const Seconds allowance = allowance_of(*worker.quota, worker.cores);
    const Seconds resume = resume_after(worker.quota->period - allowance, scenario.resume);
    if (resume < allowance) worker.quota->resume = resume;
  }
}

// Where batches change and the scenario does not say what a new one costs.
void LiveGate::fill_in_preparation(Scenario& scenario, GateFigures& figures) {
  BatchingConfig& batching = scenario.batching;
  const std::vector<std::int64_t> batches = live::batches_to_prepare(batching);
  if (batching.preparation || batches.empty()) return;
  const std::tuple point{scenario.job.network, scenario.learner.model, batches};
  const auto known = preparation_.find(point);
  if (known == preparation_.end()) {
    Progress progress("timing first iterations");
    preparation_[point] = live::preparation_of(pace_.steadily([&] {
      return live::time_first_iterations(live::worker_program(),
                                         network_learner_config(scenario, {scenario.seed, 0}),
                                         batching.initial_samples, batches,
                                         [&](double share) { progress.update(share, scenario.job.network); });
    }));
  }
  batching.preparation = preparation_[point];
  state(figures, live::preparation_words(*batching.preparation));
}

// Where a phase has no cost of the switch to it.
void LiveGate::fill_in_restarts(Scenario& scenario, GateFigures& figures) {
  if (!scenario.emulate || !scenario.emulate->restarts) return;
  const auto is_open = [&](const PhaseEntry& phase) {
    return &phase != scenario.synchronization.data() && phase.switching.of(WorkerId{0}) == Seconds{};
  };
  if (std::ranges::none_of(scenario.synchronization, is_open)) return;
  constexpr std::size_t passes = 3;
  const Seconds cost = pace_.steadily([&] { return live::time_restarts(scenario, options_, passes); });
  for (PhaseEntry& phase : scenario.synchronization)
    if (is_open(phase)) phase.switching.time = cost;
  state(figures, fmt::format("switch_cost: {:.3g} s", cost.value()));
}

// Where a shared machine has no speeds in the scenario, it is this one.
void LiveGate::fill_in_sharing(Scenario& scenario, const Profiles& profiles, GateFigures& figures) {
  for (Machine& machine : scenario.cluster.machines) {
    if (!machine.is_shared || !machine.speeds.empty()) continue;
    figures.sharing = sharing_of(scenario, quickest_iteration(scenario, profiles));
    machine.cores = figures.sharing->cores;
    machine.speeds = figures.sharing->speeds;
    if (machine.turns) figures.sharing->turns = machine.turns;
    machine.turns = figures.sharing->turns;
    state(figures, fmt::format("machines: [{{{}}}]", live::scenario_words(*figures.sharing)));
  }
}

}  // namespace paceline
