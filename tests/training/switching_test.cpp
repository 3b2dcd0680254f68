// Phases that are left and taken up again, workers that are dropped: what happens when, in a job whose
// iterations take 10 s. Worker 1 straggles from 45 s on: its iterations take 20 s.
//
// Healthy rounds end at 10, 20, 30, 40 s. In the fifth, worker 1 has done half when it becomes slow: it ends
// at 55 s, the sixth at 75, the seventh at 95, the eighth at 115 s. Windows are two rounds, two slow windows
// raise an alarm: rounds 5-6 (20 samples in 35 s) and 7-8 (20 samples in 40 s). So the alarm is raised at 115
// s.
#include <doctest/doctest.h>

#include "sim/report/recording/run_recorder.hpp"
#include "tests/support/chosen.hpp"
#include "tests/support/test_job.hpp"

using namespace paceline;
using paceline::test::TestJob;

namespace {

constexpr double alarm_at_s = 115.0;

PhaseConfig phase(const char* policy, PhaseLength length = {}) {
  PhaseConfig config;
  config.policy = policy;
  config.length = length;
  return config;
}

// 20 rounds of BSP (800 samples), then ASP.
TestJob straggling_job(const char* policy, double duration_s) {
  TestJob job;
  job.total_samples = 2000;
  job.phases = {phase("bsp", ShareOfJob{0.4}), phase("asp", ShareOfJob{0.6})};
  job.reaction = test::chosen<SwitchChoice>(
      policy, {{"window", 2}, {"consecutive", 2}, {"floor", 0.1}, {"probe_every", 4}});
  job.heterogeneity.stragglers = {
      {.worker = 1, .from = Seconds{45.0}, .duration = Seconds{duration_s}, .slowdown = 2.0}};
  return job;
}

std::vector<double> times_of(const TestJob::Result& result, DecisionKind kind) {
  std::vector<double> times;
  for (const auto& [time, decide] : result.recording.all<Decide>())
    if (decide.decision.kind == kind) times.push_back(time.value());
  return times;
}

std::vector<std::pair<double, std::size_t>> phases_entered(const TestJob::Result& result) {
  std::vector<std::pair<double, std::size_t>> entered;
  for (const auto& [time, enter] : result.recording.all<EnterPhase>())
    entered.emplace_back(time.value(), enter.phase);
  return entered;
}

// Samples applied by updates of more than one gradient: those of BSP.
std::int64_t synchronous_samples(const TestJob::Result& result) {
  std::int64_t samples = 0;
  for (const auto& [time, apply] : result.recording.all<Apply>())
    if (apply.gradients.size() > 1)
      for (const AppliedGradient& gradient : apply.gradients) samples += gradient.batch_samples;
  return samples;
}

// Everything done up to a time, as text.
std::vector<std::pair<double, std::size_t>> actions_until(const TestJob::Result& result, double end_s) {
  std::vector<std::pair<double, std::size_t>> actions;
  for (const test::Done& done : result.recording.actions)
    if (done.time.value() < end_s) actions.emplace_back(done.time.value(), done.action.index());
  return actions;
}

}  // namespace

TEST_CASE("greedy: the alarm ends the phase at once, and the switch is paid for every change") {
  TestJob job = straggling_job("greedy", 300.0);
  job.costs.switching = {RestartCost{Seconds{3.0}}, RestartCost{Seconds{5.0}}};
  const auto result = job.run_ideal();
  CHECK(times_of(result, DecisionKind::alarm) == std::vector{alarm_at_s});
  CHECK(times_of(result, DecisionKind::leave_phase) == std::vector{alarm_at_s});
  const auto entered = phases_entered(result);
  REQUIRE(entered.size() == 4);
  CHECK(entered[0] == std::pair{0.0, std::size_t{0}});
  CHECK(entered[1] == std::pair{alarm_at_s + 5.0, std::size_t{1}});
  CHECK(entered[2].second == 0);
  CHECK(entered[3].second == 1);
  // Back in BSP 3 s after the last ASP iteration; that ended at most 10 s after the decision.
  const double returned_s = times_of(result, DecisionKind::return_to_phase).at(0);
  CHECK(entered[2].first >= returned_s + 3.0);
  CHECK(entered[2].first <= returned_s + 10.0 + 3.0);
}

TEST_CASE("greedy returns when the straggler has recovered, not before") {
  // On the detour worker 1 ends its iterations at 135, 155, ... 335 and, well again since 345 s, at 350, 360,
  // ... s. Its window of 335 and 350 s is slow (20 samples in 35 s), those of 360-370 and 380-390 s are calm:
  // cleared at 390 s.
  const auto result = straggling_job("greedy", 300.0).run_ideal();
  CHECK(times_of(result, DecisionKind::return_to_phase) == std::vector{390.0});
  CHECK(times_of(result, DecisionKind::clear) == std::vector{390.0});
}

TEST_CASE("greedy loses no work: BSP gets its share, however often it is left") {
  for (const double duration_s : {100.0, 200.0, 300.0}) {
    const auto result = straggling_job("greedy", duration_s).run_ideal();
    CHECK(result.applied_samples == 2000);
    CHECK(synchronous_samples(result) == 800);
  }
}

