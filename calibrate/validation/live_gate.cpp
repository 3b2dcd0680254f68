#include "calibrate/validation/live_gate.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "calibrate/logs/correction.hpp"
#include "calibrate/logs/text.hpp"
#include "calibrate/validation/gate_simulation.hpp"
#include "sim/base/atomic_file.hpp"
#include "sim/base/check.hpp"
#include "sim/base/progress.hpp"

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

Scenario with_initial_batch(Scenario scenario, std::int64_t samples) {
  scenario.batching.initial_samples = samples;
  return scenario;
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

LiveGate::TimedWorker LiveGate::timed_worker(const Scenario& scenario, std::size_t worker) {
  Worker alike = scenario.cluster.workers.at(worker);
  alike.name.clear();
  alike.price_per_hour.reset();
  alike.random_stream.reset();
  alike.profile.clear();
  return {alike,
          scenario.job.network,
          scenario.learner.model,
          scenario.job.profile,
          live::batches_to_time(scenario.batching),
          scenario.batching.initial_samples};
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
    std::vector<live::TogetherPass> small_of_round;  // of the attempt that counts, as of_round
    timed.slowness.push_back(pace_.slowness_while([&] {
      of_round = live::time_together(scenario, profiles, round, options_);
      if (batches_change)
        small_of_round =
            live::time_together(with_initial_batch(scenario, smallest), profiles, round, options_);
    }));
    std::ranges::move(small_of_round, std::back_inserter(of_smallest));
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
  if (!is_measured(variation)) return;
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
  if (!timed.of_smallest || !is_measured(*timed.of_smallest)) return own;
  const Profile& profile = profiles.of(0);
  const bool fetches = profile.loading && loaded.scenario.job.data_loading == DataLoading::inline_;
  const std::int64_t initial = loaded.scenario.batching.initial_samples;
  const auto time_of = [&](std::int64_t batch) {
    const auto found =
        std::ranges::find(alone, batch, [](const live::AloneTime& time) { return time.computing.batch; });
    check(found != alone.end(), "each batch of a job of all workers was timed alone");
    const Seconds computing{found->computing.wall.seconds};
    return fetches ? computing + profile.loading->of(static_cast<double>(batch)) : computing;
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

}  // namespace paceline
