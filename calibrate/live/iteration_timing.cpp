#include "calibrate/live/iteration_timing.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>

#include <boost/math/distributions/students_t.hpp>
#include <fmt/format.h>

#include "sim/base/check.hpp"
#include "sim/base/order_statistics.hpp"
#include "sim/cost/compute_time.hpp"

namespace paceline::live {
namespace {

constexpr int passes_at_once = 3;
constexpr Seconds pass_at_each_batch{1.0};
constexpr Seconds pass_of_all{1.0};
constexpr std::size_t warm_up_iterations = 5;

Seconds modelled_iteration(const Scenario& scenario, const Profiles& profiles, WorkerId worker,
                           std::int64_t batch_samples, bool at_full_speed) {
  std::vector<Worker> workers = scenario.cluster.workers;
  if (at_full_speed) {
    workers.at(worker.value).speed = 1.0;
    workers.at(worker.value).quota.reset();
  }
  const ComputeTimes times(profiles.distinct, profiles.of_worker, workers, {}, {scenario.seed, 0},
                           scenario.job.data_loading);
  return times.mean_iteration(worker, batch_samples);
}

using Finished = std::vector<calibrate::TimedStep>;

std::vector<double> durations(const Finished& iterations) {
  std::vector<double> seconds;
  for (const calibrate::TimedStep& iteration : iterations) seconds.push_back(iteration.took_s);
  return seconds;
}

CycleTime cycle_of(const Finished& iterations) {
  check(iterations.size() >= 2, "every worker of a timed job finishes two iterations");
  double took_s = 0.0;
  for (std::size_t i = 1; i < iterations.size(); ++i) took_s += iterations[i].took_s;
  const auto cycles = static_cast<double>(iterations.size() - 1);
  const double whole_s = iterations.back().at_s - iterations.front().at_s;
  return {Seconds{mean_without_stalls(durations(iterations))}, Seconds{(whole_s - took_s) / cycles}};
}

// By worker.
std::vector<Finished> finished_iterations(const LiveRun& run, std::size_t workers) {
  std::vector<Finished> finished(workers);
  for (const TimedEvent& timed : run.recorded.events)
    if (const auto* one = std::get_if<IterationFinished>(&timed.event))
      finished.at(one->worker.value).push_back({timed.time.value(), one->compute_time.value()});
  for (Finished& of_worker : finished) {
    const std::size_t left_out = std::min(warm_up_iterations, of_worker.size() / 2);
    of_worker.erase(of_worker.begin(), of_worker.begin() + static_cast<std::ptrdiff_t>(left_out));
  }
  return finished;
}

// Of a job that a worker left, or that came to a halt, nothing can be said.
std::vector<Finished> timed(const Scenario& job, const Profiles& profiles, int pass,
                            const LiveOptions& options) {
  const LiveRun run = run_live(job, profiles, static_cast<std::uint32_t>(pass), options);
  if (!run.lost.empty())
    throw std::runtime_error(fmt::format("worker process {} {} while iterations were timed",
                                         run.lost.front().worker.value, run.lost.front().reason));
  if (!run.result.stall.empty())
    throw std::runtime_error("the job that times iterations stopped:\n" + run.result.stall);
  return finished_iterations(run, job.cluster.workers.size());
}

std::int64_t iterations_for(Seconds duration, Seconds each) {
  return std::clamp<std::int64_t>(std::llround(duration / each), 15, 2000);
}

}  // namespace

Scenario asynchronous_job(const Scenario& scenario, const std::vector<WorkerId>& workers,
                          std::int64_t batch_samples, std::int64_t iterations) {
  Scenario job = scenario;
  job.cluster.workers.clear();
  for (const WorkerId worker : workers)
    job.cluster.workers.push_back(scenario.cluster.workers.at(worker.value));
  if (workers.size() < scenario.cluster.workers.size()) job.cluster.machines.clear();
  PhaseEntry asynchronous;
  asynchronous.config.policy = SynchronizationChoice("asp");
  job.synchronization = {asynchronous};
  job.reaction.reset();
  job.coordination = {};
  job.start_up.reset();
  job.ramp_up.reset();
  job.checkpoints.reset();
  job.heterogeneity = {};
  job.batching = {};
  job.batching.initial_samples = batch_samples;
  const double samples = static_cast<double>(iterations * batch_samples * std::ssize(workers));
  job.stop = {};
  job.stop.epochs = samples / static_cast<double>(job.job.dataset.train_samples);
  job.evaluation = {};
  job.evaluation.every = {1e9, CountUnit::updates};
  return job;
}

namespace {

// Of workers that differ in it: fixed shares of a global batch.
void give_batches(Scenario& job, std::span<const std::int64_t> batches) {
  job.batching.controller = BatchControllerChoice("static");
  job.batching.shares = ShareBasis::flops;
  job.batching.maximum_samples = std::ranges::max(batches);
  for (std::size_t w = 0; w < batches.size(); ++w)
    job.cluster.workers[w].flops = static_cast<double>(batches[w]);
}

Scenario job_of_all(const Scenario& scenario, const Profiles& profiles, Seconds duration,
                    std::span<const std::int64_t> batches) {
  check(batches.size() == scenario.cluster.workers.size(), "every worker has a batch");
  std::vector<WorkerId> workers;
  Seconds longest;
  std::int64_t total = 0;
  for (std::uint64_t w = 0; w < batches.size(); ++w) {
    workers.emplace_back(w);
    longest = std::max(longest, modelled_iteration(scenario, profiles, WorkerId{w}, batches[w], false));
    total += batches[w];
  }
  check(total % std::ssize(batches) == 0, "workers share the sum of their batches");
  Scenario job =
      asynchronous_job(scenario, workers, total / std::ssize(batches), iterations_for(duration, longest));
  if (std::ranges::any_of(batches, [&](std::int64_t batch) { return batch != batches.front(); }))
    give_batches(job, batches);
  return job;
}

}  // namespace

Scenario together_job(const Scenario& scenario, const Profiles& profiles, WaitsFor waits_for,
                      std::span<const std::int64_t> batches) {
  Scenario job = job_of_all(scenario, profiles, pass_of_all, batches);
  if (waits_for != WaitsFor::nobody) job.synchronization.front().config.policy = SynchronizationChoice("bsp");
  return job;
}

WaitsFor waits_for(const Scenario& scenario) {
  const bool goes_on = std::ranges::any_of(scenario.synchronization, [](const PhaseEntry& phase) {
    return phase.config.policy->waits_for == WaitsFor::nobody;
  });
  return goes_on ? WaitsFor::nobody : WaitsFor::all;
}

std::vector<std::int64_t> initial_batches(const Scenario& scenario) {
  return std::vector<std::int64_t>(scenario.cluster.workers.size(), scenario.batching.initial_samples);
}

std::vector<std::int64_t> batches_to_time(const BatchingConfig& batching) {
  const std::int64_t initial = batching.initial_samples;
  if (!batching.controller->adjusts) return {initial};
  const std::set<std::int64_t> batches = {std::max(initial / 4, batching.minimum_samples),
                                          std::max(initial / 2, batching.minimum_samples), initial,
                                          std::min(2 * initial, batching.maximum_samples)};
  return {batches.begin(), batches.end()};
}

AloneTime alone_time(const Scenario& scenario, const Profiles& profiles, WorkerId worker,
                     std::int64_t batch_samples, const std::vector<double>& means, std::size_t iterations) {
  const Spread spread = spread_of(means);
  const auto count = static_cast<double>(means.size());
  AloneTime time;
  time.measured = Seconds{median(means)};
  time.modelled = modelled_iteration(scenario, profiles, worker, batch_samples, false);
  const Seconds at_full_speed = modelled_iteration(scenario, profiles, worker, batch_samples, true);
  const double slowness = time.modelled / at_full_speed;
  const std::optional<LoadingFit>& loading = profiles.of(worker.value).loading;
  Seconds fetching;
  if (loading && scenario.job.data_loading == DataLoading::inline_)
    fetching = loading->of(static_cast<double>(batch_samples));
  calibrate::OwnBatchTime& computing = time.computing;
  computing.batch = batch_samples;
  computing.steps = iterations;
  computing.wall.seconds = (time.measured / slowness - fetching).value();
  if (count > 1.0)
    computing.wall.half_width_s =
        boost::math::quantile(boost::math::students_t_distribution<>(count - 1.0), 0.975) * spread.deviation /
        std::sqrt(count) / slowness;
  return time;
}

namespace {

struct Pass {
  Seconds duration;
  int number = 0;
};
// Of the first one, beside the others.
Finished one_pass(const Scenario& scenario, const Profiles& profiles, const std::vector<WorkerId>& workers,
                  std::int64_t batch_samples, const Pass& pass, const LiveOptions& options) {
  Profiles own{.distinct = profiles.distinct, .of_worker = {}};
  double rate = 0.0;  // iterations a second, of all
  for (const WorkerId worker : workers) {
    own.of_worker.push_back(profiles.of_worker.at(worker.value));
    rate += 1.0 / modelled_iteration(scenario, profiles, worker, batch_samples, false).value();
  }
  const Seconds mean_iteration{static_cast<double>(workers.size()) / rate};
  const Scenario job =
      asynchronous_job(scenario, workers, batch_samples, iterations_for(pass.duration, mean_iteration));
  return timed(job, own, pass.number, options).front();
}

// A quota's stops are part of the modelled mean, other stalls are not.
double mean_of_pass(const Scenario& scenario, WorkerId worker, const Finished& iterations) {
  const std::vector<double> seconds = durations(iterations);
  return scenario.cluster.workers.at(worker.value).quota ? spread_of(seconds).mean
                                                         : mean_without_stalls(seconds);
}

}  // namespace

Seconds time_look(const Scenario& scenario, const Profiles& profiles, const LiveOptions& options) {
  double log_sum = 0.0;
  for (const Finished& of_worker : timed(
           job_of_all(scenario, profiles, duration_of_look, initial_batches(scenario)), profiles, 0, options))
    log_sum += std::log(cycle_of(of_worker).iteration.value());
  return Seconds{std::exp(log_sum / static_cast<double>(scenario.cluster.workers.size()))};
}

CycleTime time_cycle(const Scenario& scenario, const Profiles& profiles, const std::vector<WorkerId>& workers,
                     std::int64_t batch_samples, const LiveOptions& options) {
  return cycle_of(
      one_pass(scenario, profiles, workers, batch_samples, {0.5 * pass_at_each_batch, 0}, options));
}

std::vector<AloneTime> time_alone(const Scenario& scenario, const Profiles& profiles, WorkerId worker,
                                  const std::vector<std::int64_t>& batches, const LiveOptions& options,
                                  const std::function<void(double)>& progress) {
  std::vector<std::vector<double>> means(batches.size());
  std::vector<std::size_t> iterations(batches.size());
  for (int pass = 0; pass < passes_at_once; ++pass)
    for (std::size_t b = 0; b < batches.size(); ++b) {
      progress((static_cast<double>(pass) + static_cast<double>(b) / static_cast<double>(batches.size())) /
               passes_at_once);
      const Finished finished =
          one_pass(scenario, profiles, {worker}, batches[b], {pass_at_each_batch, pass}, options);
      means[b].push_back(mean_of_pass(scenario, worker, finished));
      iterations[b] += finished.size();
    }
  progress(1.0);
  std::vector<AloneTime> times;
  for (std::size_t b = 0; b < batches.size(); ++b)
    times.push_back(alone_time(scenario, profiles, worker, batches[b], means[b], iterations[b]));
  return times;
}

std::vector<Finished> finished_iterations(const std::vector<IterationRecord>& iterations,
                                          std::size_t workers) {
  std::vector<Finished> finished(workers);
  for (const IterationRecord& iteration : iterations)
    if (iteration.finish)
      finished.at(iteration.worker.value)
          .push_back({iteration.finish->value(), iteration.compute_time.value().value()});
  return finished;
}

std::vector<CycleTime> mean_cycles(const std::vector<Finished>& iterations) {
  std::vector<CycleTime> cycles;
  for (const Finished& of_worker : iterations) cycles.push_back(cycle_of(of_worker));
  return cycles;
}

std::vector<TogetherPass> time_together(const Scenario& job, const Profiles& profiles, int round,
                                        const LiveOptions& options) {
  std::vector<TogetherPass> timed_passes;
  for (int pass = 0; pass < passes_at_once; ++pass)
    timed_passes.push_back({.iterations = timed(job, profiles, round * passes_at_once + pass, options)});
  return timed_passes;
}

TogetherTimes together_times(const std::vector<TogetherPass>& passes) {
  check(!passes.empty(), "some passes to take the median of");
  const std::size_t workers = passes.front().iterations.size();
  std::vector<std::vector<double>> iterations(workers);
  std::vector<std::vector<double>> between(workers);
  std::vector<double> spans;
  std::vector<Finished> series;
  for (const TogetherPass& pass : passes)
    for (std::size_t w = 0; w < workers; ++w) {
      const Finished& finished = pass.iterations.at(w);
      const CycleTime cycle = cycle_of(finished);
      iterations[w].push_back(cycle.iteration.value() / pass.slowness);
      between[w].push_back(cycle.between.value() / pass.slowness);
      spans.push_back(finished.back().at_s - finished.front().at_s);
      series.push_back(finished);
    }
  TogetherTimes times{.cycles = {},
                      .variation = calibrate::step_variation(series),
                      .between_workers = calibrate::log_residuals(iterations),
                      .pass = Seconds{median(std::move(spans))}};
  for (std::size_t w = 0; w < workers; ++w)
    times.cycles.push_back(
        {Seconds{median(std::move(iterations[w]))}, Seconds{median(std::move(between[w]))}});
  return times;
}

}  // namespace paceline::live
