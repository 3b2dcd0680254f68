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

void say(const Scenario& scenario, const char* how, const std::vector<TogetherTime>& times) {
  const auto text = [](Seconds time) { return calibrate::duration_text(time.value()); };
  for (std::size_t w = 0; w < times.size(); ++w)
    fmt::print("{}: {}, {}: {}, and {} until the next (predicted until now: {}, {})\n", scenario.name,
               name_of(scenario.cluster.workers, w), how, text(times[w].measured.iteration),
               text(times[w].measured.between), text(times[w].predicted.iteration),
               text(times[w].predicted.between));
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
  const TimedTogether& going_on = timed_together(loaded.scenario, *profiles, WaitsFor::nobody);
  figures.slowness = going_on.slowness;
  adopt_variation(loaded, *profiles, going_on, figures);
  const auto slow_down = [&](const std::vector<TogetherTime>& together) {
    for (std::size_t w = 0; w < workers.size(); ++w)
      factors[w] *= together[w].measured.iteration / together[w].predicted.iteration;
    adopt_factors("");
  };
  figures.together = compared(loaded, *profiles, going_on);
  say(loaded.scenario, "beside others that go on at once", figures.together);
  slow_down(figures.together);
  if (!is_ring && network_is_measured) {
    delay_messages(loaded, *profiles, figures);
    slow_down(compared(loaded, *profiles, going_on));  // who waits leaves the cores to the others
  }
  if (live::waits_for(loaded.scenario) != WaitsFor::nobody) {
    figures.waiting = compared(loaded, *profiles, timed_together(loaded.scenario, *profiles, WaitsFor::all));
    say(loaded.scenario, "beside others that wait", figures.waiting);
    slow_down(figures.waiting);
  }
  if (is_ring) fill_in_ring(loaded.scenario, *profiles, figures);
  return figures;
}

LiveGate::TimedWorker LiveGate::timed_worker(const Scenario& scenario, std::size_t worker) {
  Worker alike = scenario.cluster.workers.at(worker);
  alike.name.clear();
  alike.price_per_hour.reset();
  alike.random_stream.reset();
  alike.profile.clear();
  alike.message_wait.reset();  // a real job does not impose it
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
  Progress progress(timed.waits_for == WaitsFor::nobody ? "timing all workers together"
                                                        : "timing all workers in step");
  const std::int64_t smallest = live::batches_to_time(scenario.batching).front();
  const bool has_smaller =
      timed.waits_for == WaitsFor::nobody && smallest < scenario.batching.initial_samples;
  std::vector<live::TogetherPass> passes;
  std::vector<live::TogetherPass> of_smallest;
  for (int round = 0; round < rounds; ++round) {
    progress.update(static_cast<double>(round) / rounds, scenario.name);
    std::vector<live::TogetherPass> of_round;
    std::vector<live::TogetherPass> small_of_round;  // of the attempt that counts, as of_round
    timed.slowness.push_back(pace_.slowness_while([&] {
      of_round = live::time_together(scenario, profiles, timed.waits_for, round, options_);
      if (has_smaller)
        small_of_round = live::time_together(with_initial_batch(scenario, smallest), profiles,
                                             timed.waits_for, round, options_);
    }));
    std::ranges::move(small_of_round, std::back_inserter(of_smallest));
    for (live::TogetherPass& pass : of_round) {
      pass.slowness = timed.slowness.back();
      passes.push_back(std::move(pass));
    }
  }
  progress.update(1.0, scenario.name);
  timed.times = live::together_times(passes);
  if (has_smaller) timed.of_smallest = live::together_times(of_smallest).variation;
}

const LiveGate::TimedTogether& LiveGate::timed_together(const Scenario& scenario, const Profiles& profiles,
                                                        WaitsFor waits_for) {
  TimedTogether timed{.workers = {}, .links = links(), .waits_for = waits_for};
  for (std::size_t w = 0; w < scenario.cluster.workers.size(); ++w)
    timed.workers.push_back(timed_worker(scenario, w));
  const auto known = std::ranges::find_if(together_, [&](const TimedTogether& one) {
    return one.workers == timed.workers && one.links == timed.links && one.waits_for == waits_for;
  });
  if (known != together_.end()) return *known;
  time_together(scenario, profiles, timed);
  between_workers_ += timed.times.between_workers;
  return together_.emplace_back(std::move(timed));
}

std::vector<TogetherTime> LiveGate::compared(const LoadedScenario& loaded, const Profiles& profiles,
                                             const TimedTogether& timed) {
  const std::vector<live::CycleTime> predicted = simulated_cycles(loaded, profiles, timed.waits_for);
  std::vector<TogetherTime> times;
  for (std::size_t w = 0; w < predicted.size(); ++w) times.push_back({timed.times.cycles[w], predicted[w]});
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
  if (jitter.iteration_cv || jitter.spells || jitter.iteration_fixed) return;
  if (!is_measured(variation)) return;
  const calibrate::StepVariation own =
      own_variation(loaded, profiles, variation, timed.of_smallest, figures.alone.front());
  jitter.iteration_cv = own.iteration_cv;
  jitter.iteration_fixed = own.iteration_fixed;
  jitter.spells = own.spells;
  state(figures, fmt::format("jitter: {{{}}}", scenario_words(own)));
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
