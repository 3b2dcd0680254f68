#include "sim/report/recording/activity_tracker.hpp"

#include <cmath>
#include <optional>
#include <utility>

#include <doctest/doctest.h>

#include "sim/report/recording/run_recorder.hpp"
#include "tests/support/test_job.hpp"

using namespace paceline;

namespace {

constexpr WorkerId w0{0};
constexpr WorkerId w1{1};

double time_of(const ActivityTracker& tracker, WorkerId worker, Activity activity) {
  return tracker.times().at(worker.value).at(static_cast<std::size_t>(activity)).value();
}

double sum(const ActivityTimes& times) {
  double total = 0.0;
  for (const Seconds time : times) total += time.value();
  return total;
}

// What the recorder says about a run of a test job without contention.
RunResult recorded(test::TestJob job, RecordingOptions recording = {}) {
  RunRecorder recorder(job.seed, recording);
  job.observer = &recorder;
  const test::TestJob::Result result = job.run_ideal();
  return recorder.finish(result.end, std::nullopt);
}

double of(const RunResult& run, std::size_t worker, Activity activity) {
  return run.attribution.at(worker).at(static_cast<std::size_t>(activity)).value();
}

}  // namespace

TEST_CASE("one iteration over a server: compute, push, server, pull, and waiting before and after") {
  ActivityTracker tracker(true);
  tracker.on_action(Seconds{1}, StartIteration{w0, GradientId{0}, 0, 8, 0});
  tracker.on_event(Seconds{4}, IterationFinished{w0, GradientId{0}, Seconds{3}});
  tracker.on_action(Seconds{4}, SendGradient{w0, GradientId{0}, ServerId{0}});
  tracker.on_event(Seconds{6}, GradientArrived{w0, GradientId{0}, ServerId{0}});
  tracker.on_action(Seconds{6}, Step{UpdateId{0}, ServerId{0}, {w0}, false});
  tracker.on_event(Seconds{6.5}, StepFinished{UpdateId{0}, ServerId{0}});
  tracker.on_action(Seconds{6.5}, SendParameters{w0, GradientId{1}, ServerId{0}, std::nullopt});
  tracker.on_event(Seconds{7.5}, ParametersArrived{w0, GradientId{1}, ServerId{0}});
  tracker.finish(Seconds{10});
  CHECK(time_of(tracker, w0, Activity::compute) == 3.0);
  CHECK(time_of(tracker, w0, Activity::transfer) == 2.0 + 1.0);
  CHECK(time_of(tracker, w0, Activity::server) == 0.5);
  CHECK(time_of(tracker, w0, Activity::wait) == 1.0 + 2.5);
  // The spans follow each other without gap or overlap from 0 to the end.
  const std::vector<ActivitySpan> spans = tracker.take_spans();
  REQUIRE(spans.size() == 6);
  CHECK(spans.front().begin == Seconds{0});
  // Each says what it was about: the gradient, or the update of a step.
  std::string tasks;
  for (const ActivitySpan& span : spans)
    tasks += span.task + (span.number ? std::to_string(*span.number) : "") + (span.server ? "@0 " : " ");
  CHECK(tasks == " compute0 push0@0 step0@0 pull1@0  ");
  CHECK(spans.back().end == Seconds{10});
  for (std::size_t i = 1; i < spans.size(); ++i) CHECK(spans[i].begin == spans[i - 1].end);
}

TEST_CASE("of shards that overlap, what ends last counts") {
  // Shard 0: push 0-2, step 2-6. Shard 1: push 0-5, step 5-7. Ends last: the step of shard 1 (5-7), before it
  // the step of shard 0 (ends 6; 2-5), before it the push of shard 1 (ends 5; 0-2).
  ActivityTracker tracker(false);
  tracker.on_action(Seconds{0}, SendGradient{w0, GradientId{0}, ServerId{0}});
  tracker.on_action(Seconds{0}, SendGradient{w0, GradientId{0}, ServerId{1}});
  tracker.on_event(Seconds{2}, GradientArrived{w0, GradientId{0}, ServerId{0}});
  tracker.on_action(Seconds{2}, Step{UpdateId{0}, ServerId{0}, {w0}, false});
  tracker.on_event(Seconds{5}, GradientArrived{w0, GradientId{0}, ServerId{1}});
  tracker.on_action(Seconds{5}, Step{UpdateId{0}, ServerId{1}, {w0}, false});
  tracker.on_event(Seconds{6}, StepFinished{UpdateId{0}, ServerId{0}});
  tracker.on_event(Seconds{7}, StepFinished{UpdateId{0}, ServerId{1}});
  tracker.finish(Seconds{7});
  CHECK(time_of(tracker, w0, Activity::transfer) == 2.0);
  CHECK(time_of(tracker, w0, Activity::server) == 5.0);
  CHECK(sum(tracker.times()[0]) == 7.0);
}

