// Training locally and merging rarely: times, identities with the policies it generalizes, conservation.
#include <algorithm>
#include <cmath>

#include <doctest/doctest.h>

#include "tests/training/local_job.hpp"

using namespace paceline;
using namespace paceline::test;

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

TEST_CASE("one local step, applied as it arrives, is ASP with momentum at the workers") {
  // A buffer of one, a constant rate, no staleness weight; momentum is a worker's own, or there is none.
  // ASP subtracts η v from x; here that is the difference of two copies first, each rounded: of parameters
  // that begin at 8, between which and the next float lie 2^-20. That is all that may be between the two: in
  // double precision it would be 1e-15.
  for (const double momentum : {0.0, 0.5, 0.9}) {
    TestJob local = job_of({{1, 1.0}, {1, 0.8}, {1, 0.5}}, {.policy = "asp", .local = LocalTraining{}});
    local.optimizer.momentum = momentum;
    TestJob asp = local;
    asp.phases = {{.policy = "asp"}};
    for (const bool nesterov : {false, true})
      check_same(trajectory(local, nesterov, MomentumPlace::workers),
                 trajectory(asp, nesterov, MomentumPlace::workers), 0x1p-20);
  }
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
