// All-reduces among real worker processes. What is asserted never depends on how fast they are.
#include <cmath>
#include <utility>

#include <doctest/doctest.h>

#include "calibrate/collective/ring_in_job.hpp"
#include "calibrate/live/emulated_links.hpp"
#include "calibrate/live/live_run.hpp"
#include "calibrate/live/process_crew.hpp"
#include "calibrate/live/replay.hpp"
#include "kernels/training/network_learner.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/study/simulation.hpp"
#include "tests/calibrate/live/live_job.hpp"

using namespace paceline;
using namespace paceline::live;
using namespace paceline::live_test;

namespace {

// BSP in a ring with batches that the controller changes, then ASP over the server.
constexpr const char* two_members = R"(
name: ring test
replications: 1
job:
  network: small-cnn
  profile: {}/scenarios/profiles/epyc-small-cnn.json
  dataset: {{kind: built-in-images, train_samples: 400, test_samples: 50}}
  optimizer: {{learning_rate: 0.01, momentum: 0.9, weight_decay: 1e-3}}
cluster:
  workers: [{{cores: 1}}, {{cores: 1, speed: 0.5}}]
  network: {{topology: star, bandwidth: 10 Gbit/s, latency: 50 us}}
synchronization:
  - {{policy: bsp, transport: ring, share: 50 %}}
  - {{policy: asp, transport: server, share: 30 %, switch_cost: 10 ms}}
  - {{policy: bsp, transport: ring, share: 20 %, switch_cost: 10 ms}}
batching: {{controller: dynamic, initial: 8, minimum: 4, maximum: 32}}
learner: {{kind: network}}
evaluation: {{every: 200 samples, who_pays: free}}
stop: {{epochs: 2}}
)";

// One of them leaves and comes back.
constexpr const char* three_members = R"(
name: ring of three
replications: 1
job:
  network: small-cnn
  profile: {}/scenarios/profiles/epyc-small-cnn.json
  dataset: {{kind: built-in-images, train_samples: 400, test_samples: 50}}
  optimizer: {{learning_rate: 0.01, momentum: 0.9, nesterov: true, weight_decay: 1e-3}}
cluster:
  workers: [{{cores: 1}}, {{cores: 1}}, {{cores: 1}}]
  network: {{topology: star, bandwidth: 10 Gbit/s, latency: 50 us}}
synchronization: [{{policy: bsp, transport: ring}}]
heterogeneity:
  membership: [{{at: 1 epochs, worker: 2, event: leaves}}, {{at: 1.3 epochs, worker: 2, event: joins}}]
batching: {{controller: static, initial: 4, minimum: 2, maximum: 32}}
learner: {{kind: network}}
evaluation: {{every: 200 samples, who_pays: free}}
stop: {{epochs: 2}}
)";

std::string on_hosts(const char* job, const std::string& hosts) {
  return fmt::format("{}hosts: {{{{{}}}}}\n", job, hosts);
}

LiveOptions options_for_test() {
  return {.program = PACELINE_CALIBRATE,
          .patience = on_any_machine,
          .accepts_load = true,
          .recording = {.iterations = true, .trace = false}};
}

// Begins each step from the parameters that were recorded after the one before.
class StepByStep final : public Learner {
 public:
  StepByStep(const NetworkLearnerConfig& config, const std::vector<Replica>& recorded)
      : learner_(config), recorded_(recorded) {}

  // Of all parameters: by how much a step differs from the recorded one, over the size of the latter.
  [[nodiscard]] const std::vector<double>& differences() const { return differences_; }

  void pull(WorkerId worker, ServerId server) override { learner_.pull(worker, server); }
  void compute(WorkerId worker, std::int64_t batch_samples, GradientId gradient) override {
    learner_.compute(worker, batch_samples, gradient);
  }
  void apply(ServerId server, std::span<const WeightedGradient> gradients,
             const Hyperparameters& hyperparameters) override {
    learner_.apply(server, gradients, hyperparameters);
    if (differences_.size() == recorded_.size()) return;
    const Replica& real = recorded_[differences_.size()];
    const std::span<const float> own = learner_.global_parameters();
    REQUIRE(own.size() == real.parameters.size());
    double difference = 0.0;
    double size = 0.0;
    for (std::size_t i = 0; i < own.size(); ++i) {
      difference += std::pow(double{own[i]} - double{real.parameters[i]}, 2);
      size += std::pow(double{real.parameters[i]}, 2);
    }
    differences_.push_back(std::sqrt(difference / size));
    learner_.adopt(WorkerId{0}, real);
  }
  void apply_locally(WorkerId worker, GradientId gradient, const Hyperparameters& hyperparameters) override {
    learner_.apply_locally(worker, gradient, hyperparameters);
  }
  void overwrite(ServerId server, WorkerId worker) override { learner_.overwrite(server, worker); }
  void scale_velocity(double factor) override { learner_.scale_velocity(factor); }
  void discard(GradientId gradient) override { learner_.discard(gradient); }
  std::optional<Evaluation> evaluate() override { return learner_.evaluate(); }

