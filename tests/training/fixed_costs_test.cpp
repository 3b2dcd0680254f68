// Pauses, coordination and evaluations: what they add to iterations of 10 s.
#include <utility>

#include <doctest/doctest.h>

#include "sim/report/recording/run_recorder.hpp"
#include "tests/support/test_job.hpp"

using namespace paceline;
using paceline::test::compute_times;
using paceline::test::TestJob;
using paceline::test::times_of_updates;
using paceline::test::two_workers;

namespace {

// With several servers an update is complete when its last part is.
std::vector<double> times_of_completion(const TestJob::Result& result) {
  std::vector<double> times;
  for (const auto& [time, update] : result.recording.all<Apply>())
    if (update.takes_last_shard()) times.push_back(time.value());
  return times;
}

// 600 B, 100 B and 300 B on two servers in turn: 900 B of two variables on the first, 100 B of one on the
// second.
TestJob three_variables(std::vector<Worker> workers, std::int64_t total_samples) {
  TestJob job;
  job.workers = std::move(workers);
  job.phases = {{.policy = "asp"}};
  job.total_samples = total_samples;
  job.servers = 2;
  job.split = ParameterSplit::whole_variables;
  job.variables = {Bytes{600.0}, Bytes{100.0}, Bytes{300.0}};
  job.costs.communication.server_request = Seconds{0.5};
  job.costs.communication.server_variable = Seconds{0.25};
  job.costs.communication.server_rate = BytesPerSecond{200.0};
  return job;
}

// Accuracy rises by 10 % with each update.
class TenPercentLearner final : public Learner {
 public:
  void pull(WorkerId, ServerId) override {}
  void compute(WorkerId, std::int64_t, GradientId) override {}
  void apply(ServerId, std::span<const WeightedGradient>, const Hyperparameters&) override { ++updates_; }
  void apply_locally(WorkerId, GradientId, const Hyperparameters&) override {}
  void overwrite(ServerId, WorkerId) override {}
  void scale_velocity(double) override {}
  void discard(GradientId) override {}
  std::optional<Evaluation> evaluate() override { return Evaluation{1.0, 0.1 * updates_}; }

 private:
  int updates_ = 0;
};

}  // namespace

TEST_CASE("under BSP a checkpoint holds up every worker, under ASP only the chief") {
  // A checkpoint of 3 s after every second update.
  // BSP: updates at 10, 20, pause, 33, 43: both workers start at 0, 10, 23, 33.
  // ASP: two updates each 10 s. The chief, worker 0, is released after the first of them, when one more than
  // an even number is applied: due at 20 s (3 of 8), where it rests; worker 1 never does.
  TestJob job = two_workers("bsp", 80);
  job.checkpoint_every = Every{2.0, EveryUnit::updates};
  job.costs.checkpoint = Seconds{3.0};
  const auto bsp = job.run_ideal();
  for (const std::uint64_t worker : {0U, 1U})
    CHECK(starts_of(bsp, worker) == std::vector{0.0, 10.0, 23.0, 33.0});
  job.phases[0].policy = "asp";
  const auto asp = job.run_ideal();
  CHECK(starts_of(asp, 1) == std::vector{0.0, 10.0, 20.0, 30.0});
  const auto pauses = asp.recording.all<Pause>();
  REQUIRE(!pauses.empty());
  CHECK(pauses.front().first == Seconds{20.0});
  for (const auto& [time, pause] : pauses) CHECK(pause.worker == WorkerId{0});
  CHECK(starts_of(asp, 0) == std::vector{0.0, 10.0, 23.0, 36.0});
}

TEST_CASE(
    "a parallel start takes time + per_worker for each worker, a sequential one for one after the other") {
  // time 5 s, per worker 2 s. Parallel: all at 7 s. Sequential: worker w at 5 + 2 (w + 1) = 7, 9, 11 s.
  TestJob job;
  job.workers = {{}, {}, {}};
  job.phases = {{.policy = "asp"}};
  job.total_samples = 30;
  job.costs.start_up = RestartCost{Seconds{5.0}, Seconds{2.0}, RestartOrder::parallel};
  const auto parallel = job.run_ideal();
  for (const std::uint64_t w : {0U, 1U, 2U}) CHECK(starts_of(parallel, w) == std::vector{7.0});
  job.costs.start_up->order = RestartOrder::sequential;
  const auto sequential = job.run_ideal();
  for (const std::uint64_t w : {0U, 1U, 2U})
    CHECK(starts_of(sequential, w) == std::vector{7.0 + 2.0 * static_cast<double>(w)});
}

