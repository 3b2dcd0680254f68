// What iterations take within a job: which jobs are timed, and what is made of their times.
#include "calibrate/live/iteration_timing.hpp"

#include <algorithm>
#include <cmath>

#include <doctest/doctest.h>

#include "sim/cost/compute_time.hpp"
#include "sim/policy/batching/batch_controller.hpp"
#include "tests/calibrate/live/live_job.hpp"

using namespace paceline;
using namespace paceline::live;
using namespace paceline::live_test;

TEST_CASE("a worker's iterations are timed within a job that it has for itself") {
  const LoadedJob job = load_mixed_job();
  const LiveOptions options{.program = PACELINE_CALIBRATE, .patience = on_any_machine, .accepts_load = true};
  const std::vector<AloneTime> times =
      time_alone(job.loaded.scenario, *job.profiles, WorkerId{1}, {4, 8}, options);
  REQUIRE(times.size() == 2);
  CHECK(times[0].computing.batch == 4);
  CHECK(times[1].computing.batch == 8);
  for (const AloneTime& time : times) {
    CHECK(time.computing.steps >= 30);
    CHECK(time.measured > Seconds{});
    CHECK(time.computing.wall.half_width_s > 0.0);
  }
  const CycleTime beside =
      time_cycle(job.loaded.scenario, *job.profiles, {WorkerId{1}, WorkerId{0}}, 8, options);
  CHECK(beside.iteration > Seconds{});
  CHECK(beside.between > Seconds{});
}

TEST_CASE("what a slow worker's iteration took is what a machine at full speed computes, without fetching") {
  // Worker 1 has half the speed: passes of 9, 10 and 12 ms are 5 ms at full speed, of which fetching takes
  // its modelled part. Half width: t(0.975, 2) · sd / √3 of the passes, halved; they lie 4/3, 5/3 and 1/3 ms
  // off their mean.
  const LoadedJob job = load_mixed_job();
  const Scenario& scenario = job.loaded.scenario;
  const std::vector<double> passes = {0.009, 0.012, 0.010};
  const AloneTime time = alone_time(scenario, *job.profiles, WorkerId{1}, 8, passes, 300);
  CHECK(time.measured == Seconds{0.010});
  const std::optional<LoadingFit>& loading = job.profiles->of(1).loading;
  const double fetching = loading ? loading->of(8).value() : 0.0;
  CHECK(time.computing.wall.seconds == doctest::Approx(0.005 - fetching));
  CHECK(time.computing.wall.half_width_s ==
        doctest::Approx(4.302652730 * std::sqrt((16.0 + 1.0 + 25.0) / 9.0 / 2.0) * 1e-3 / std::sqrt(3.0) /
                        2.0));
}

TEST_CASE("workers that wait for others in every phase are timed in step, too, all others only going on") {
  LoadedJob job = load_mixed_job();
  const std::vector<std::int64_t> batches = initial_batches(job.loaded.scenario);
  const Scenario in_step = together_job(job.loaded.scenario, *job.profiles, WaitsFor::all, batches);
  CHECK(in_step.synchronization.at(0).config.policy->word == "bsp");
  CHECK(in_step.synchronization[0].config.transport == Transport::server);
  CHECK(in_step.stop.epochs ==
        together_job(job.loaded.scenario, *job.profiles, WaitsFor::nobody, batches).stop.epochs);
  const auto of_policies = [&](const std::vector<const char*>& words) {
    Scenario& scenario = job.loaded.scenario;
    scenario.synchronization.clear();
    for (const char* word : words) {
      PhaseEntry& phase = scenario.synchronization.emplace_back();
      phase.config.policy = SynchronizationChoice(word);
    }
    return waits_for(scenario);
  };
  CHECK(of_policies({"bsp"}) == WaitsFor::all);
  CHECK(of_policies({"ssp"}) == WaitsFor::all);
  CHECK(of_policies({"asp"}) == WaitsFor::nobody);
  CHECK(of_policies({"bsp", "asp"}) == WaitsFor::nobody);
}