TEST_CASE(
    "an all-reduce is transfer for its members, the steps after it are compute, coordination is its own") {
  ActivityTracker tracker(false);
  tracker.on_action(Seconds{0}, StartIteration{w0, GradientId{0}, 0, 8, 0});
  tracker.on_action(Seconds{0}, StartIteration{w1, GradientId{1}, 0, 8, 0});
  tracker.on_event(Seconds{1}, IterationFinished{w0, GradientId{0}, Seconds{1}});
  tracker.on_event(Seconds{3}, IterationFinished{w1, GradientId{1}, Seconds{3}});
  tracker.on_action(Seconds{3}, AllReduce{UpdateId{0}, {w0, w1}});
  tracker.on_event(Seconds{5}, AllReduceFinished{UpdateId{0}});
  tracker.on_action(Seconds{5}, LocalStep{UpdateId{0}, {w0, w1}});
  tracker.on_event(Seconds{6}, StepFinished{UpdateId{0}, ServerId{0}});
  tracker.on_action(Seconds{6}, Coordinate{UpdateId{0}, {w0, w1}, 16});
  tracker.on_event(Seconds{6.5}, CoordinationFinished{UpdateId{0}});
  tracker.finish(Seconds{6.5});
  CHECK(time_of(tracker, w0, Activity::wait) == 2.0);  // at the barrier
  CHECK(time_of(tracker, w1, Activity::wait) == 0.0);
  for (const WorkerId worker : {w0, w1}) {
    CHECK(time_of(tracker, worker, Activity::transfer) == 2.0);
    CHECK(time_of(tracker, worker, Activity::coordination) == 0.5);
  }
  CHECK(time_of(tracker, w0, Activity::compute) == 1.0 + 1.0);
  CHECK(time_of(tracker, w1, Activity::compute) == 3.0 + 1.0);
}

TEST_CASE("each kind of pause is an activity of its own") {
  for (const auto& [kind, activity] : {std::pair{PauseKind::start_up, Activity::start_up},
                                       {PauseKind::switching, Activity::switching},
                                       {PauseKind::checkpoint, Activity::checkpoint},
                                       {PauseKind::evaluation, Activity::evaluation}}) {
    ActivityTracker tracker(false);
    tracker.on_action(Seconds{1}, Pause{w0, kind, 0, GradientId{0}});
    tracker.on_event(Seconds{4}, PauseEnded{w0, GradientId{0}});
    tracker.finish(Seconds{5});
    CHECK(time_of(tracker, w0, activity) == 3.0);
    CHECK(time_of(tracker, w0, Activity::wait) == 2.0);
  }
}

TEST_CASE("a worker that leaves drops what it was doing, is away, and late answers do not disturb it") {
  ActivityTracker tracker(false);
  tracker.on_action(Seconds{0}, StartIteration{w0, GradientId{0}, 0, 8, 0});
  tracker.on_event(Seconds{2}, WorkerLeft{w0});
  tracker.on_action(Seconds{2}, Discard{GradientId{0}});
  tracker.on_action(Seconds{2}, Step{UpdateId{0}, ServerId{0}, {w0}, false});  // its earlier gradient
  tracker.on_event(Seconds{3}, IterationFinished{w0, GradientId{0}, Seconds{3}});
  tracker.on_event(Seconds{4}, StepFinished{UpdateId{0}, ServerId{0}});
  tracker.on_event(Seconds{5}, WorkerJoined{w0});
  tracker.on_action(Seconds{6}, SendParameters{w0, GradientId{1}, ServerId{0}, w1});
  tracker.on_event(Seconds{7}, ParametersArrived{w0, GradientId{1}, ServerId{0}});
  tracker.finish(Seconds{7});
  CHECK(time_of(tracker, w0, Activity::compute) == 2.0);
  CHECK(time_of(tracker, w0, Activity::away) == 3.0);
  CHECK(time_of(tracker, w0, Activity::wait) == 1.0);
  CHECK(time_of(tracker, w0, Activity::transfer) == 1.0);
}