TEST_CASE("a switch pauses before the phase it leads to, in parallel or one worker after the other") {
  // One BSP round of 10 s, then a switch of 4 s + 3 s for each worker: parallel 17 s; sequential 17 and 20 s.
  TestJob job = two_workers("bsp", 40);
  job.phases = {{.length = UpdateCount{1}}, {.policy = "asp"}};
  job.costs.switching = {{}, {Seconds{4.0}, Seconds{3.0}, RestartOrder::parallel}};
  const auto parallel = job.run_ideal();
  CHECK(starts_of(parallel, 0) == std::vector{0.0, 17.0});
  CHECK(starts_of(parallel, 1) == std::vector{0.0, 17.0});
  job.costs.switching[1].order = RestartOrder::sequential;
  const auto sequential = job.run_ideal();
  CHECK(starts_of(sequential, 0) == std::vector{0.0, 17.0});
  CHECK(starts_of(sequential, 1) == std::vector{0.0, 20.0});
}

TEST_CASE("coordination adds its time to each synchronous step: per step, per worker and per sample") {
  // Round = 10 + 1 + 2 · 0.5 + 20 · 0.1 = 14 s; the last update has no coordination before it: 10 + 14 k.
  TestJob job = two_workers("bsp", 60);
  job.costs.coordination = {Seconds{1.0}, Seconds{0.5}, Seconds{0.1}};
  const std::vector<double> times = times_of_updates(job.run_ideal());
  REQUIRE(times.size() == 3);
  for (std::size_t k = 0; k < 3; ++k)
    CHECK(times[k] == doctest::Approx(10.0 + 14.0 * static_cast<double>(k)));
  // Nobody coordinates an asynchronous step.
  job.phases[0].policy = "asp";
  CHECK(times_of_updates(job.run_ideal()) == std::vector{10.0, 10.0, 20.0, 20.0, 30.0, 30.0});
}

TEST_CASE("a server's request has a fixed time, for each gradient in turn") {
  // BSP: both gradients are there at 10 s, are taken in one after the other, 1 s each, and a step follows
  // that costs nothing: rounds of 12 s. ASP: worker 0 is served until 11 s, worker 1 until 12 s; then each
  // has the server to itself, 1 s after its 10 s: 22 and 23 s.
  TestJob job = two_workers("bsp", 40);
  job.costs.communication.server_request = Seconds{1.0};
  CHECK(times_of_updates(job.run_ideal()) == std::vector{12.0, 24.0});
  job.phases[0].policy = "asp";
  CHECK(times_of_updates(job.run_ideal()) == std::vector{11.0, 12.0, 22.0, 23.0});
  // A gradient of 1000 B at 2000 B/s takes 0.5 s more.
  job.costs.communication.server_rate = BytesPerSecond{2000.0};
  CHECK(times_of_updates(job.run_ideal()) == std::vector{11.5, 13.0, 23.0, 24.5});
}

TEST_CASE("an update is complete when the server with most of the variables is") {
  // Services: 0.5 + 2 · 0.25 + 900/200 = 5.5 s and 0.5 + 0.25 + 100/200 = 1.25 s, at the same time. One
  // worker that computes 10 s: an update each 15.5 s.
  const TestJob job = three_variables({{}}, 30);
  CHECK(times_of_completion(job.run_ideal()) == std::vector{15.5, 31.0, 46.5});
  // On one server alone: 0.5 + 3 · 0.25 + 1000/200 = 6.25 s.
  TestJob alone = job;
  alone.servers = 1;
  CHECK(times_of_completion(alone.run_ideal()) == std::vector{16.25, 32.5, 48.75});
}

TEST_CASE("a saturated job goes at the pace of the server with most of the variables") {
  // Eight workers ask for 8 · 5.5 s of the first server in 15.5 s: it is always busy, an update each 5.5 s.
  const std::vector<double> times =
      times_of_completion(three_variables(std::vector<Worker>(8), 400).run_ideal());
  REQUIRE(times.size() == 40);
  for (std::size_t k = 0; k < times.size(); ++k)
    CHECK(times[k] == doctest::Approx(10.0 + 5.5 * static_cast<double>(k + 1)));
}

