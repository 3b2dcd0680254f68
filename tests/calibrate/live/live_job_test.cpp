// Jobs of a few seconds with real worker processes. What is asserted never depends on how fast they are.
#include "tests/calibrate/live/live_job.hpp"

#include <chrono>
#include <filesystem>

#include <boost/asio.hpp>
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sched.h>

#include "calibrate/live/batch_preparation.hpp"
#include "calibrate/live/live_run.hpp"
#include "calibrate/live/process_crew.hpp"
#include "calibrate/live/replay.hpp"
#include "calibrate/live/rest_timing.hpp"
#include "calibrate/live/restart_timing.hpp"
#include "calibrate/live/sharing_timing.hpp"
#include "kernels/training/network_learner.hpp"
#include "sim/study/simulation.hpp"

using namespace paceline;
using namespace paceline::live;
using namespace paceline::live_test;

namespace {

// Workers step on their own copies, with velocities of their own that a switch halves; one of them leaves in
// between and comes back.
constexpr const char* exchange_text = R"(
name: live exchange of parameters
replications: 1
job:
  network: small-cnn
  profile: {}/scenarios/profiles/epyc-small-cnn.json
  dataset: {{kind: built-in-images, train_samples: 400, test_samples: 50}}
  optimizer:
    {{learning_rate: 0.01, momentum: 0.9, weight_decay: 1e-3, velocity_at_switch: scale, velocity_scale: 0.5}}
cluster:
  workers: [{{cores: 1}}, {{cores: 1}}]
  network: {{topology: star, bandwidth: 10 Gbit/s, latency: 50 us}}
synchronization:
  - {{policy: asp, exchange: parameters, transport: server, share: 40 %}}
  - {{policy: bsp, transport: server, share: 20 %}}
  - {{policy: asp, exchange: parameters, transport: server, share: 40 %}}
heterogeneity:
  membership: [{{at: 0.5 epochs, worker: 1, event: leaves}}, {{at: 0.7 epochs, worker: 1, event: joins}}]
batching: {{controller: uniform, initial: 10}}
learner: {{kind: network}}
evaluation: {{every: 200 samples, who_pays: free}}
stop: {{epochs: 3}}
)";

constexpr const char* target_text = R"(
name: live job with a target
replications: 1
job:
  network: small-cnn
  profile: {}/scenarios/profiles/epyc-small-cnn.json
  dataset: {{kind: built-in-images, train_samples: 400, test_samples: 50}}
  optimizer: {{learning_rate: 0.01, momentum: 0.9, weight_decay: 1e-3}}
cluster:
  workers: [{{cores: 1}}, {{cores: 1}}]
  network: {{topology: star, bandwidth: 10 Gbit/s, latency: 50 us}}
synchronization: [{{policy: asp, transport: server}}]
batching: {{controller: uniform, initial: 10}}
learner: {{kind: network}}
evaluation: {{every: 100 samples, who_pays: free}}
stop: {{epochs: 3, accuracy: 1 %}}
)";

// The coordinator meets the events of a live run again, with a learner in this process.
void check_met_again(const LoadedJob& job, const LiveRun& live) {
  const Scenario& scenario = job.loaded.scenario;
  const Seed seed{scenario.seed, 0};
  kernels::NetworkLearner learner(network_learner_config(scenario, seed));
  Coordinator coordinator = build_coordinator(scenario, *job.profiles, seed);
  RunRecorder recorder(seed, {.iterations = true, .trace = false});
  replay(coordinator, live.recorded, learner, recorder);
  RunResult replayed = recorder.finish(recorder.last_time(), std::nullopt);
  replayed.cores = live.result.cores;
  REQUIRE(replayed.curve.size() == live.result.curve.size());
  for (std::size_t i = 0; i < replayed.curve.size(); ++i)
    CHECK(replayed.curve[i].loss == live.result.curve[i].loss);
  CHECK(decisions(replayed) == decisions(live.result));
}

}  // namespace