TEST_CASE("a computation that is called off ends at once, and its worker waits for what comes next") {
  // Called off at 2: it has computed for 2 s, whatever still comes of it.
  ActivityTracker finishing(false);
  finishing.on_action(Seconds{0}, StartIteration{w0, GradientId{0}, 0, 8, 0});
  finishing.on_action(Seconds{2}, Discard{GradientId{0}});
  finishing.on_event(Seconds{5}, IterationFinished{w0, GradientId{0}, Seconds{5}});
  finishing.finish(Seconds{6});
  CHECK(time_of(finishing, w0, Activity::compute) == 2.0);
  CHECK(time_of(finishing, w0, Activity::wait) == 4.0);
  // Parameters come from 3 on: 2 s computed, 1 s waited, 3 s of transfer.
  ActivityTracker interrupted(false);
  interrupted.on_action(Seconds{0}, StartIteration{w0, GradientId{0}, 0, 8, 0});
  interrupted.on_action(Seconds{2}, Discard{GradientId{0}});
  interrupted.on_action(Seconds{3}, SendParameters{w0, GradientId{1}, ServerId{0}, std::nullopt});
  interrupted.on_event(Seconds{5}, IterationFinished{w0, GradientId{0}, Seconds{5}});
  interrupted.on_event(Seconds{6}, ParametersArrived{w0, GradientId{1}, ServerId{0}});
  interrupted.finish(Seconds{6});
  CHECK(time_of(interrupted, w0, Activity::compute) == 2.0);
  CHECK(time_of(interrupted, w0, Activity::transfer) == 3.0);
}

TEST_CASE("an all-reduce given up for one among fewer members does not outlive its successor") {
  ActivityTracker tracker(false);
  tracker.on_action(Seconds{0}, AllReduce{UpdateId{0}, {w0, w1}});
  tracker.on_event(Seconds{1}, WorkerLeft{w1});
  tracker.on_action(Seconds{1}, AllReduce{UpdateId{1}, {w0}});
  tracker.on_event(Seconds{2}, AllReduceFinished{UpdateId{1}});
  tracker.finish(Seconds{10});
  CHECK(time_of(tracker, w0, Activity::transfer) == 2.0);
  CHECK(time_of(tracker, w0, Activity::wait) == 8.0);
}

TEST_CASE("the end of the job ends everything, and a worker never heard of waited all along") {
  ActivityTracker tracker(false);
  tracker.on_action(Seconds{0}, AdoptBatches{{{.samples = 8}, {.samples = 8}, {.samples = 8}}});
  tracker.on_action(Seconds{0}, StartIteration{w0, GradientId{0}, 0, 8, 0});
  tracker.finish(Seconds{4});
  REQUIRE(tracker.times().size() == 3);
  CHECK(time_of(tracker, w0, Activity::compute) == 4.0);
  CHECK(time_of(tracker, WorkerId{2}, Activity::wait) == 4.0);
}

TEST_CASE("under BSP over a ring the fast worker waits for the slow one") {
  // 2 workers, 10 samples each, 1 s a sample; worker 1 at half speed. 200 samples: 10 rounds of 20 s.
  test::TestJob job;
  job.workers = {{.cores = 1}, {.cores = 1, .speed = 0.5}};
  job.phases.front().transport = Transport::ring;
  job.total_samples = 200;
  const RunResult run = recorded(job);
  CHECK(of(run, 0, Activity::compute) == doctest::Approx(100.0));
  CHECK(of(run, 0, Activity::wait) == doctest::Approx(100.0));
  CHECK(of(run, 1, Activity::compute) == doctest::Approx(200.0));
  CHECK(of(run, 1, Activity::wait) == doctest::Approx(0.0));
}

TEST_CASE("under ASP over a server a worker's cycle is compute, push, server, pull") {
  // 1 worker, 10 samples of 1 s; 1000 bytes at 1000 B/s each way: 1 s; the server steps at 500 B/s: 2 s.
  // 5 iterations: 50 s compute, 5 pushes, 5 steps; the last update ends the job before its pull: 4 pulls.
  test::TestJob job;
  job.workers = {{}};
  job.network = {BytesPerSecond{1e3}, Seconds{0.0}, BytesPerSecond{1e3}};
  job.phases.front().policy = "asp";
  job.server_rate = BytesPerSecond{500.0};
  job.total_samples = 50;
  const RunResult run = recorded(job);
  CHECK(of(run, 0, Activity::compute) == doctest::Approx(50.0));
  CHECK(of(run, 0, Activity::transfer) == doctest::Approx(5.0 + 4.0));
  CHECK(of(run, 0, Activity::server) == doctest::Approx(10.0));
  CHECK(run.end_time.value() == doctest::Approx(69.0));
  REQUIRE(run.resources.size() == 1);
  CHECK(run.resources[0].busy.value() == doctest::Approx(10.0));
}