TEST_CASE("variables of one size, as many on each server, take as long as an even split") {
  for (const std::size_t servers : {1UL, 2UL, 3UL, 6UL}) {
    CAPTURE(servers);
    TestJob job = three_variables(std::vector<Worker>(4), 400);
    job.servers = servers;
    job.variables.assign(6, Bytes{1000.0 / 8.0});
    job.parameter_bytes = Bytes{750.0};
    const auto whole = times_of_completion(job.run_ideal());
    job.split = ParameterSplit::even;
    CHECK(whole == times_of_completion(job.run_ideal()));
  }
}

TEST_CASE("messages take processor time of the worker's next iteration, by number and by bytes") {
  // Between two iterations a worker sends a gradient and receives parameters, of 1000 B each: 2 · 0.5 s, and
  // 2000 B at 1000 B/s, 2 s. So every iteration but the first takes 10 + 3 s. At half speed computing
  // takes twice as long, messages do not.
  TestJob job = two_workers("asp", 30);
  job.workers = {{}};
  job.costs.communication.per_message = Seconds{0.5};
  job.costs.communication.rate = BytesPerSecond{1000.0};
  CHECK(times_of_updates(job.run_ideal()) == std::vector{10.0, 23.0, 36.0});
  job.workers = {{.speed = 0.5}};
  CHECK(times_of_updates(job.run_ideal()) == std::vector{20.0, 43.0, 66.0});
}

TEST_CASE("what messages take of a worker's processor is not its compute time") {
  // As above: iterations of 10 s, the second and third with 3 s of messages. At half speed 20 s: computed all
  // the time, or half of it and then rested for as long, the messages left out.
  TestJob job = two_workers("asp", 30);
  job.costs.communication.per_message = Seconds{0.5};
  job.costs.communication.rate = BytesPerSecond{1000.0};
  const auto expect = [&](double each) {
    const std::vector<Seconds> times = compute_times(job.run_ideal());
    REQUIRE(times.size() == 3);
    for (const Seconds time : times) CHECK(time.value() == doctest::Approx(each));
  };
  job.workers = {{}};
  expect(10.0);
  job.workers = {{.speed = 0.5}};
  expect(20.0);
  for (const SlowWorkers slow : {SlowWorkers::compute, SlowWorkers::rest}) {
    job.machines = {{.cores = 2, .is_shared = true, .slow_workers = slow}};
    expect(20.0);
  }
}

TEST_CASE("local steps taken one by one have the compute time of their stretch") {
  // 3 steps of 10 s; from the second stretch on with 3 s of messages before the first of them.
  TestJob job = two_workers("asp", 90);
  job.workers = {{}};
  job.phases[0].local = LocalTraining{.steps = 3};
  job.costs.communication.per_message = Seconds{0.5};
  job.costs.communication.rate = BytesPerSecond{1000.0};
  for (const Shortcuts shortcuts : {Shortcuts::on, Shortcuts::off}) {
    job.shortcuts = shortcuts;
    const std::vector<Seconds> times = compute_times(job.run_ideal());
    REQUIRE(times.size() == 3);
    for (const Seconds time : times) CHECK(time.value() == doctest::Approx(30.0));
  }
}

TEST_CASE("an all-reduce takes processor time of each of its messages, there and back") {
  // A ring of two has two rounds, in each of which a member sends and receives half of 1000 B: 4 · 0.5 s, and
  // 2000 B at 1000 B/s, 2 s. So every iteration but the first takes 10 + 4 s.
  TestJob job = two_workers("bsp", 60);
  job.phases[0].transport = Transport::ring;
  job.costs.communication.per_message = Seconds{0.5};
  job.costs.communication.rate = BytesPerSecond{1000.0};
  CHECK(times_of_updates(job.run_ideal()) == std::vector{10.0, 24.0, 38.0});
}

TEST_CASE("an inline evaluation holds up every worker, a free one and the evaluator nobody") {
  // An evaluation of 3 s after every update of BSP: updates at 10, 23, 36; otherwise at 10, 20, 30.
  TestJob job = two_workers("bsp", 60);
  job.evaluate_every = {1.0, EveryUnit::updates};
  job.costs.evaluation = Seconds{3.0};
  job.costs.evaluation_payer = EvaluationPayer::inline_workers;
  CHECK(times_of_updates(job.run_ideal()) == std::vector{10.0, 23.0, 36.0});
  for (const EvaluationPayer payer : {EvaluationPayer::free, EvaluationPayer::evaluator}) {
    job.costs.evaluation_payer = payer;
    CHECK(times_of_updates(job.run_ideal()) == std::vector{10.0, 20.0, 30.0});
  }
}