 private:
  kernels::NetworkLearner learner_;
  const std::vector<Replica>& recorded_;
  std::vector<double> differences_;
};

RunResult met_again(const Scenario& scenario, const LoadedJob& job, const LiveRun& live, Learner& learner) {
  const Seed seed{scenario.seed, 0};
  Coordinator coordinator = build_coordinator(scenario, *job.profiles, seed);
  RunRecorder recorder(seed, {.iterations = true, .trace = false});
  replay(coordinator, live.recorded, learner, recorder);
  RunResult replayed = recorder.finish(recorder.last_time(), std::nullopt);
  replayed.cores = live.result.cores;
  return replayed;
}

}  // namespace

TEST_CASE("a ring of two, a server and the ring again: met again the job learns the same, to the last bit") {
  // Also where each worker has a velocity of its own, and at both switches new processes go on from a file.
  LoadedJob job = load_job(two_members);
  SUBCASE("the processes go on") {}
  SUBCASE("the processes start anew") {
    job.loaded.scenario.emulate = EmulationConfig{.restarts = true};
    job.loaded.scenario.job.optimizer.momentum_at = MomentumPlace::workers;
  }
  const bool restarts = job.loaded.scenario.emulate.has_value();
  LiveOptions options = options_for_test();
  std::vector<int> processes;
  options.on_start = [&](const ProcessCrew& crew) { processes = crew.process_ids(); };
  const Scenario& scenario = job.loaded.scenario;
  const LiveRun live = run_live(scenario, *job.profiles, 0, options);
  for (const LostWorker& lost : live.lost) FAIL_CHECK(lost.reason);
  CHECK(live.result.end_reason == "workload-done");
  CHECK(live.result.samples >= 800);
  CHECK(live.result.phases.size() == 3);
  CHECK(live.restarts.size() == (restarts ? 4 : 0));
  for (const int process : processes) CHECK_FALSE(is_alive(process));
  // Of the server's time that for rings and that for requests cannot be told apart.
  CHECK(live.communication.server_request == Seconds{});
  CHECK(live.communication.per_message > Seconds{});

  kernels::NetworkLearner learner(network_learner_config(scenario, {scenario.seed, 0}));
  const RunResult replayed = met_again(scenario, job, live, learner);
  REQUIRE(replayed.curve.size() == live.result.curve.size());
  for (std::size_t i = 0; i < replayed.curve.size(); ++i)
    CHECK(replayed.curve[i].loss == live.result.curve[i].loss);
  CHECK(decisions(replayed) == decisions(live.result));
}

TEST_CASE("a ring of three: each of the first steps, from recorded parameters, agrees to 1e-5") {
  const LoadedJob job = load_job(three_members);
  LiveOptions options = options_for_test();
  options.replicas_to_keep = 20;
  const Scenario& scenario = job.loaded.scenario;
  const LiveRun live = run_live(scenario, *job.profiles, 0, options);
  for (const LostWorker& lost : live.lost) FAIL_CHECK(lost.reason);
  CHECK(live.result.end_reason == "workload-done");
  REQUIRE(live.replicas.size() == 20);
  StepByStep learner(network_learner_config(scenario, {scenario.seed, 0}), live.replicas);
  const RunResult replayed = met_again(scenario, job, live, learner);
  REQUIRE(learner.differences().size() == 20);
  for (const double difference : learner.differences()) CHECK(difference < 1e-5);
  CHECK(replayed.updates == live.result.updates);
  CHECK(replayed.samples == live.result.samples);
}

