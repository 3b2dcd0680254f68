#include "calibrate/validation/live_gate.hpp"

#include <algorithm>
#include <chrono>
#include <ranges>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "calibrate/logs/correction.hpp"
#include "calibrate/logs/text.hpp"
#include "sim/base/atomic_file.hpp"
#include "sim/base/progress.hpp"

namespace paceline {
namespace {

void write_corrected(const Profile& profile, int cores, const std::vector<live::AloneTime>& times,
                     const BesideOthers& beside, const std::filesystem::path& file) {
  std::vector<calibrate::OwnBatchTime> computing;
  for (const live::AloneTime& time : times) {
    computing.push_back(time.computing);
    const double factor = factor_of(beside, time.computing.batch);
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
    if (pace_.accept_deviation(live::deviation(time.measured, time.modelled), what))
      figures.deviations.push_back(what);
  }
  figures.factors.assign(workers.size(), {{loaded.scenario.batching.initial_samples, 1.0}});
  correct(loaded, profiles, figures, figures.factors, "-alone");
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
  hold_against_others(loaded, profiles, figures, !is_ring && network_is_measured);
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

void LiveGate::slow_down(LoadedScenario& loaded, std::shared_ptr<const Profiles>& profiles,
                         const GateFigures& figures, double slowness) {
  std::vector<BesideOthers> factors = figures.factors;
  for (BesideOthers& of_worker : factors)
    for (double& factor : of_worker | std::views::values) factor *= slowness;
  correct(loaded, profiles, figures, factors, "");
}

void LiveGate::correct(LoadedScenario& loaded, std::shared_ptr<const Profiles>& profiles,
                       const GateFigures& figures, const std::vector<BesideOthers>& factors,
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
  profiles = InputFiles().profiles_of(loaded);  // the files are others than they were
}

}  // namespace paceline