TEST_CASE("an evaluator lags behind, and the time to accuracy is the snapshot's") {
  // One update each 10 s, each evaluated for 15 s, one after the other: the first parameters 0 to 15 s,
  // update k from 15 k to 15 (k + 1). The target of 30 % is that of update 3, known at 60 s: the job ends
  // then; it was reached at 30 s.
  TestJob job = two_workers("bsp", 2000);
  job.evaluate_every = {1.0, EveryUnit::updates};
  job.costs.evaluation = Seconds{15.0};
  job.costs.evaluation_payer = EvaluationPayer::evaluator;
  job.target_accuracy = 0.25;
  RunRecorder recorder(job.seed, {});
  job.observer = &recorder;
  TenPercentLearner learner;
  const auto result = job.run_ideal(learner);
  const auto stops = result.recording.all<Stop>();
  REQUIRE(stops.size() == 1);
  CHECK(stops[0].first == Seconds{60.0});
  CHECK(stops[0].second.reached_after_updates == 3);
  const RunResult run = recorder.finish(result.end, std::nullopt);
  REQUIRE(run.time_to_accuracy.has_value());
  CHECK(*run.time_to_accuracy == Seconds{30.0});
}

TEST_CASE("a target to be met m times in a row is met by the first of them") {
  // Accuracy 10 % per update: at or above 25 % from update 3 on; three in a row are known at update 5.
  TestJob job = two_workers("bsp", 2000);
  job.evaluate_every = {1.0, EveryUnit::updates};
  job.target_accuracy = 0.25;
  job.evaluations_at_target = 3;
  TenPercentLearner learner;
  const auto result = job.run_ideal(learner);
  const auto stops = result.recording.all<Stop>();
  REQUIRE(stops.size() == 1);
  CHECK(stops[0].first == Seconds{50.0});
  CHECK(stops[0].second.reached_after_updates == 3);
  CHECK(result.updates == 5);
}

TEST_CASE("added latency is paid once: by the coordinator's round trips where it has its own number") {
  // Iterations of 10 s, 3 s added to each message of worker 0: two round trips of the coordinator, 6 s.
  // Without a number of its own the worker's gradient is held back by its own number instead, once: 3 s.
  for (const Transport transport : {Transport::server, Transport::ring}) {
    TestJob job = two_workers("bsp", 20);
    job.phases.front().transport = transport;
    job.heterogeneity.stragglers = {{.worker = 0,
                                     .from = Seconds{0.0},
                                     .duration = Seconds{1e6},
                                     .added_latency = Seconds{3.0},
                                     .round_trips = 1.0}};
    CHECK(job.run_ideal().end.value() == doctest::Approx(10.0 + 3.0));
    job.costs.coordination.round_trips = 2.0;
    CHECK(job.run_ideal().end.value() == doctest::Approx(10.0 + 2.0 * 3.0));
  }
}

TEST_CASE("without a coordinator added latency holds the gradients back, whatever its round trips would be") {
  // ASP coordinates nothing: worker 0's gradients come 3 s late, one every 10 + 3 s.
  TestJob job = two_workers("asp", 20);
  job.workers = {{}};
  job.heterogeneity.stragglers = {{.worker = 0,
                                   .from = Seconds{0.0},
                                   .duration = Seconds{1e6},
                                   .added_latency = Seconds{3.0},
                                   .round_trips = 1.0}};
  job.costs.coordination.round_trips = 2.0;
  CHECK(times_of_updates(job.run_ideal()) == std::vector{13.0, 26.0});
}

TEST_CASE("the optimizer step on a worker is as slow as the worker") {
  // All-reduce: each worker steps by itself, 1 s; a straggler four times slower needs 40 + 4 s.
  TestJob job = two_workers("bsp", 20);
  job.phases.front().transport = Transport::ring;
  job.optimizer_step = Seconds{1.0};
  job.heterogeneity.stragglers = {
      {.worker = 0, .from = Seconds{0.0}, .duration = Seconds{1e6}, .slowdown = 4.0}};
  CHECK(job.run_ideal().end.value() == doctest::Approx(44.0));
}
