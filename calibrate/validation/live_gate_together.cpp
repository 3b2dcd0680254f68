// How the gate holds iterations of workers beside each other against what is predicted of them.
#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "calibrate/logs/text.hpp"
#include "calibrate/validation/gate_simulation.hpp"
#include "calibrate/validation/live_gate.hpp"
#include "sim/base/progress.hpp"

namespace paceline {
namespace {

void say(const Scenario& scenario, const std::string& how, const std::vector<TogetherTime>& times) {
  const auto text = [](Seconds time) { return calibrate::duration_text(time.value()); };
  for (std::size_t w = 0; w < times.size(); ++w)
    fmt::print("{}: {}, {}, {} samples: {}, and {} until the next (predicted until now: {}, {})\n",
               scenario.name, name_of(scenario.cluster.workers, w), how, times[w].batch_samples,
               text(times[w].measured.iteration), text(times[w].measured.between),
               text(times[w].predicted.iteration), text(times[w].predicted.between));
}

// As all of a round.
void add(std::vector<live::TogetherPass>& passes, std::vector<live::TogetherPass>& of_round,
         double slowness) {
  for (live::TogetherPass& pass : of_round) {
    pass.slowness = slowness;
    passes.push_back(std::move(pass));
  }
}

}  // namespace

void LiveGate::time_together(const Scenario& scenario, const Profiles& profiles, TimedTogether& timed) {
  constexpr int rounds = 5;
  Progress progress(timed.waits_for == WaitsFor::nobody ? "timing all workers together"
                                                        : "timing all workers in step");
  const std::int64_t smallest = live::batches_to_time(scenario.batching).front();
  const bool has_smaller =
      std::ranges::any_of(timed.batches, [&](std::int64_t batch) { return smallest < batch; });
  const std::vector<std::int64_t> small(timed.batches.size(), smallest);
  const Scenario job = live::together_job(scenario, profiles, timed.waits_for, timed.batches);
  const Scenario small_job = live::together_job(scenario, profiles, timed.waits_for, small);
  std::vector<live::TogetherPass> passes;
  std::vector<live::TogetherPass> of_smallest;
  for (int round = 0; round < rounds; ++round) {
    progress.update(static_cast<double>(round) / rounds, scenario.name);
    std::vector<live::TogetherPass> of_round;
    std::vector<live::TogetherPass> small_of_round;  // of the attempt that counts, as of_round
    timed.slowness.push_back(pace_.slowness_while([&] {
      of_round = live::time_together(job, profiles, round, options_);
      if (has_smaller) small_of_round = live::time_together(small_job, profiles, round, options_);
    }));
    add(passes, of_round, timed.slowness.back());
    add(of_smallest, small_of_round, timed.slowness.back());
  }
  progress.update(1.0, scenario.name);
  timed.times = live::together_times(passes);
  if (has_smaller) timed.of_smallest = live::together_times(of_smallest);
}

const LiveGate::TimedTogether& LiveGate::timed_together(const Scenario& scenario, const Profiles& profiles,
                                                        WaitsFor waits_for,
                                                        const std::vector<std::int64_t>& batches) {
  TimedTogether timed{.workers = {}, .links = links(), .waits_for = waits_for, .batches = batches};
  for (std::size_t w = 0; w < scenario.cluster.workers.size(); ++w)
    timed.workers.push_back(timed_worker(scenario, w));
  const auto known = std::ranges::find_if(together_, [&](const TimedTogether& one) {
    return one.workers == timed.workers && one.links == timed.links && one.waits_for == waits_for &&
           one.batches == batches;
  });
  if (known != together_.end()) return *known;
  time_together(scenario, profiles, timed);
  between_workers_ += timed.times.between_workers;
  return together_.emplace_back(std::move(timed));
}

std::vector<TogetherTime> LiveGate::compared(const LoadedScenario& loaded, const Profiles& profiles,
                                             const TimedTogether& timed) {
  const std::vector<live::CycleTime> predicted =
      simulated_cycles(loaded, profiles, timed.waits_for, timed.batches);
  std::vector<TogetherTime> times;
  for (std::size_t w = 0; w < predicted.size(); ++w)
    times.push_back({timed.batches[w], timed.times.cycles[w], predicted[w]});
  return times;
}

std::vector<TogetherTime> LiveGate::compared_small(const LoadedScenario& loaded, const Profiles& profiles,
                                                   const TimedTogether& timed) {
  if (!timed.of_smallest) return {};
  const std::int64_t smallest = live::batches_to_time(loaded.scenario.batching).front();
  TimedTogether small = timed;
  small.batches.assign(timed.batches.size(), smallest);
  small.times = *timed.of_smallest;
  return compared(loaded, profiles, small);
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
  std::optional<calibrate::StepVariation> of_smallest;
  if (timed.of_smallest) of_smallest = timed.of_smallest->variation;
  const calibrate::StepVariation own =
      own_variation(loaded, profiles, variation, of_smallest, figures.alone.front());
  jitter.iteration_cv = own.iteration_cv;
  jitter.iteration_fixed = own.iteration_fixed;
  jitter.spells = own.spells;
  state(figures, fmt::format("jitter: {{{}}}", scenario_words(own)));
}

void LiveGate::hold_against_others(LoadedScenario& loaded, std::shared_ptr<const Profiles>& profiles,
                                   GateFigures& figures, bool delays_messages) {
  using Times = std::vector<TogetherTime>;
  const auto compare = [&](const TimedTogether& timed) {
    return std::pair{compared(loaded, *profiles, timed), compared_small(loaded, *profiles, timed)};
  };
  const auto slow_down = [&](const Times& times, const Times& small) {
    for (std::size_t w = 0; w < times.size(); ++w)
      figures.factors[w] = held_against(figures.factors[w], times[w], small.empty() ? nullptr : &small[w]);
    correct(loaded, profiles, figures, figures.factors, "");
  };
  const TimedTogether& going_on =
      timed_together(loaded.scenario, *profiles, WaitsFor::nobody, live::initial_batches(loaded.scenario));
  figures.slowness = going_on.slowness;
  adopt_variation(loaded, *profiles, going_on, figures);
  std::tie(figures.together, figures.together_small) = compare(going_on);
  say(loaded.scenario, "beside others that go on at once", figures.together);
  say(loaded.scenario, "beside others that go on at once", figures.together_small);
  slow_down(figures.together, figures.together_small);
  if (delays_messages) {
    delay_messages(loaded, *profiles, figures);
    const auto& [times, small] = compare(going_on);
    slow_down(times, small);  // who waits leaves the cores to the others
  }
  if (live::waits_for(loaded.scenario) == WaitsFor::nobody) return;
  std::tie(figures.waiting, figures.waiting_small) =
      compare(timed_together(loaded.scenario, *profiles, WaitsFor::all, batches_in_step(loaded, *profiles)));
  say(loaded.scenario, "beside others that wait", figures.waiting);
  say(loaded.scenario, "beside others that wait", figures.waiting_small);
  slow_down(figures.waiting, figures.waiting_small);
}

}  // namespace paceline
