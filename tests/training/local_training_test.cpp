// Training locally and merging rarely: times, identities with the policies it generalizes, schedules,
// conservation. The bowl that is descended is that of quadratic_learner.hpp: f(x) = ½ (x₀² + 2 x₁²) from
// (8, 4), g = (x₀, 2 x₁).
#include <algorithm>
#include <cmath>
#include <numbers>
#include <string_view>

#include <doctest/doctest.h>

#include "tests/support/quadratic_learner.hpp"
#include "tests/support/test_job.hpp"

using namespace paceline;
using namespace paceline::test;

namespace {

constexpr std::size_t steps_compared = 50;

// Batches of 10 samples, 1 s each; the workers' speeds differ, so their gradients meet in different orders.
TestJob job_of(std::vector<Worker> workers, PhaseConfig phase) {
  TestJob job;
  job.workers = std::move(workers);
  job.phases = {std::move(phase)};
  job.optimizer = {.learning_rate = 0.05, .momentum = 0.5};
  job.total_samples = static_cast<std::int64_t>(10 * job.workers.size() * steps_compared);
  return job;
}

// The parameters after each update.
class Trajectory final : public RunObserver {
 public:
  explicit Trajectory(const QuadraticLearner& learner) : learner_(learner) {}
  void on_event(Seconds, const Event&) override { look(); }
  void on_action(Seconds, const Action&) override { look(); }
  void on_server_work(ServerId, std::optional<UpdateId>, Seconds, Seconds) override {}
  void on_balance(Seconds, BalanceCause, const Balance&) override {}

  std::vector<std::vector<float>> points;

 private:
  void look() {
    if (points.empty() || points.back() != learner_.x()) points.push_back(learner_.x());
  }
  const QuadraticLearner& learner_;
};

std::vector<std::vector<float>> trajectory(TestJob job, bool nesterov = false) {
  QuadraticLearner learner(
      {.worker_count = static_cast<std::uint32_t>(job.workers.size()), .nesterov = nesterov});
  Trajectory seen(learner);
  job.observer = &seen;
  static_cast<void>(job.run_ideal(learner));
  seen.points.push_back(learner.x());
  return seen.points;
}

void check_same(const std::vector<std::vector<float>>& one, const std::vector<std::vector<float>>& other) {
  REQUIRE(one.size() >= steps_compared);
  REQUIRE(other.size() >= steps_compared);
  for (std::size_t i = 0; i < steps_compared; ++i)
    for (std::size_t k = 0; k < 2; ++k) CHECK(one[i][k] == doctest::Approx(other[i][k]).epsilon(1e-5));
}

std::vector<double> times_of_updates(const TestJob::Result& result) {
  std::vector<double> times;
  for (const auto& [time, update] : result.recording.all<Apply>()) times.push_back(time.value());
  return times;
}

}  // namespace

TEST_CASE("one local step, merged by the mean, is BSP") {
  // The mean of the workers' velocities obeys v ← m v + mean g: that of BSP, with or without look-ahead.
  const std::vector<Worker> workers{{1, 1.0}, {1, 0.8}, {1, 0.5}};
  for (const double momentum : {0.0, 0.5})
    for (const bool nesterov : {false, true}) {
      TestJob local = job_of(workers, {.local = LocalTraining{}});
      TestJob synchronous = job_of(workers, {});
      local.optimizer.momentum = synchronous.optimizer.momentum = momentum;
      check_same(trajectory(local, nesterov), trajectory(synchronous, nesterov));
    }
}

TEST_CASE("one worker that merges by the mean trains as if it were alone, however rarely it does") {
  // k = 1, γ = 1, β = 0: every merge leaves what the worker has. 5 steps at a time pass through every fifth
  // point.
  const auto plain = trajectory(job_of({{}}, {}));
  const auto rare = trajectory(job_of({{}}, {.local = LocalTraining{.steps = 5}}));
  REQUIRE(rare.size() >= 10);
  for (std::size_t i = 0; i < 10; ++i)
    for (std::size_t k = 0; k < 2; ++k) CHECK(rare[i][k] == doctest::Approx(plain[5 * i][k]).epsilon(1e-5));
}

