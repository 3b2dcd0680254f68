#include "calibrate/validation/live_gate.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "calibrate/collective/ring_in_job.hpp"
#include "calibrate/live/batch_preparation.hpp"
#include "calibrate/live/restart_timing.hpp"
#include "calibrate/logs/correction.hpp"
#include "calibrate/logs/text.hpp"
#include "calibrate/validation/live_validation.hpp"
#include "sim/base/atomic_file.hpp"
#include "sim/base/check.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/base/progress.hpp"
#include "sim/cost/quota_clock.hpp"
#include "sim/study/study_runs.hpp"

namespace paceline {
namespace {

void write_corrected(const Profile& profile, int cores, const std::vector<live::AloneTime>& times,
                     double factor, const std::filesystem::path& file) {
  std::vector<calibrate::OwnBatchTime> computing;
  for (const live::AloneTime& time : times) {
    computing.push_back(time.computing);
    computing.back().wall.seconds *= factor;
    computing.back().wall.half_width_s *= factor;
  }
  const auto by = times.size() == 1 ? calibrate::CorrectBy::factor : calibrate::CorrectBy::whatever_fits;
  const calibrate::Correction correction =
      calibrate::correct(profile, computing, {.cores = cores, .by = by, .with_optimizer_step = false});
  const std::string date = fmt::format("{:%FT%TZ}", fmt::gmtime(std::chrono::system_clock::now()));
  write_file_atomically(
      file, calibrate::corrected_profile_text(profile.path, correction,
                                              {.source = "short live jobs", .date = date, .warm_up = 0}));
}

bool sums_in_ring(const PhaseEntry& phase) {
  return phase.config.transport != Transport::server;
}

}  // namespace

GateFigures LiveGate::measure(LoadedScenario& loaded, std::shared_ptr<const Profiles>& profiles) {
  GateFigures figures;
  options_.links = live::emulated_network(loaded.scenario);
  figures.calibrated = profiles;
  const std::shared_ptr<const Profiles> originals = profiles;
  const std::vector<Worker>& workers = loaded.scenario.cluster.workers;
  pace_.survey(loaded.scenario, originals);
  for (std::uint64_t w = 0; w < workers.size(); ++w) {
    figures.alone.push_back(iterations_of(loaded.scenario, *originals, WorkerId{w}));
    for (const live::AloneTime& time : figures.alone.back())
      fmt::print("{}: {}, alone: an iteration of {} samples takes {} (calibrated: {})\n",
                 loaded.scenario.name, name_of(workers, w), time.computing.batch,
                 calibrate::duration_text(time.measured.value()),
                 calibrate::duration_text(time.modelled.value()));
  }
  for (std::uint64_t w = 0; w < workers.size(); ++w) {
    const live::AloneTime& time = figures.alone[w].front();
    const std::string what =
        fmt::format("{}: {} takes {} for an iteration of {} samples, by its profile {}", loaded.scenario.name,
                    name_of(workers, w), calibrate::duration_text(time.measured.value()),
                    time.computing.batch, calibrate::duration_text(time.modelled.value()));
    if (pace_.accept_deviation(deviation(time.measured, time.modelled), what))
      figures.deviations.push_back(what);
  }
  std::vector<double>& factors = figures.factors;
  factors.assign(workers.size(), 1.0);
  const auto adopt_factors = [&](const std::string& suffix) {
    correct(loaded, figures, factors, suffix);
    profiles = InputFiles().profiles_of(loaded);
  };
  adopt_factors("-alone");
  const bool has_ring = std::ranges::any_of(loaded.scenario.synchronization, sums_in_ring);
  const bool is_ring =
      std::ranges::all_of(loaded.scenario.synchronization, sums_in_ring) && !loaded.scenario.communication;
  GateFigures of_server;  // of an asynchronous job beside, whatever the job's own way
  const bool network_is_measured =
      fill_in_communication(loaded.scenario, *profiles, is_ring ? of_server : figures);
  if (has_ring && network_is_measured && !is_ring)
    fmt::print(stderr, "note: {}: messages in its ring are predicted to cost what those with its server do\n",
               loaded.scenario.name);
  fill_in_resume(loaded.scenario, *originals, figures);
  fill_in_preparation(loaded.scenario, figures);
  fill_in_sharing(loaded.scenario, *profiles, figures);
  fill_in_restarts(loaded.scenario, figures);
  if (workers.size() < 2) return figures;
  figures.together = together_of(loaded, *profiles, figures);
  const auto text = [](Seconds time) { return calibrate::duration_text(time.value()); };
  for (std::size_t w = 0; w < workers.size(); ++w) {
    const TogetherTime& together = figures.together[w];
    fmt::print(
        "{}: {}, beside the others: {}, and {} until the next (predicted from what it takes alone: {}, {})\n",
        loaded.scenario.name, name_of(workers, w), text(together.measured.iteration),
        text(together.measured.between), text(together.predicted.iteration),
        text(together.predicted.between));
  }
  const auto slow_down = [&](const std::vector<live::CycleTime>& predicted) {
    for (std::size_t w = 0; w < workers.size(); ++w)
      factors[w] *= figures.together[w].measured.iteration / predicted[w].iteration;
    adopt_factors("");
  };
  std::vector<live::CycleTime> predicted;
  for (const TogetherTime& together : figures.together) predicted.push_back(together.predicted);
  slow_down(predicted);
  if (is_ring) {
    fill_in_ring(loaded.scenario, *profiles, figures);
  } else if (network_is_measured) {
    delay_messages(loaded, *profiles, figures);
    slow_down(simulated_cycles(loaded, *profiles));  // who waits leaves the cores to the others
  }
  return figures;
}

namespace {

// By run, then by worker.
using SimulatedSteps = std::vector<std::vector<std::vector<calibrate::TimedStep>>>;
SimulatedSteps simulated_steps(const LoadedScenario& loaded, const Profiles& profiles) {
  LoadedScenario job = loaded;
  job.scenario = live::together_job(loaded.scenario, profiles);
  job.scenario.learner = {};
  job.scenario.replications = 5;
  PreparedStudy study = prepare_scenarios({job}, ProfileUse::as_fitted);
  const WholeRuns whole =
      run_whole(study, missing_runs(study.planned, {}), 1, {.iterations = true, .trace = false});
  SimulatedSteps steps;
  for (const RunResult& run : whole.variants.front().runs)
    steps.push_back(live::finished_iterations(run.iterations, job.scenario.cluster.workers.size()));
  return steps;
}

// What jobs that time workers together vary by though nothing does so by itself: servers and turns.
calibrate::StepVariation simulated_variation(LoadedScenario loaded, const Profiles& profiles) {
  JitterOverrides& jitter = loaded.scenario.jitter;
  jitter = {.run_cv = 0.0, .worker_cv = 0.0, .iteration_cv = 0.0, .message = jitter.message};
  std::vector<std::vector<calibrate::TimedStep>> series;
  for (auto& run : simulated_steps(loaded, profiles)) std::ranges::move(run, std::back_inserter(series));
  return calibrate::step_variation(series);
}

Scenario with_initial_batch(Scenario scenario, std::int64_t samples) {
  scenario.batching.initial_samples = samples;
  return scenario;
}

}  // namespace

std::vector<live::CycleTime> simulated_cycles(const LoadedScenario& loaded, const Profiles& profiles) {
  std::vector<live::CycleTime> means(loaded.scenario.cluster.workers.size());
  const SimulatedSteps runs = simulated_steps(loaded, profiles);
  for (const auto& run : runs) {
    const std::vector<live::CycleTime> of_run = live::mean_cycles(run);
    for (std::size_t w = 0; w < means.size(); ++w) {
      means[w].iteration += of_run[w].iteration / static_cast<double>(runs.size());
      means[w].between += of_run[w].between / static_cast<double>(runs.size());
    }
  }
  return means;
}

LiveGate::TimedWorker LiveGate::timed_worker(const Scenario& scenario, std::size_t worker) {
  Worker alike = scenario.cluster.workers.at(worker);
  alike.name.clear();
  alike.price_per_hour.reset();
  alike.random_stream.reset();
  alike.profile.clear();
  return {alike, scenario.job.network, scenario.learner.model, scenario.job.profile,
          live::batches_to_time(scenario.batching)};
}

const std::vector<live::AloneTime>& LiveGate::iterations_of(const Scenario& scenario,
                                                            const Profiles& profiles, WorkerId worker) {
  const TimedWorker point = timed_worker(scenario, worker.value);
  const auto known = std::ranges::find(iterations_, point, [](const auto& one) { return one.first; });
  if (known != iterations_.end()) return known->second;
  Progress progress("timing iterations");
  const std::string name = name_of(scenario.cluster.workers, worker.value);
  auto times = pace_.steadily([&] {
    return live::time_alone(scenario, profiles, worker, point.batches, without_links(), [&](double share) {
      progress.update(share, fmt::format("{}, {}", scenario.name, name));
    });
  });
  return iterations_.emplace_back(point, std::move(times)).second;
}

void LiveGate::time_together(const Scenario& scenario, const Profiles& profiles, TimedTogether& timed) {
  constexpr int rounds = 5;
  Progress progress("timing all workers together");
  const std::int64_t smallest = live::batches_to_time(scenario.batching).front();
  const bool batches_change = smallest < scenario.batching.initial_samples;
  std::vector<live::TogetherPass> passes;
  std::vector<live::TogetherPass> of_smallest;
  for (int round = 0; round < rounds; ++round) {
    progress.update(static_cast<double>(round) / rounds, scenario.name);
    std::vector<live::TogetherPass> of_round;
    timed.slowness.push_back(pace_.slowness_while([&] {
      of_round = live::time_together(scenario, profiles, round, options_);
      if (batches_change)
        std::ranges::move(
            live::time_together(with_initial_batch(scenario, smallest), profiles, round, options_),
            std::back_inserter(of_smallest));
    }));
    for (live::TogetherPass& pass : of_round) {
      pass.slowness = timed.slowness.back();
      passes.push_back(std::move(pass));
    }
  }
  progress.update(1.0, scenario.name);
  timed.times = live::together_times(passes);
  if (batches_change) timed.of_smallest = live::together_times(of_smallest).variation;
}

std::vector<TogetherTime> LiveGate::together_of(LoadedScenario& loaded, const Profiles& profiles,
                                                GateFigures& figures) {
  const Scenario& scenario = loaded.scenario;
  const std::size_t workers = scenario.cluster.workers.size();
  std::vector<TimedWorker> point;
  for (std::size_t w = 0; w < workers; ++w) point.push_back(timed_worker(scenario, w));
  auto known = std::ranges::find_if(
      together_, [&](const TimedTogether& one) { return one.workers == point && one.links == links(); });
  if (known == together_.end()) {
    TimedTogether timed{.workers = std::move(point), .links = links()};
    time_together(scenario, profiles, timed);
    between_workers_ += timed.times.between_workers;
    known = together_.insert(known, std::move(timed));
  }
  figures.slowness = known->slowness;
  const live::TogetherTimes& measured = known->times;
  adopt_variation(loaded, profiles, *known, figures);
  const std::vector<live::CycleTime> predicted = simulated_cycles(loaded, profiles);
  std::vector<TogetherTime> times;
  for (std::size_t w = 0; w < workers; ++w) times.push_back({measured.cycles[w], predicted[w]});
  return times;
}

// Where the scenario says nothing of it. Runs differ as the machine's speed did between measurements.
void LiveGate::adopt_variation(LoadedScenario& loaded, const Profiles& profiles, const TimedTogether& timed,
                               GateFigures& figures) const {
  JitterOverrides& jitter = loaded.scenario.jitter;
  const calibrate::StepVariation& variation = timed.times.variation;
  const double between_workers = std::max(
      0.0, between_workers_.variance() - calibrate::variance_of_mean(variation.spells, timed.times.pass));
  const auto adopt = [&](std::optional<double>& stated, const char* key, double coefficient) {
    if (stated) return;
    stated = coefficient;
    state(figures, fmt::format("jitter.{}: {:.2g} %", key, 100.0 * coefficient));
  };
  adopt(jitter.run_cv, "run", pace_.run_variation(variation.spells, between_workers));
  adopt(jitter.worker_cv, "worker", std::sqrt(std::expm1(between_workers)));
  if (jitter.iteration_cv || jitter.spells || jitter.iteration_fixed > Seconds{}) return;
  const calibrate::StepVariation own = own_variation(loaded, profiles, timed, figures.alone.front());
  jitter.iteration_cv = own.iteration_cv;
  jitter.iteration_fixed = own.iteration_fixed;
  jitter.spells = own.spells;
  state(figures, fmt::format("jitter: {{{}}}", scenario_words(own)));
}

// What iterations vary by themselves: of any length, where two were timed.
calibrate::StepVariation LiveGate::own_variation(const LoadedScenario& loaded, const Profiles& profiles,
                                                 const TimedTogether& timed,
                                                 const std::vector<live::AloneTime>& alone) {
  const calibrate::StepVariation own = less(timed.times.variation, simulated_variation(loaded, profiles));
  if (!timed.of_smallest) return own;
  const std::int64_t initial = loaded.scenario.batching.initial_samples;
  const auto time_of = [&](std::int64_t batch) {
    const auto found =
        std::ranges::find(alone, batch, [](const live::AloneTime& time) { return time.computing.batch; });
    check(found != alone.end(), "each batch of a job of all workers was timed alone");
    return Seconds{found->computing.wall.seconds};
  };
  const std::int64_t smallest = alone.front().computing.batch;
  LoadedScenario small = loaded;
  small.scenario = with_initial_batch(loaded.scenario, smallest);
  return by_length(own, time_of(initial), less(*timed.of_smallest, simulated_variation(small, profiles)),
                   time_of(smallest));
}

void LiveGate::slow_down(LoadedScenario& loaded, std::shared_ptr<const Profiles>& profiles,
                         const GateFigures& figures, double slowness) {
  std::vector<double> factors = figures.factors;
  for (double& factor : factors) factor *= slowness;
  correct(loaded, figures, factors, "");
  profiles = InputFiles().profiles_of(loaded);  // the file is another than it was
}

void LiveGate::correct(LoadedScenario& loaded, const GateFigures& figures, const std::vector<double>& factors,
                       const std::string& suffix) {
  std::vector<Worker>& workers = loaded.scenario.cluster.workers;
  std::string name = loaded.scenario.name;
  std::ranges::replace_if(
      name, [](char c) { return c == '/' || c == ' '; }, '-');
  for (std::size_t w = 0; w < workers.size(); ++w) {
    const Profile& original = figures.calibrated->of(w);
    if (original.correction) continue;
    const std::filesystem::path file = folder_ / fmt::format("profile-{}-{}{}.json", name, w, suffix);
    write_corrected(original, workers[w].cores, figures.alone[w], factors[w], file);
    workers[w].profile = file;
  }
}

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
               [&](double share) { progress.update(share, fmt::format("{} values", values)); });
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
        for (const live::CycleTime& cycle : simulated_cycles(delayed(tried), profiles))
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
                                         network_learner_config(scenario, {scenario.seed, 0}), batches,
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