TEST_CASE("busy and idle sum to the makespan for every worker, with jitter, uneven workers and a switch") {
  test::TestJob job;
  job.workers = {{}, {.speed = 0.5}, {.speed = 0.3}, {.speed = 2.0}};
  job.network = {BytesPerSecond{1e3}, Seconds{0.01}, BytesPerSecond{2e3}};
  job.server_rate = BytesPerSecond{3e3};
  job.optimizer_step = Seconds{0.1};
  job.jitter.iteration_cv = 0.2;
  job.total_samples = 4000;
  PhaseConfig ring;
  ring.transport = Transport::ring;
  ring.length = ShareOfJob{0.5};
  PhaseConfig asp;
  asp.policy = "asp";
  job.phases = {ring, asp};
  job.costs.switching.resize(2);
  job.costs.switching[1].time = Seconds{7.0};
  const RunResult run = recorded(job, {.iterations = true, .trace = true});
  for (const ActivityTimes& times : run.attribution)
    CHECK(std::abs(sum(times) - run.end_time.value()) <= 1e-9 * run.end_time.value());
  for (std::size_t w = 0; w < 4; ++w) CHECK(of(run, w, Activity::switching) == doctest::Approx(7.0));
  // Spans of applied gradients say their batch and staleness.
  bool any_stale = false;
  for (const ActivitySpan& span : run.trace->activities) {
    CHECK((span.task == "compute") == (span.batch_samples && !span.server));
    any_stale = any_stale || span.staleness.value_or(0) > 0;
  }
  CHECK(any_stale);
  // The spans of each worker tile the run.
  REQUIRE(run.trace.has_value());
  Seconds until;
  for (std::size_t i = 0; i < run.trace->activities.size(); ++i) {
    const ActivitySpan& span = run.trace->activities[i];
    const bool first_of_worker = i == 0 || run.trace->activities[i - 1].worker != span.worker;
    if (first_of_worker) CHECK((i == 0 || until == run.end_time));
    CHECK(span.begin == (first_of_worker ? Seconds{} : until));
    until = span.end;
  }
  CHECK(until == run.end_time);
  // The phases: the first ends when the switch begins, 7 s before the second.
  REQUIRE(run.phases.size() == 2);
  CHECK((run.phases[1].begin - run.phases[0].end).value() == doctest::Approx(7.0));
  CHECK(run.phases[0].mean_staleness == 0.0);
  CHECK(run.phases[1].mean_staleness > 0.0);
  CHECK(run.phases[0].updates + run.phases[1].updates == run.updates);
  CHECK(run.phases[0].samples + run.phases[1].samples == run.samples);
  // Every iteration in order, and as many applied as the run says.
  std::uint64_t applied = 0;
  double staleness = 0.0;
  for (const IterationRecord& record : run.iterations) {
    CHECK(record.release <= *record.start);
    if (record.fate != Fate::applied) continue;
    ++applied;
    staleness += static_cast<double>(record.staleness.value_or(0));
    CHECK(*record.start <= *record.finish);
    CHECK(*record.finish <= *record.arrival);
    CHECK(*record.arrival <= *record.applied);
  }
  CHECK(run.iterations.size() == run.gradients_started);
  CHECK(applied == run.gradients_applied);
  CHECK(staleness / static_cast<double>(applied) == doctest::Approx(run.mean_staleness()));
}

TEST_CASE("every policy and exchange leaves a whole record, over one server and over three") {
  PhaseConfig bsp;
  PhaseConfig asp;
  asp.policy = "asp";
  PhaseConfig k_sync;
  k_sync.policy = {"k-sync", {{"gradients", 2}}};
  PhaseConfig backup;
  backup.policy = {"backup-workers", {{"backups", 1}}};
  PhaseConfig exchange = asp;
  exchange.exchange = Exchange::parameters;
  for (const PhaseConfig& phase : {bsp, asp, k_sync, backup, exchange}) {
    for (const std::size_t servers : {1U, 3U}) {
      if (servers > 1 && !phase.policy->decides_alike_on_every_server) continue;  // refused
      CAPTURE(phase.policy->word);
      CAPTURE(servers);
      test::TestJob job;
      job.workers = {{}, {.speed = 0.5}, {.speed = 0.3}, {.speed = 2.0}};
      job.network = {BytesPerSecond{1e3}, Seconds{0.01}, BytesPerSecond{2e3}};
      job.server_rate = BytesPerSecond{3e3};
      job.jitter.iteration_cv = 0.2;
      job.phases = {phase};
      job.servers = servers;
      job.total_samples = 2000;
      const RunResult run = recorded(job, {.iterations = true, .trace = true});
      for (const ActivityTimes& times : run.attribution)
        CHECK(std::abs(sum(times) - run.end_time.value()) <= 1e-9 * run.end_time.value());
      CHECK(run.iterations.size() == run.gradients_started);
      CHECK(run.resources.size() == servers);
      std::uint64_t applied = 0;
      for (const IterationRecord& record : run.iterations) {
        applied += record.fate == Fate::applied ? 1 : 0;
        CHECK(record.fate != Fate::in_flight);
        CHECK(record.mean_staleness.value_or(0.0) <= static_cast<double>(record.staleness.value_or(0)));
      }
      CHECK(applied == run.gradients_applied);
      CHECK(run.samples >= job.total_samples);
    }
  }
}