TEST_CASE("one worker trains with its own AdamW as the server would, however rarely it merges") {
  const auto points = [](PhaseConfig phase) {
    TestJob job = job_of({{}}, std::move(phase));
    QuadraticLearner learner({.worker_count = 1, .weight_decay = 0.1, .adamw = AdamW{}});
    Trajectory seen(learner);
    job.observer = &seen;
    static_cast<void>(job.run_ideal(learner));
    seen.points.push_back(learner.x());
    return seen.points;
  };
  const auto plain = points({});
  const auto rare = points({.local = LocalTraining{.steps = 5}});
  REQUIRE(rare.size() >= 10);
  for (std::size_t i = 0; i < 10; ++i)
    for (std::size_t k = 0; k < 2; ++k) CHECK(rare[i][k] == doctest::Approx(plain[5 * i][k]).epsilon(1e-5));
}

TEST_CASE("one local step, applied as it arrives, is ASP") {
  // A buffer of one, a constant rate, no momentum anywhere, no staleness weight.
  TestJob local = job_of({{1, 1.0}, {1, 0.8}, {1, 0.5}}, {.policy = "asp", .local = LocalTraining{}});
  local.optimizer.momentum = 0.0;
  TestJob asp = local;
  asp.phases = {{.policy = "asp"}};
  check_same(trajectory(local), trajectory(asp));
}

TEST_CASE("training locally after a synchronous start goes on with its velocity") {
  // BSP for half of the job, then one local step at a time: the same trajectory as BSP throughout.
  TestJob job = job_of({{1, 1.0}, {1, 0.8}}, {.length = ShareOfJob{0.5}});
  job.phases.push_back({.length = ShareOfJob{0.5}, .local = LocalTraining{}});
  check_same(trajectory(job), trajectory(job_of({{1, 1.0}, {1, 0.8}}, {})));
}

TEST_CASE("workers merge into the mean of where they got to") {
  // η = ½ without momentum, 2 steps: x₀: 8 → 4 → 2, x₁: 4 → 0 → 0; one step: (4, 0). By speed, the slow
  // worker of half the
  // speed takes 1 of 2. Batches count by samples: 20 of 30 and 10 of 30: (2·2/3 + 4/3, 0).
  TestJob job = job_of({{1, 1.0}, {1, 0.5}}, {.local = LocalTraining{.steps = 2, .by_speed = true}});
  job.optimizer = {.learning_rate = 0.5};
  job.batching.weighting = GradientWeighting::by_batch;
  job.total_samples = 30;
  QuadraticLearner learner({.worker_count = 2});
  CHECK(job.run_ideal(learner).applied_samples == 30);
  CHECK(learner.x()[0] == doctest::Approx(8.0 / 3.0));
  CHECK(learner.x()[1] == doctest::Approx(0.0));
}

TEST_CASE("the outer step follows the difference with its own rate and velocity") {
  // One worker, η = ½, H = 1: d = (x₀/2, x₁). γ = ½, β = ½, Nesterov, u from 0, on x₀ alone:
  // d = 4: u = 4, x = 8 − ½ (4 + 2) = 5.  d = 2.5: u = 4.5, x = 5 − ½ (2.5 + 2.25) = 2.625
  TestJob job = job_of(
      {{}}, {.local = LocalTraining{.outer = {.learning_rate = 0.5, .momentum = 0.5, .nesterov = true}}});
  job.optimizer = {.learning_rate = 0.5};
  job.total_samples = 20;
  QuadraticLearner learner({.worker_count = 1});
  static_cast<void>(job.run_ideal(learner));
  CHECK(learner.x()[0] == doctest::Approx(2.625));
}

TEST_CASE(
    "a buffer of differences steps when it is full, along their mean, and only then is there a new version") {
  // Three equal workers under ASP, K = 3, η = ½, H = 1, γ = 1: all compute on (8, 4), each difference is (4,
  // 4): nothing
  // moves before the third, which leaves (4, 0). Their second differences are computed on (8, 4), (8, 4),
  // (4, 0).
  TestJob job = job_of({{}, {}, {}}, {.policy = "asp", .local = LocalTraining{.outer = {.every = 3}}});
  job.optimizer = {.learning_rate = 0.5};
  job.total_samples = 60;
  QuadraticLearner learner({.worker_count = 3});
  const TestJob::Result result = job.run_ideal(learner);
  CHECK(result.updates == 2);
  CHECK(result.applied_samples == 60);
  CHECK(learner.x()[0] == doctest::Approx(4.0 - (4.0 + 4.0 + 2.0) / 3.0));
  const auto applied = result.recording.all<Apply>();
  REQUIRE(applied.size() == 6);
  std::vector<std::uint64_t> staleness;
  for (const auto& [time, apply] : applied) staleness.push_back(apply.gradients.at(0).staleness);
  CHECK(staleness == std::vector<std::uint64_t>{0, 0, 0, 1, 1, 0});
}