TEST_CASE("the results of a live job end where its free evaluations first reach the target") {
  // The job goes on to 1,200 samples; with random guesses of ten classes 1 % is reached long before.
  const LoadedJob job = load_job(target_text);
  const LiveRun live =
      run_live(job.loaded.scenario, *job.profiles, 0,
               {.program = PACELINE_CALIBRATE, .patience = on_any_machine, .accepts_load = true});
  REQUIRE_FALSE(live.result.curve.empty());
  CHECK(live.result.end_reason == "target-reached");
  CHECK(live.result.samples < 1200);
  const auto& last = live.result.curve.back();
  CHECK(last.accuracy >= 0.01);
  CHECK(live.result.end_time == last.time);
  for (std::size_t i = 0; i + 1 < live.result.curve.size(); ++i) CHECK(live.result.curve[i].accuracy < 0.01);
}

TEST_CASE(
    "a live job met again event by event takes the same decisions and learns the same, to the last bit") {
  // Also where at both switches new processes go on from a file: worker 2 has left at the first of them.
  LoadedJob job = load_mixed_job();
  SUBCASE("the processes go on") {}
  SUBCASE("the processes start anew") {
    job.loaded.scenario.emulate = EmulationConfig{.restarts = true};
  }
  const bool restarts = job.loaded.scenario.emulate.has_value();
  CHECK_FALSE(check_live(job.loaded).empty());
  LiveOptions options{.program = PACELINE_CALIBRATE,
                      .patience = on_any_machine,
                      .accepts_load = true,
                      .recording = {.iterations = true, .trace = false}};
  std::vector<int> processes;
  options.on_start = [&](const ProcessCrew& crew) { processes = crew.process_ids(); };
  const test::TemporaryFolder folder;
  options.folder = folder.path();
  const Scenario& scenario = job.loaded.scenario;
  const LiveRun live = run_live(scenario, *job.profiles, 0, options);
  CHECK(live.lost.empty());
  CHECK(live.result.end_reason == "workload-done");
  CHECK(live.result.samples >= 800);
  CHECK(live.result.phases.size() == 3);
  CHECK(live.result.curve.size() >= 4);
  CHECK(live.restarts.size() == (restarts ? 2 + 3 : 0));
  for (const Restart& restart : live.restarts) CHECK(restart.took > Seconds{});
  CHECK(std::filesystem::is_empty(folder.path()));
  REQUIRE(processes.size() == 4);  // three workers and the evaluator
  for (const int process : processes) CHECK_FALSE(is_alive(process));

  check_met_again(job, live);
}

TEST_CASE("workers that step on their own copies, met again, learn the same, to the last bit") {
  const LoadedJob job = load_job(exchange_text);
  CHECK_FALSE(check_live(job.loaded).empty());
  const LiveRun live = run_live(job.loaded.scenario, *job.profiles, 0,
                                {.program = PACELINE_CALIBRATE,
                                 .patience = on_any_machine,
                                 .accepts_load = true,
                                 .recording = {.iterations = true, .trace = false}});
  for (const LostWorker& lost : live.lost) FAIL_CHECK(lost.reason);
  CHECK(live.result.end_reason == "workload-done");
  CHECK(live.result.samples >= 1200);
  CHECK(live.result.phases.size() == 3);
  check_met_again(job, live);
}

TEST_CASE("what would lose a worker's own velocity is refused at its key") {
  LoadedJob job = load_job(exchange_text);
  const auto refusal = [&] {
    try {
      static_cast<void>(check_live(job.loaded));
    } catch (const UserError& error) {
      return std::string(error.what());
    }
    return std::string("nothing");
  };
  CHECK(refusal() == "nothing");
  job.loaded.scenario.emulate = EmulationConfig{.restarts = true};
  CHECK(refusal().find("`emulate.restarts`") != std::string::npos);
  job.loaded.scenario.emulate.reset();
  job.loaded.scenario.job.optimizer.momentum_at = MomentumPlace::workers;
  CHECK(refusal().find("`synchronization.0.exchange`") != std::string::npos);
  // Where all phases exchange parameters, no other one needs that velocity.
  job.loaded.scenario.synchronization[1].config.exchange = Exchange::parameters;
  CHECK(refusal() == "nothing");
}

TEST_CASE("buckets are refused at their key: workers sum a gradient as a whole") {
  LoadedJob job = load_job(exchange_text);
  job.loaded.scenario.synchronization[1].config.buckets = BucketSizes{};
  CHECK_THROWS_WITH_AS(static_cast<void>(check_live(job.loaded)),
                       doctest::Contains("`synchronization.1.buckets`"), UserError);
}