TEST_CASE("all-reduces are timed within a job, whose slower members others wait for") {
  const auto passes = calibrate::time_rings_in_jobs(PACELINE_CALIBRATE, {Seconds{1e-4}, Seconds{2e-4}},
                                                    {100, 1000}, 2, Seconds{0.01});
  REQUIRE(passes.size() == 2);
  for (const auto& pass : passes) {
    REQUIRE(pass.size() == 2);
    CHECK(pass[1].bytes == Bytes{4000.0});
    for (const calibrate::RingTime& time : pass) {
      CHECK(time.members == 2);
      CHECK(time.wall > Seconds{});
      CHECK(time.processor > Seconds{});
    }
  }
}

TEST_CASE("workers are started by a launcher, which sees no token, and end with the job") {
  const test::TemporaryFolder folder;
  std::ofstream(folder.path() / "launcher")
      << "#!/bin/sh\necho \"$@\" >> " << (folder.path() / "log").string() << "\nshift\nexec \"$@\"\n";
  const LoadedJob job =
      load_job(on_hosts(three_members, "launch: '/bin/sh " + (folder.path() / "launcher").string() +
                                           " {{host}}', names: [first, second]")
                   .c_str());
  static_cast<void>(check_live(job.loaded));
  LiveOptions options = options_for_test();
  std::vector<int> processes;
  options.on_start = [&](const ProcessCrew& crew) { processes = crew.process_ids(); };
  const LiveRun live = run_live(job.loaded.scenario, *job.profiles, 0, options);
  for (const LostWorker& lost : live.lost) FAIL_CHECK(lost.reason);
  CHECK(live.result.end_reason == "workload-done");
  for (const int process : processes) CHECK_FALSE(is_alive(process));
  std::ifstream log(folder.path() / "log");
  int first = 0;
  int lines = 0;
  for (std::string line; std::getline(log, line); ++lines) {
    first += line.starts_with("first env ") ? 1 : 0;
    CHECK(line.size() < 1000);
    for (std::size_t i = 0; i + 64 <= line.size(); ++i)
      CHECK_FALSE(token_from(line.substr(i, 64)).has_value());
  }
  CHECK(lines == 3);
  CHECK(first == 2);
}

TEST_CASE("what a launcher cannot do is refused") {
  const auto refuses = [](const char* text, const std::string& hosts, const std::string& message) {
    CHECK_THROWS_WITH_AS(static_cast<void>(check_live(load_job(on_hosts(text, hosts).c_str()).loaded)),
                         doctest::Contains(message.c_str()), UserError);
  };
  refuses(three_members, "launch: ' ', names: [a]", "the launcher has no command");
  refuses(three_members, "launch: ssh, names: [-oProxyCommand=x]", "names no host");
  refuses(three_members, "launch: ssh, names: [a], address: here", "`here` is no address");
  refuses(three_members, "launch: ssh, names: [a], program: a b", "is not passed on by every shell");
  // What shares a machine there is not asked here. Free evaluations need no worker that stands still.
  CHECK_NOTHROW(static_cast<void>(
      check_live(load_job(on_hosts(two_members, "launch: ssh, names: [a]").c_str()).loaded)));
  LoadedJob shared = load_job(on_hosts(three_members, "launch: ssh, names: [a, b]").c_str());
  shared.loaded.scenario.cluster.machines = {Machine{.cores = 2, .workers = {0, 1}, .is_shared = true}};
  CHECK_NOTHROW(static_cast<void>(check_live(shared.loaded)));
  shared.loaded.scenario.hosts.reset();
  CHECK_THROWS_WITH_AS(static_cast<void>(check_live(shared.loaded)),
                       doctest::Contains("all workers of a live job run on this machine"), UserError);
}

TEST_CASE("a worker killed at a random moment of a ring leaves the job, the others end it") {
  const LoadedJob jobs[] = {load_job(two_members), load_job(three_members)};
  check_survives_kills(jobs, 2);
}

TEST_CASE("members on links of 8 Mbit/s take at least the time that the links carry their values") {
  if (const std::string reason = why_no_emulated_links(); !reason.empty()) {
    MESSAGE("left out: ", reason);
    return;
  }
  // Two members send half of 200 kB twice: 0.2 s at 1 MB/s, all but what passes at once.
  NetworkConfig network;
  network.bandwidth = network.server_bandwidth = BytesPerSecond{1e6};
  const std::vector<calibrate::RingTime> times =
      calibrate::time_rings(PACELINE_CALIBRATE, {.values = {50'000}, .links = network});
  REQUIRE(times.size() == 1);
  CHECK(times[0].wall.value() > 0.9 * 0.2);
}