TEST_CASE("what a stale gradient counts follows the rule") {
  // Two equal workers under ASP: staleness 0, then 1 for ever. 1/t: 1; (1 + 1)^-½; beyond a limit of 0:
  // nothing.
  const auto weights = [](StalenessWeight rule) {
    std::vector<double> found;
    for (const auto& [time, apply] :
         job_of({{}, {}}, {.policy = "asp", .staleness_weight = rule}).run_ideal().recording.all<Apply>())
      found.push_back(apply.gradients.at(0).weight);
    return std::vector(found.begin(), found.begin() + 3);
  };
  CHECK(weights({}) == std::vector{1.0, 1.0, 1.0});
  CHECK(weights({.rule = StalenessRule::inverse}) == std::vector{1.0, 1.0, 1.0});
  CHECK(weights({.rule = StalenessRule::power, .exponent = 0.5}) ==
        std::vector{1.0, std::sqrt(0.5), std::sqrt(0.5)});
  CHECK(weights({.rule = StalenessRule::cut_off, .limit = 0}) == std::vector{1.0, 0.0, 0.0});
  CHECK(StalenessWeight{.rule = StalenessRule::inverse}.of(4) == 0.25);
}

TEST_CASE("a synchronous round takes the longest local training and one all-reduce") {
  // max_i(H_i · t_i) + 2 (k − 1) (L + (S/k) / B) = max(20·10, 10·20, 5·40, 20·10) + 2·3·(1 + 250/100) = 221 s
  TestJob job;
  job.workers = {{1, 1.0}, {1, 0.5}, {1, 0.25}, {1, 1.0}};
  job.network = {BytesPerSecond{100.0}, Seconds{1.0}, BytesPerSecond{100.0}};
  job.phases = {{.transport = Transport::ring, .local = LocalTraining{.steps = 20, .by_speed = true}}};
  job.total_samples = 3 * 10 * (20 + 10 + 5 + 20);
  const std::vector<double> times = times_of_updates(job.run_ideal());
  REQUIRE(times.size() == 3);
  for (std::size_t i = 0; i < times.size(); ++i)
    CHECK(std::abs(times[i] / (221.0 * static_cast<double>(i + 1)) - 1.0) < 1e-9);
}

TEST_CASE("asynchronous workers come in the order of their own clocks") {
  // Workers at 0.58, 0.75, 1.51 and 3.33 s a step, H = 20, free network: worker i arrives at 20 t_i, 40 t_i,
  // ...
  const std::vector<double> seconds{0.58, 0.75, 1.51, 3.33};
  std::vector<std::pair<double, std::uint64_t>> by_hand;
  for (std::uint64_t w = 0; w < seconds.size(); ++w)
    for (int k = 1; k <= 20; ++k) by_hand.emplace_back(20.0 * seconds[w] * k, w);
  std::ranges::sort(by_hand);
  TestJob job = job_of({}, {.policy = "asp", .local = LocalTraining{.steps = 20}});
  for (const double each : seconds) job.workers.push_back({1, 10.0 / each});
  job.total_samples = 10 * 20 * 24;
  const auto applied = job.run_ideal().recording.all<Apply>();
  REQUIRE(applied.size() >= 20);
  for (std::size_t i = 0; i < 20; ++i) {
    CHECK(applied[i].first.value() == doctest::Approx(by_hand[i].first));
    CHECK(applied[i].second.gradients.at(0).worker.value == by_hand[i].second);
  }
}