TEST_CASE("greedy goes on in ASP to the end when the straggler stays") {
  const auto result = straggling_job("greedy", 1e6).run_ideal();
  CHECK(result.applied_samples == 2000);
  CHECK(phases_entered(result).size() == 2);
  CHECK(synchronous_samples(result) == 8 * 40);
}

TEST_CASE("no policy knows when a straggler will recover") {
  // Whether it lasts 300 or 500 s, everything up to its earlier end at 345 s is the same.
  for (const char* policy : {"watch", "greedy", "elastic"}) {
    const auto shorter = straggling_job(policy, 300.0).run_ideal();
    const auto longer = straggling_job(policy, 500.0).run_ideal();
    CHECK(actions_until(shorter, 345.0) == actions_until(longer, 345.0));
    CHECK(actions_until(shorter, 1e9) != actions_until(longer, 1e9));
  }
}

TEST_CASE("elastic: the others go on without the straggler, and everybody is back for the next phase") {
  const auto result = straggling_job("elastic", 1e6).run_ideal();
  CHECK(times_of(result, DecisionKind::drop) == std::vector{alarm_at_s});
  std::vector<std::size_t> sizes;
  bool worker_1_takes_part_in_asp = false;
  for (const auto& [time, apply] : result.recording.all<Apply>()) {
    if (apply.gradients.size() > 1) sizes.push_back(apply.gradients.size());
    if (apply.gradients.size() == 1 && apply.gradients[0].worker == WorkerId{1})
      worker_1_takes_part_in_asp = true;
  }
  // 8 rounds of 4 (320 samples), then 16 of 3 (480 samples).
  REQUIRE(sizes.size() == 24);
  for (std::size_t i = 0; i < sizes.size(); ++i) CHECK(sizes[i] == (i < 8 ? 4 : 3));
  CHECK(worker_1_takes_part_in_asp);
  CHECK(times_of(result, DecisionKind::restore).size() == 1);
  // Rounds of three healthy workers take 10 s again: BSP ends at 115 + 160 s.
  CHECK(phases_entered(result).at(1).first == 275.0);
  CHECK(result.applied_samples >= 2000);
  CHECK(result.applied_samples < 2000 + 40);
}

TEST_CASE("elastic: a probe that finds the worker well brings it back for the next round") {
  // Slow until 145 s. Probes start after every 4th update: with the 12th at 155 s, one ends well at 165 s, as
  // the 13th round does; the 14th round has four workers.
  const auto result = straggling_job("elastic", 100.0).run_ideal();
  CHECK(times_of(result, DecisionKind::probe) == std::vector{135.0, 165.0});
  CHECK(times_of(result, DecisionKind::restore) == std::vector{165.0});
  std::vector<std::size_t> sizes;
  for (const auto& [time, apply] : result.recording.all<Apply>())
    if (apply.gradients.size() > 1) sizes.push_back(apply.gradients.size());
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    INFO(i);
    CHECK(sizes[i] == (i >= 8 && i < 13 ? 3 : 4));
  }
}

TEST_CASE("probes and regrouping cost what the scenario says, as time of the switch") {
  TestJob job = straggling_job("elastic", 1e6);
  job.costs.regrouping = Seconds{4.0};
  job.costs.probing = Seconds{1.0};
  RunRecorder recorder(job.seed);
  job.observer = &recorder;
  const auto result = job.run_ideal();
  // 8th update at 115 s: dropped (4 s) and, being a 4th, probed (1 s); then with updates 12, 16 and 20.
  CHECK(phases_entered(result).at(1).first == 275.0 + 4.0 + 4.0);
  const RunResult run = recorder.finish(result.end, std::nullopt);
  CHECK(run.attribution[0][static_cast<std::size_t>(Activity::switching)] == Seconds{8.0});
  CHECK(run.decisions.size() > 3);
  for (const ActivityTimes& times : run.attribution) {
    Seconds sum;
    for (const Seconds time : times) sum += time;
    CHECK(sum.value() == doctest::Approx(run.end_time.value()));
  }
}

TEST_CASE("a detector that only watches changes nothing") {
  const auto fixed = straggling_job("fixed", 300.0).run_ideal();
  const auto watched = straggling_job("watch", 300.0).run_ideal();
  CHECK(watched.end == fixed.end);
  CHECK(watched.updates == fixed.updates);
  CHECK(times_of(watched, DecisionKind::alarm) == std::vector{alarm_at_s});
  CHECK(fixed.recording.all<Judge>().empty());
}

TEST_CASE("several servers and an all-reduce: the same rounds are left out and taken up") {
  for (const bool by_ring : {false, true}) {
    for (const char* policy : {"greedy", "elastic"}) {
      TestJob job = straggling_job(policy, 100.0);
      if (by_ring) job.phases[0].transport = Transport::ring;
      if (!by_ring) job.servers = 3;
      const auto result = job.run_ideal();
      CHECK_FALSE(result.stalled);
      CHECK(times_of(result, DecisionKind::alarm) == std::vector{alarm_at_s});
      CHECK(result.applied_samples >= 2000);
    }
  }
}