TEST_CASE("each worker computes on a core of its own where there are as many") {
  cpu_set_t usable;
  REQUIRE(sched_getaffinity(0, sizeof usable, &usable) == 0);
  const auto cores = static_cast<std::size_t>(CPU_COUNT(&usable));
  for (const std::size_t workers : {std::size_t{1}, cores, cores + 1}) {
    const ProcessCrew crew(
        {.program = PACELINE_CALIBRATE,
         .setups = std::vector<WorkerSetup>(workers, {.learner = {}, .echo = Echo{10, {}}})});
    for (const int id : crew.process_ids()) {
      cpu_set_t own;
      REQUIRE(sched_getaffinity(id, sizeof own, &own) == 0);
      CHECK(CPU_COUNT(&own) == (workers <= cores ? 1 : CPU_COUNT(&usable)));
    }
  }
}

TEST_CASE("workers of a live job are timed alone, together, and beside a server") {
  const LoadedJob job = load_mixed_job();
  const std::vector<SharingPass> passes =
      time_sharing(PACELINE_CALIBRATE, {.learner = network_learner_config(job.loaded.scenario, {1, 0}),
                                        .batch_samples = 8,
                                        .for_each = Seconds{0.02},
                                        .passes = 2});
  REQUIRE(passes.size() == 2);
  for (const SharingPass& pass : passes) {
    CHECK(pass.size() == 4);  // 1, 2 and 3 of them, and 3 beside a server
    for (const Seconds time : pass) CHECK(time > Seconds{});
  }
}

TEST_CASE("first iterations with a batch are timed in worker processes, anew and once more in each of them") {
  const LoadedJob job = load_mixed_job();
  const std::vector<FirstIteration> iterations = time_first_iterations(
      PACELINE_CALIBRATE, network_learner_config(job.loaded.scenario, {1, 0}), 6, {4, 8, 9});
  REQUIRE(iterations.size() == 9);  // three passes
  for (const FirstIteration& one : iterations) {
    CHECK(std::min(one.anew, one.again) > Seconds{});
    CHECK((one.batch_samples == 4 || one.batch_samples == 8 || one.batch_samples == 9));
  }
}

TEST_CASE("a restart of all workers is timed, and is some time") {
  const LoadedJob job = load_mixed_job();
  const LiveOptions options{.program = PACELINE_CALIBRATE, .patience = on_any_machine, .accepts_load = true};
  CHECK(time_restarts(job.loaded.scenario, options, 1) > Seconds{});
}

TEST_CASE("a worker whose rests are timed has others beside it, as many as have cores to compute on") {
  CHECK(workers_beside_rests(1, 2) == 1);
  CHECK(workers_beside_rests(2, 2) == 2);
  CHECK(workers_beside_rests(4, 2) == 2);
  CHECK(workers_beside_rests(3, 1) == 1);
}

TEST_CASE("strangers and garbage on the port are refused and counted, and the job goes on") {
  namespace asio = boost::asio;
  const LoadedJob job = load_mixed_job();
  LiveOptions options{.program = PACELINE_CALIBRATE, .patience = on_any_machine, .accepts_load = true};
  options.on_start = [](const ProcessCrew& crew) {
    const auto say = [&](const std::vector<std::byte>& bytes) {
      asio::io_context context;
      asio::ip::tcp::socket socket(context);
      socket.connect({asio::ip::address_v4::loopback(), static_cast<std::uint16_t>(crew.port())});
      asio::write(socket, asio::buffer(bytes));
    };
    say(std::vector<std::byte>(1000, std::byte{'x'}));
    say(encode(Hello{new_token(), 0}));
    say(encode(Setup{"{}"}));
  };
  const LiveRun run = run_live(job.loaded.scenario, *job.profiles, 0, options);
  CHECK(run.result.samples >= 800);
  CHECK(run.lost.empty());
  CHECK(run.refused.strangers == 3);
}

TEST_CASE("a worker killed at a random moment leaves the job, the others end it, nothing is left behind") {
  LoadedJob exchange = load_job(exchange_text);
  exchange.loaded.scenario.heterogeneity = {};  // or nobody would be left while one has left
  const LoadedJob jobs[] = {load_mixed_job(), exchange};
  check_survives_kills(jobs, 1);
}