TEST_CASE("a grace window takes in those that come shortly after the first, and lets them go on together") {
  // Workers at 0.58, 0.75, 1.51 and 3.33 s a step, H = 20, free network: a stretch takes 11.6, 15, 30.2 and
  // 66.6 s. Whoever arrives at t while no window is open goes on at t + 0.5 s, with those that came by then.
  // By hand: 0 begins at 0, 12.1, 24.2, …; 2 arrives at 30.2, and 1, which began at 15.5, at 30.5: both go
  // on at 30.7. So 1 comes at 45.7 and, from 46.2, at 61.2, within the window that 2 opens at 60.9; and once
  // more at 91.9 within that of 91.6.
  const std::vector<std::pair<double, std::uint64_t>> by_hand{
      {11.6, 0}, {15.0, 1}, {23.7, 0}, {30.2, 2}, {30.5, 1},  {35.8, 0}, {45.7, 1},
      {47.9, 0}, {60.0, 0}, {60.9, 2}, {61.2, 1}, {66.6, 3},  {72.1, 0}, {76.4, 1},
      {84.2, 0}, {91.6, 2}, {91.9, 1}, {96.3, 0}, {107.1, 1}, {108.4, 0}};
  TestJob job = job_of({}, {.policy = {"asp", {{"window", 0.5}}}, .local = LocalTraining{.steps = 20}});
  for (const double each : {0.58, 0.75, 1.51, 3.33}) job.workers.push_back({1, 10.0 / each});
  job.total_samples = 10 * 20 * 24;
  const TestJob::Result result = job.run_ideal();
  const auto applied = result.recording.all<Apply>();
  REQUIRE(applied.size() >= by_hand.size());
  for (std::size_t i = 0; i < by_hand.size(); ++i) {
    CHECK(applied[i].first.value() == doctest::Approx(by_hand[i].first));
    CHECK(applied[i].second.gradients.at(0).worker.value == by_hand[i].second);
  }
  // Worker 1 pulled at 15.5, after two updates, and is the fifth; 2 had begun before any, and is the fourth.
  CHECK(applied[3].second.gradients.at(0).staleness == 3);
  CHECK(applied[4].second.gradients.at(0).staleness == 2);
  // Both go on with all five: 2 arrives as the tenth, 1 as the seventh.
  CHECK(applied[6].second.gradients.at(0).staleness == 1);
  CHECK(applied[9].second.gradients.at(0).staleness == 4);
  // They wait for the window to close, and for nothing else: at the end of it, not before.
  const auto starts = result.recording.all<StartIteration>();
  const auto second_of_three = std::ranges::find_if(starts, [](const auto& start) {
    return start.second.worker == WorkerId{3} && start.first.value() > 0.0;
  });
  REQUIRE(second_of_three != starts.end());
  CHECK(second_of_three->first.value() == doctest::Approx(67.1));
}

TEST_CASE("a delayed velocity of one difference is Nesterov's, and of several moves with the last of them") {
  // One worker, η = ½, H = 1: d = x₀/2. β = ½, γ = ½, N = 2, c = ¼, from x₀ = 8:
  // d = 4: k = ¼ of a velocity of 0: x = 8 − ½ · 2 = 7.
  // d = 3.5: v = ½ (4 + 3.5) = 3.75, k = 1 − ½ + ¼ = ¾: x = 7 − ½ (¾ · ½ · 3.75 + 1.75) = 5.421875
  // d = 2.7109375: k = ¼: x = 5.421875 − ½ (¼ · ½ · 3.75 + 1.35546875) = 4.509765625
  const auto x_after = [](OuterOptimizer outer, std::int64_t updates) {
    TestJob job = job_of({{}}, {.policy = "asp", .local = LocalTraining{.outer = outer}});
    job.optimizer = {.learning_rate = 0.5};
    job.total_samples = 10 * updates;
    QuadraticLearner learner({.worker_count = 1});
    CHECK(job.run_ideal(learner).updates == static_cast<std::uint64_t>(updates));
    return learner.x()[0];
  };
  OuterOptimizer outer{.learning_rate = 0.5, .momentum = 0.5, .nesterov = true};
  outer.momentum_every = 2;
  outer.momentum_between = 0.25;
  CHECK(x_after(outer, 1) == 7.0F);
  CHECK(x_after(outer, 2) == 5.421875F);
  CHECK(x_after(outer, 3) == 4.509765625F);
  // N = 1, whatever c: v ← β v + d; x ← x − γ (β v + d).
  std::vector<float> x{8.0F};
  std::vector<float> v{0.0F};
  std::vector<float> collected{0.0F};
  std::vector<float> nesterov = x;
  std::vector<float> velocity = v;
  for (const float d : {4.0F, -1.0F, 2.0F}) {
    delayed_nesterov_step(x, v, collected, std::vector{d}, {0.5, 0.5}, {1.0, 0.25, true});
    sgd_step(nesterov, velocity, std::vector{d}, {0.5, 0.5}, true);
    CHECK(x == nesterov);
  }
}