TEST_CASE("\"101\" by shares and by steps: every mini-batch is processed once") {
  TestJob job;
  job.total_samples = 1600;  // 160 mini-batches
  job.phases = {phase("bsp", ShareOfJob{0.25}), phase("asp", ShareOfJob{0.5}),
                phase("bsp", ShareOfJob{0.25})};
  job.costs.switching = {{}, RestartCost{Seconds{7.0}}, RestartCost{Seconds{7.0}}};
  const auto by_share = job.run_ideal();
  // 10 rounds, 80 updates of one, 10 rounds: 100 + 7 + 200 + 7 + 100 s.
  CHECK(by_share.updates == 100);
  CHECK(by_share.applied_samples == 1600);
  CHECK(by_share.end == Seconds{414.0});
  job.phases[0].length = UpdateCount{10};
  job.phases[1].length = UpdateCount{80};
  job.phases[2].length = std::monostate{};
  const auto by_steps = job.run_ideal();
  CHECK(by_steps.updates == 100);
  CHECK(by_steps.end == Seconds{414.0});
}

TEST_CASE(
    "configuration policy: n·B and n·η under BSP, B and η under ASP, momentum by its rule after the switch") {
  TestJob job;
  job.total_samples = 800;
  job.phases = {phase("bsp", ShareOfJob{0.5}), phase("asp", ShareOfJob{0.5})};
  job.optimizer.learning_rate = 0.1;
  job.optimizer.momentum = 0.8;
  job.optimizer.worker_scaling = RateScaling::linear;
  job.optimizer.momentum_at_switch = {MomentumRule::staged, Count{10.0, CountUnit::updates}};
  std::size_t asynchronous = 0;
  for (const auto& [time, apply] : job.run_ideal().recording.all<Apply>()) {
    if (apply.gradients.size() == 4) {
      CHECK(apply.hyperparameters.learning_rate == doctest::Approx(0.4));
      CHECK(apply.hyperparameters.momentum == 0.8);
      continue;
    }
    CHECK(apply.gradients.size() == 1);
    CHECK(apply.hyperparameters.learning_rate == doctest::Approx(0.1));
    // A quarter for 10 updates, half for 10, then all of it.
    const double factor = asynchronous < 10 ? 0.25 : asynchronous < 20 ? 0.5 : 1.0;
    CHECK(apply.hyperparameters.momentum == doctest::Approx(0.8 * factor));
    ++asynchronous;
  }
  CHECK(asynchronous == 40);
}

TEST_CASE("what a worker computed before it left is no part of its time once it is back") {
  // Worker 1 needs 10 s, the others 12. In the second round it is done at 22 s and leaves at 23; back, it
  // is as fast as before, and its first window shows 10 samples in 10 s, not in 20.
  TestJob job;
  job.workers = {{1, 10.0 / 12.0}, {}, {1, 10.0 / 12.0}};
  job.total_samples = 300;
  job.phases = {phase("bsp")};
  job.reaction = test::chosen<SwitchChoice>(
      "watch", {{"window", 1}, {"consecutive", 1}, {"floor", 0.1}, {"deviations", 0.0}});
  job.heterogeneity.membership = {{Seconds{23.0}, 1, MembershipEvent::leaves},
                                  {Seconds{30.0}, 1, MembershipEvent::joins}};
  const auto result = job.run_ideal();
  // 10 samples each: the second and third round without worker 1, who left and came back amid them; full ones
  // until 300 are reached: 30 + 2 · 20 + 8 · 30.
  CHECK(result.applied_samples == 310);
  CHECK(times_of(result, DecisionKind::alarm).empty());
}

TEST_CASE("what a worker computed for a gradient that was called off is no part of its next iteration") {
  // One gradient of two is enough: worker 0 has it at 10 s. Worker 1 has computed for 12.5 s when its own is
  // called off. In the BSP phase from 15 s on (coordination takes 5 s) its window shows 10 samples in 12.5 s,
  // not in 25.
  TestJob job;
  job.workers = {{}, {1, 0.8}};
  job.phases = {{.policy = {"backup-workers", {{"backups", 1}}}, .length = UpdateCount{1}}, phase("bsp")};
  job.costs.coordination.per_step = Seconds{5.0};
  job.total_samples = 50;
  job.reaction = test::chosen<SwitchChoice>(
      "watch", {{"window", 1}, {"consecutive", 1}, {"floor", 0.1}, {"deviations", 0.0}});
  const auto judged = job.run_ideal().recording.all<Judge>();
  REQUIRE_FALSE(judged.empty());
  CHECK(judged.front().first == Seconds{15.0 + 12.5 + 5.0});
  CHECK(judged.front().second.judgements.at(0).throughput == doctest::Approx(10.0 / 10.0));
  CHECK(judged.front().second.judgements.at(1).throughput == doctest::Approx(10.0 / 12.5));
}