TEST_CASE(
    "a job of all workers with batches of its own has these, for a second of the slowest one's iterations") {
  // Batches of 20, 6 and 10 are shares of three times 12. The slowest worker's iteration takes max t_w(b_w).
  const LoadedJob job = load_mixed_job();
  const Scenario& scenario = job.loaded.scenario;
  const std::vector<std::int64_t> batches = {20, 6, 10};
  const Scenario own = together_job(scenario, *job.profiles, WaitsFor::all, batches);
  const ComputeTimes times(job.profiles->distinct, job.profiles->of_worker, scenario.cluster.workers, {},
                           {scenario.seed, 0}, scenario.job.data_loading);
  Seconds longest;
  std::vector<WorkerPrior> workers;
  for (std::uint64_t w = 0; w < batches.size(); ++w) {
    longest = std::max(longest, times.mean_iteration(WorkerId{w}, batches[w]));
    workers.push_back({.cores = 1, .flops = own.cluster.workers[w].flops.value()});
  }
  CHECK(own.stop.epochs * 400.0 == doctest::Approx(3.0 * 12.0 * std::round(Seconds{1.0} / longest)));
  const Allocation allocation = make_batch_controller(own.batching, workers)->initial();
  for (std::size_t w = 0; w < batches.size(); ++w) CHECK(allocation.at(w).samples == batches[w]);
}

TEST_CASE("a job of all workers is asynchronous, evaluates nothing and changes nothing") {
  // Its length: 1 s of the slowest worker's iterations, that many for each of the three.
  const LoadedJob job = load_mixed_job();
  const Scenario together = together_job(job.loaded.scenario, *job.profiles, WaitsFor::nobody,
                                         initial_batches(job.loaded.scenario));
  CHECK(together.cluster.workers == job.loaded.scenario.cluster.workers);
  CHECK(together.synchronization.size() == 1);
  CHECK(together.synchronization[0].config.policy->word == "asp");
  CHECK(together.heterogeneity.changes.membership.empty());
  CHECK(together.batching.controller->word == "uniform");  // with less where memory does not hold it
  CHECK(together.batching.initial_samples == 8);
  const double iterations = together.stop.epochs * 400.0 / 8.0;
  CHECK(iterations == doctest::Approx(3.0 * std::round(iterations / 3.0)));
  // Half a second of each but the first is its messages'.
  const auto iteration = [](std::uint64_t worker, double start, std::optional<double> finish) {
    IterationRecord record;
    record.worker = WorkerId{worker};
    record.start = Seconds{start};
    if (finish) record.finish = Seconds{*finish};
    if (finish) record.compute_time = Seconds{*finish - start - (start > 1.0 ? 0.5 : 0.0)};
    return record;
  };
  // Worker 0: 1 s, 2.5 s, 4.5 s, of which the last two end 4 and 5 s after the one before; worker 1 goes on
  // at once.
  const std::vector<CycleTime> cycles = mean_cycles(
      finished_iterations({iteration(0, 1.0, 2.0), iteration(0, 3.0, 6.0), iteration(0, 6.0, 11.0),
                           iteration(0, 11.0, std::nullopt), iteration(1, 0.0, 4.0), iteration(1, 4.0, 8.0)},
                          2));
  REQUIRE(cycles.size() == 2);
  CHECK(cycles[0].iteration.value() == doctest::Approx((1.0 + 2.5 + 4.5) / 3.0));
  CHECK(cycles[0].between == Seconds{0.5 * (1.5 + 0.5)});
  CHECK(cycles[1].iteration == Seconds{3.75});
  CHECK(cycles[1].between == Seconds{0.5});
}

TEST_CASE("workers timed together while the machine was slower count as if it had been as usual") {
  // Two passes of two workers, the second one all of 1.25 times as long, which the machine was slower: 10 and
  // 20 ms an iteration, 2 and 4 ms until the next.
  const auto pass = [](double slowness) {
    TogetherPass timed{.iterations = {{}, {}}, .slowness = slowness};
    for (std::size_t w = 0; w < 2; ++w)
      for (int i = 0; i < 100; ++i) {
        const double took_s = slowness * 0.01 * static_cast<double>(w + 1);
        timed.iterations[w].push_back({1.2 * took_s * (i + 1), took_s});
      }
    return timed;
  };
  const TogetherTimes times = together_times({pass(1.0), pass(1.25)});
  REQUIRE(times.cycles.size() == 2);
  for (std::size_t w = 0; w < 2; ++w) {
    CHECK(times.cycles[w].iteration.value() == doctest::Approx(0.01 * static_cast<double>(w + 1)));
    CHECK(times.cycles[w].between.value() == doctest::Approx(0.002 * static_cast<double>(w + 1)));
  }
  CHECK(times.between_workers.variance() == doctest::Approx(0.0));
}

TEST_CASE("batches that a controller may choose are timed, too") {
  BatchingConfig batching;
  batching.initial_samples = 32;
  CHECK(batches_to_time(batching) == std::vector<std::int64_t>{32});
  batching.controller = BatchControllerChoice("dynamic");
  batching.minimum_samples = 20;
  batching.maximum_samples = 1024;
  CHECK(batches_to_time(batching) == std::vector<std::int64_t>{20, 32, 64});
}