TEST_CASE("by the rate, workers train the longer alone the smaller it is") {
  // (0.2 / 0.05)² = 16; at a rate of 0.2 it is 1, and never less than `steps`; at 0 all that is left.
  const double nobody[] = {1.0};
  CHECK(local_steps({.steps = 4, .growth = 0.2}, 0.05, 1.0, nobody, 1000.0) == 16);
  CHECK(local_steps({.steps = 4, .growth = 0.2}, 0.2, 1.0, nobody, 1000.0) == 4);
  CHECK(local_steps({.steps = 4, .growth = 0.2}, 0.0, 1.0, nobody, 1000.0) == 1000);
  CHECK(local_steps({.steps = 4, .growth = 0.2}, 0.05, 1.0, nobody, 2.0) == 4);
}

TEST_CASE("by the rate, the last stretch ends with the work however small the rate has become") {
  // Two workers, 1,000 steps each: η from 0.1 along half a cosine to 0. (0.1/η)² has no bound; the last
  // stretch is what is left.
  for (const char* policy : {"bsp", "asp"}) {
    TestJob job = job_of({{}, {}}, {.policy = policy, .local = LocalTraining{.steps = 4, .growth = 0.1}});
    job.optimizer = {.learning_rate = 0.1};
    job.optimizer.schedule = {
        .basis = ScheduleBasis::progress, .shape = ScheduleShape::cosine, .milestones = {}, .end = 1.0};
    job.total_samples = 20'000;
    const TestJob::Result result = job.run_ideal();
    CHECK(result.applied_samples >= 20'000);
    // Two workers that come alone each take half of what both have left.
    CHECK(result.applied_samples <= (std::string_view(policy) == "bsp" ? 20'000 : 25'000));
    const auto starts = result.recording.all<StartIteration>();
    CHECK(starts.front().second.local->count == 4);
    CHECK(std::ranges::any_of(starts, [](const auto& start) { return start.second.local->count > 100; }));
  }
}

TEST_CASE("by the rate, a warm-up that begins at nothing does not make the first stretch endless") {
  // (0.2 / 0.05)² = 16 from the first stretch on.
  TestJob job = job_of({{}, {}}, {.local = LocalTraining{.steps = 4, .growth = 0.2}});
  job.optimizer.schedule.warmup = 1.0;
  const auto result = job.run_ideal();
  const auto starts = result.recording.all<StartIteration>();
  REQUIRE_FALSE(starts.empty());
  CHECK(starts.front().second.local->count == 16);
}

TEST_CASE("by speed, a whole share of the steps is not lost to rounding") {
  // 49 · (1/49) is below 1 in binary: 49 steps of the fastest are one of a worker 49 times as slow, not none.
  const double seconds[] = {1.0 / 49.0, 1.0};
  CHECK(local_steps({.steps = 49, .by_speed = true, .least = 0}, 0.1, 1.0, seconds, 1e9) == 1);
  CHECK(local_steps({.steps = 49, .by_speed = true, .least = 0}, 0.1, 1.0 / 49.0, seconds, 1e9) == 49);
}

namespace {

// Steps and rate of each stretch, with the time at which it begins.
struct Stretch {
  double begins;
  std::uint64_t worker;
  std::int64_t steps;
  double rate;

  bool operator==(const Stretch&) const = default;
};

// Workers that take 10 and 25 s for a step of 10 samples, alone, two steps at a time, 140 samples. By hand,
// with the samples applied before: 0 begins at 0 (0), 20 (20), 40 (40), 60 (80: 1 came at 50) and 80 (100); 1
// at 0 (0) and 50 (60). These 7 stretches are 140 samples.
TestJob two_alone(LocalTraining local) {
  TestJob job = job_of({{1, 1.0}, {1, 0.4}}, {.policy = "asp", .local = local});
  job.optimizer = {.learning_rate = 0.5};
  job.total_samples = 140;
  return job;
}

std::vector<Stretch> stretches_of(const TestJob& job) {
  std::vector<Stretch> all;
  for (const auto& [time, start] : job.run_ideal().recording.all<StartIteration>())
    all.push_back({time.value(), start.worker.value, start.local->count, start.local->inner.learning_rate});
  return all;
}

}  // namespace

TEST_CASE("workers that come alone read the schedule where all of them together are as they begin") {
  // A drop after 40 samples: half an epoch of 80, 2/7 of 140, or two updates of 20. Worker 1 began before it
  // and keeps its rate until 50 s, though 0 passes it at 40 s.
  const std::vector<Stretch> by_hand{{0.0, 0, 2, 0.5},   {0.0, 1, 2, 0.5},   {20.0, 0, 2, 0.5},
                                     {40.0, 0, 2, 0.25}, {50.0, 1, 2, 0.25}, {60.0, 0, 2, 0.25},
                                     {80.0, 0, 2, 0.25}};
  TestJob job = two_alone({.steps = 2});
  job.dataset_samples = 80;
  for (const auto& [basis, milestone] :
       {std::pair(ScheduleBasis::epoch, 0.5), std::pair(ScheduleBasis::progress, 2.0 / 7.0),
        std::pair(ScheduleBasis::step, 2.0)}) {
    job.optimizer.schedule = {.basis = basis, .milestones = {milestone}, .factor = 0.5};
    CHECK(stretches_of(job) == by_hand);
  }
}

TEST_CASE("workers that come alone follow a cosine by what all together have had applied") {
  // η (1 + cos(π p))/2 at p = 0, 1/7, 2/7, … of 140 samples: 0, 0, 20, 40, 60, 80 and 100 applied.
  TestJob job = two_alone({.steps = 2});
  job.optimizer.schedule = {
      .basis = ScheduleBasis::progress, .shape = ScheduleShape::cosine, .milestones = {}, .end = 1.0};
  const std::vector<Stretch> stretches = stretches_of(job);
  REQUIRE(stretches.size() == 7);
  const double sevenths[] = {0.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0};
  for (std::size_t i = 0; i < 7; ++i)
    CHECK(stretches[i].rate ==
          doctest::Approx(0.25 * (1.0 + std::cos(std::numbers::pi * sevenths[i] / 7.0))));
}

TEST_CASE("by the rate, a worker that comes alone takes more steps from its first stretch after a drop on") {
  // (0.5/0.5)² = 1, so 2; after the drop by half at 40 samples (0.5/0.25)² = 4. 0 begins at 40 s, 1 at 50 s
  // (60 applied), where half of the 80 samples that are left is 4 steps.
  TestJob job = two_alone({.steps = 2, .growth = 0.5});
  job.optimizer.schedule = {.basis = ScheduleBasis::progress, .milestones = {2.0 / 7.0}, .factor = 0.5};
  CHECK(stretches_of(job) ==
        std::vector<Stretch>{
            {0.0, 0, 2, 0.5}, {0.0, 1, 2, 0.5}, {20.0, 0, 2, 0.5}, {40.0, 0, 4, 0.25}, {50.0, 1, 4, 0.25}});
}

TEST_CASE("after a synchronous phase, workers that come alone go on in the schedule where it ended") {
  // Two updates of 20 samples, 25 s each, then alone with the rate of the drop at the second. 0 begins at
  // 50 s, 70, 90, 110 (100 + 20: 1 came at 100), 1 at 50, 100 (100).
  TestJob job = two_alone({.steps = 2});
  job.total_samples = 160;
  job.phases.insert(job.phases.begin(), PhaseConfig{.length = UpdateCount{2}});
  job.optimizer.schedule = {.basis = ScheduleBasis::step, .milestones = {2.0, 5.0}, .factor = 0.5};
  const auto starts = job.run_ideal().recording.all<StartIteration>();
  std::vector<Stretch> alone;
  for (const auto& [time, start] : starts)
    if (start.local)
      alone.push_back(
          {time.value(), start.worker.value, start.local->count, start.local->inner.learning_rate});
  // Steps applied before each: 2, 2, 3, 4, 5 (1 came at 100), 6.
  CHECK(alone == std::vector<Stretch>{{50.0, 0, 2, 0.25},
                                      {50.0, 1, 2, 0.25},
                                      {70.0, 0, 2, 0.25},
                                      {90.0, 0, 2, 0.25},
                                      {100.0, 1, 2, 0.125},
                                      {110.0, 0, 2, 0.125}});
}

TEST_CASE("a stretch of local steps is one event, and takes as long as its steps one by one") {
  // With jitter each step draws the factor that it would draw in BSP: one worker takes as long for 20
  // stretches of 50 as for
  // 1,000 steps.
  for (const double cv : {0.0, 0.3}) {
    TestJob stretches = job_of({{}}, {.local = LocalTraining{.steps = 50}});
    stretches.total_samples = 10'000;
    stretches.jitter.iteration_cv = cv;
    TestJob steps = stretches;
    steps.phases = {PhaseConfig{}};
    const TestJob::Result rare = stretches.run_ideal();
    CHECK(rare.end.value() == doctest::Approx(steps.run_ideal().end.value()));
    CHECK(rare.recording.all<StartIteration>().size() == 20);
    CHECK(rare.applied_samples == 10'000);
  }
}

namespace {

// Equal workers on a ring; inner momentum, an outer step with a velocity of its own.
TestJob streaming_job(std::int64_t steps, std::optional<Streaming> fragments) {
  LocalTraining local{.steps = steps, .outer = {.learning_rate = 0.7, .momentum = 0.9, .nesterov = true}};
  local.fragments = fragments;
  TestJob job = job_of({{}, {}, {}, {}}, {.transport = Transport::ring, .local = local});
  job.total_samples = 40 * steps * static_cast<std::int64_t>(steps_compared);
  return job;
}

}  // namespace

TEST_CASE("one fragment without delay or mixing is the exchange of all parameters at once") {
  check_same(trajectory(streaming_job(4, Streaming{})), trajectory(streaming_job(4, std::nullopt)));
}

TEST_CASE("fragments change in turn, each along its own difference") {
  // η = ½ without momentum, 2 steps, 2 fragments: x₀, then x₁. On (8, 4) one step leads each worker to
  // (4, 0), d₀ = 4, γ = ½: x₀ = 6. Workers go on from (6, 0): a step leads to (3, 0); d₁ = 4 - 0: x₁ = 2.
  // From (3, 2): (1.5, 0); d₀ = 6 - 1.5: x₀ = 3.75.
  TestJob job = job_of(
      {{}, {}}, {.transport = Transport::ring,
                 .local = LocalTraining{
                     .steps = 2, .outer = {.learning_rate = 0.5}, .fragments = Streaming{.count = 2}}});
  job.optimizer = {.learning_rate = 0.5};
  job.total_samples = 60;
  QuadraticLearner learner({.worker_count = 2});
  CHECK(job.run_ideal(learner).applied_samples == 60);
  CHECK(learner.x()[0] == doctest::Approx(3.75));
  CHECK(learner.x()[1] == doctest::Approx(2.0));
}

TEST_CASE("workers that keep all of their own never merge, and half of it is the mean of both") {
  // One step, then an exchange: with α = 1 a worker goes where it would have gone alone, with η = ½ from
  // (8, 4) by (4, 0) and (2, 0) to (1, 0), whatever becomes of x. With α = ½ it goes on from between.
  const auto own_after = [](double mixing, std::int64_t exchanges) {
    TestJob job = job_of({{}, {}}, {.transport = Transport::ring,
                                    .local = LocalTraining{.outer = {.learning_rate = 0.5},
                                                           .fragments = Streaming{.mixing = mixing}}});
    job.optimizer = {.learning_rate = 0.5};
    job.total_samples = 20 * exchanges;
    QuadraticLearner learner({.worker_count = 2});
    static_cast<void>(job.run_ideal(learner));
    return learner.x_of(WorkerId{1})[0];
  };
  CHECK(own_after(1.0, 3) == doctest::Approx(1.0));
  // x: 8 → 8 - ½ (8 - 4) = 6, own 4: it goes on from 5, to 2.5.
  CHECK(own_after(0.5, 2) == doctest::Approx(2.5));
}

TEST_CASE("streaming hides an exchange exactly when it takes no longer than the delayed steps") {
  // k = 4, F = 2, L = 1 s, S = 1000 B: an exchange takes 2·3·(1 + ⌈1000/8⌉/B); a step 10 s, τ = 3: hidden
  // up to 30 s, B ≥ 125/4. Between two updates: 8/2 steps of 10 s, and what the exchange takes longer.
  for (const double bandwidth : {1000.0, 125.0 / 4.0, 125.0 / 4.5, 10.0}) {
    TestJob job = streaming_job(8, Streaming{.count = 2, .delay = 3});
    job.network = {BytesPerSecond{bandwidth}, Seconds{1.0}, BytesPerSecond{bandwidth}};
    const double exchange = 6.0 * (1.0 + 125.0 / bandwidth);
    const std::vector<double> times = times_of_updates(job.run_ideal());
    REQUIRE(times.size() > 10);
    for (std::size_t i = 1; i < times.size(); ++i)
      CHECK(times[i] - times[i - 1] == doctest::Approx(40.0 + std::max(0.0, exchange - 30.0)).epsilon(1e-9));
  }
}

TEST_CASE("processors pay for the part of an exchange that is sent, message by message") {
  // Four workers on a ring: each sends and receives 2·3 times, ½ s a message, and of every part of S = 1000 B
  // twice 3/4 each way, at 100 B/s: 12 · ½ + 4 · ¾ · 1000 / F / 100 s, before 8 / F steps of 10 s.
  for (const std::int64_t fragments : {1, 2, 4}) {
    TestJob job = streaming_job(8, Streaming{.count = fragments});
    job.costs.communication = {.per_message = Seconds{0.5}, .rate = BytesPerSecond{100.0}};
    const std::vector<double> times = times_of_updates(job.run_ideal());
    const auto parts = static_cast<double>(fragments);
    REQUIRE(times.size() > 10);
    for (std::size_t i = 1; i < times.size(); ++i)
      CHECK(times[i] - times[i - 1] == doctest::Approx(80.0 / parts + 6.0 + 30.0 / parts));
  }
}

TEST_CASE("an exchange does not wait for the further steps of a worker that leaves") {
  // Two steps, then two more while the difference travels. Worker 1 is ten times slower: its difference is
  // ready after 200 s, its further steps would last until 400. It leaves at 300 s: the update is made then.
  TestJob job = streaming_job(4, Streaming{.count = 1, .delay = 2});
  job.workers = {{}, {1, 0.1}};
  job.total_samples = 400;
  job.heterogeneity.membership = {{Seconds{300.0}, 1, MembershipEvent::leaves}};
  const TestJob::Result result = job.run_ideal();
  CHECK_FALSE(result.stalled);
  const std::vector<double> times = times_of_updates(result);
  REQUIRE(times.size() > 1);
  CHECK(times[0] == 300.0);
  CHECK(times[1] == 340.0);
}

TEST_CASE("steps taken while a difference travels count once, also when workers leave and join") {
  // Speeds differ, one worker leaves in the middle and comes back: every sample handed out is applied or
  // given back, and the job ends with all of them.
  TestJob job = streaming_job(8, Streaming{.count = 2, .delay = 2});
  job.workers = {{1, 1.0}, {1, 0.5}, {1, 1.0}, {1, 0.8}};
  job.heterogeneity.membership = {{Seconds{333.0}, 2, MembershipEvent::leaves},
                                  {Seconds{777.0}, 2, MembershipEvent::joins}};
  job.total_samples = 4000;
  QuadraticLearner learner({.worker_count = 4});
  const TestJob::Result result = job.run_ideal(learner);
  CHECK(!result.stalled);
  CHECK(result.applied_samples >= 4000);
  CHECK(result.applied_samples < 4000 + 4 * 40);
  std::int64_t steps = 0;
  for (const auto& [time, start] : result.recording.all<StartIteration>()) steps += start.local->count;
  for (const auto& [time, more] : result.recording.all<TrainOn>()) steps += more.local.count;
  const auto discarded = static_cast<std::int64_t>(result.recording.all<Discard>().size());
  // A gradient that was called off had taken 2 steps, or all 4.
  CHECK(10 * steps >= result.applied_samples);
  CHECK(10 * steps <= result.applied_samples + discarded * 40);
}

TEST_CASE("differences sent as half-precision numbers take half of the bytes, and are rounded") {
  // Between 2^e and 2^(e+1) steps of 2^(e-10): 1 + 2^-11 is halfway and goes to the even 1; below 2^-14
  // steps of 2^-24; beyond 65504 infinite.
  CHECK(rounded_to_half(1.0F + 0x1p-11F) == 1.0F);
  CHECK(rounded_to_half(1.0F + 0x1.8p-10F) == 1.0F + 0x1p-9F);
  CHECK(rounded_to_half(-0.1F) == -0x1.998p-4F);
  CHECK(rounded_to_half(0x1.8p-24F) == 0x1p-23F);
  CHECK(std::isinf(rounded_to_half(65520.0F)));
  // Each alone on its link, S = 1000 B at 100 B/s after a step of 10 s: 10 + 10 s, or 10 + 5 s.
  const auto end_of = [](NumberType sent_as) {
    TestJob job = job_of({{}, {}}, {.local = LocalTraining{.sent_as = sent_as}});
    job.network = {BytesPerSecond{100.0}, Seconds{0.0}, BytesPerSecond{100.0}};
    job.total_samples = 20;
    return times_of_updates(job.run_ideal()).front();
  };
  CHECK(end_of(NumberType::fp32) == doctest::Approx(20.0));
  CHECK(end_of(NumberType::fp16) == doctest::Approx(15.0));
}
