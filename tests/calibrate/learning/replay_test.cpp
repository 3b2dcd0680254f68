#include "calibrate/learning/replay.hpp"

#include <cmath>
#include <vector>

#include <doctest/doctest.h>

#include "calibrate/learning/recorded_policy.hpp"

using namespace paceline;

namespace {

TrainingPlan plan_of(std::vector<PlanPhase> phases, std::uint32_t workers = 8) {
  TrainingPlan plan;
  plan.workers = workers;
  plan.momentum = 0.9;
  plan.phases = std::move(phases);
  return plan;
}

// Remembers what it saw.
struct Probe final : LearningForm {
  std::vector<double> rates;
  std::vector<double> staleness;
  double samples = 0.0;
  void advance(const SeenUpdate& update) override {
    rates.push_back(update.learning_rate);
    for (const SeenGradient& gradient : update.gradients) {
      staleness.push_back(gradient.staleness);
      samples += gradient.samples;
    }
  }
  [[nodiscard]] FormReading read() const override { return {samples, 0.0, 0.0}; }
};

}  // namespace

TEST_CASE("steps that asynchronous workers finish after their phase are its own, not synchronous ones") {
  TrainingPlan plan;
  plan.workers = 8;
  plan.phases = {{false, 32000.0}, {true, 32000.0}};
  // Recorded at such ends: steps 32,013 to 32,026, with the accuracy of the asynchronous phase.
  CHECK(plan.minibatches_at_step(32000.0) == 32000.0);
  CHECK(plan.minibatches_at_step(32013.0) == 32000.0);
  CHECK(plan.minibatches_at_step(32026.0) == 32000.0);
  CHECK(plan.minibatches_at_step(32250.0) == 34000.0);
}

TEST_CASE("a hybrid's steps count one for a synchronous and one for an asynchronous update") {
  // 5 % of 64,000 mini-batches with 8 workers: 400 synchronous steps, then 60,800 asynchronous ones
  const TrainingPlan plan = plan_of({{true, 3200.0}, {false, 60800.0}});
  CHECK(plan.minibatches_at_step(400.0) == 3200.0);
  CHECK(plan.minibatches_at_step(1400.0) == 3200.0 + 1000.0);
  CHECK(plan.step_at_minibatches(64000.0) == 61200.0);
  CHECK(plan.step_at_minibatches(1600.0) == 200.0);
}

TEST_CASE("policy names give phases") {
  const std::vector<PlanPhase> hybrid = policy_of_name("bsp12.5-asp87.5-baseline")->phases;
  REQUIRE(hybrid.size() == 2);
  CHECK(hybrid[0].synchronous);
  CHECK(hybrid[0].minibatches == 0.125);
  CHECK_FALSE(hybrid[1].synchronous);
  CHECK(hybrid[1].minibatches == 0.875);
  // A last phase without a number has what is left.
  CHECK(policy_of_name("bsp12.5-asp")->phases.at(1).minibatches == 0.875);
  const std::optional<RecordedPolicy> delayed = policy_of_name("asp-30ms-2stragglers");
  REQUIRE(delayed.has_value());
  CHECK(delayed->phases.size() == 1);
  CHECK(delayed->delayed_workers == 2);
  CHECK(*delayed->added_latency_s == doctest::Approx(0.03));
  CHECK(policy_of_name("bsp-no-straggler")->delayed_workers == 0);
  CHECK_FALSE(policy_of_name("asp")->added_latency_s.has_value());
}

TEST_CASE("a name that does not say what was done gives nothing") {
  // Shares that do not sum to all of the job; another protocol; a reaction; another momentum.
  for (const char* name : {"bsp50-asp40", "ssp", "bsp05-asp95-greedy", "bsp05-asp95-momentum0", "elastic"}) {
    CAPTURE(name);
    CHECK_FALSE(policy_of_name(name).has_value());
  }
}

TEST_CASE("the replay uses every sample once, at the rate of its phase and place") {
  TrainingPlan plan = plan_of({{true, 800.0}, {false, 800.0}});
  plan.drops_minibatches = {400.0, 1200.0};
  Probe probe;
  const std::vector<double> end{1600.0};
  static_cast<void>(UpdateTrace(plan, {1, 0}).run(probe, end));
  CHECK(probe.samples == 1600.0 * 128.0);
  REQUIRE(probe.rates.size() == 100 + 800);
  // rate = 0.1 · gradients combined · 0.1^drops
  CHECK(probe.rates[49] == doctest::Approx(0.8));
  CHECK(probe.rates[50] == doctest::Approx(0.08));
  CHECK(probe.rates[100] == doctest::Approx(0.01));
  CHECK(probe.rates[499] == doctest::Approx(0.01));
  CHECK(probe.rates[500] == doctest::Approx(0.001));
}

TEST_CASE(
    "a round of local steps is so many updates of all workers, at the rate of one, ever further apart") {
  // 8 workers, 3 steps: rounds of 24 mini-batches, of which 60 take three, each at the rate of its start.
  struct Steps final : LearningForm {
    std::vector<double> local_steps;
    std::vector<double> rates;
    double samples = 0.0;
    void advance(const SeenUpdate& update) override {
      local_steps.push_back(update.gradients.front().local_steps);
      rates.push_back(update.learning_rate);
      samples += samples_of(update);
    }
    [[nodiscard]] FormReading read() const override { return {}; }
  };
  TrainingPlan plan = plan_of({{true, 60.0, 3}});
  plan.drops_minibatches = {30.0};
  Steps seen;
  const std::vector<double> end{1000.0};
  static_cast<void>(UpdateTrace(plan, {1, 0}).run(seen, end));
  CHECK(seen.local_steps == std::vector<double>{0, 1, 2, 0, 1, 2, 0, 1, 2});
  CHECK(seen.samples == 72.0 * 128.0);
  CHECK(seen.rates[5] == doctest::Approx(0.1));
  CHECK(seen.rates[6] == doctest::Approx(0.01));
  CHECK(plan.minibatches_at_step(2.0) == 48.0);
  CHECK(UpdateTrace(plan, {1, 0}).mean_staleness() == 0.0);
}

TEST_CASE("asynchronous staleness is on average the other workers, synchronous staleness is none") {
  // Each worker reads again when its own update is applied: mean = W - 1, up to the start, where all read
  // version 0.
  const UpdateTrace asynchronous(plan_of({{false, 40000.0}}), {1, 0});
  CHECK(asynchronous.mean_staleness() == doctest::Approx(7.0).epsilon(1e-3));
  const UpdateTrace synchronous(plan_of({{true, 40000.0}}), {1, 0});
  CHECK(synchronous.mean_staleness() == 0.0);
}

TEST_CASE(
    "while the chief writes a checkpoint the others' updates are one less stale, its own are not more "
    "stale") {
  // It reads after its pause. Every 2,000 mini-batches seven workers go on for 70 iterations of theirs, 490
  // mini-batches at staleness 6; the other 1,510 have 7: on average 7 - 490/2000.
  TrainingPlan plan = plan_of({{false, 40000.0}});
  plan.chief_pauses = {2000.0, 70.0};
  const UpdateTrace paused(plan, {1, 0});
  CHECK(paused.mean_staleness() == doctest::Approx(7.0 - 490.0 / 2000.0).epsilon(5e-3));
  CHECK(paused.updates() == 40000);
  CHECK(paused.largest_staleness() < 20.0);
}

TEST_CASE("a checkpoint of the synchronous phase is not made up for when the asynchronous one begins") {
  // The first after 8,000 synchronous mini-batches comes at 10,000: until then the staleness is that without
  // pauses.
  TrainingPlan plan = plan_of({{true, 8000.0}, {false, 1900.0}});
  const double without = UpdateTrace(plan, {1, 0}).mean_staleness();
  plan.chief_pauses = {2000.0, 70.0};
  CHECK(UpdateTrace(plan, {1, 0}).mean_staleness() == without);
  plan.phases.back().minibatches = 2600.0;
  CHECK(UpdateTrace(plan, {1, 0}).mean_staleness() <
        UpdateTrace(plan_of({{true, 8000.0}, {false, 2600.0}}), {1, 0}).mean_staleness());
}

TEST_CASE("pauses of the chief leave synchronous updates as they are") {
  TrainingPlan plan = plan_of({{true, 4000.0}});
  plan.chief_pauses = {2000.0, 70.0};
  CHECK(UpdateTrace(plan, {1, 0}).mean_staleness() == 0.0);
  CHECK(UpdateTrace(plan, {1, 0}).updates() == 500);
}

TEST_CASE("a replay without pauses has the staleness of one whose pauses take no time") {
  TrainingPlan plan = plan_of({{true, 800.0}, {false, 4000.0}});
  const UpdateTrace without(plan, {1, 0});
  plan.chief_pauses = {100.0, 0.0};
  Probe a;
  Probe b;
  const std::vector<double> end{4800.0};
  static_cast<void>(without.run(a, end));
  static_cast<void>(UpdateTrace(plan, {1, 0}).run(b, end));
  CHECK(a.staleness == b.staleness);
}

TEST_CASE("readings are taken after the update that reaches their position") {
  const TrainingPlan plan = plan_of({{true, 80.0}});
  Probe probe;
  const std::vector<double> positions{0.0, 8.0, 12.0, 1000.0};
  const std::vector<FormReading> readings = UpdateTrace(plan, {1, 0}).run(probe, positions);
  REQUIRE(readings.size() == 4);
  CHECK(readings[0].loss == 0.0);
  CHECK(readings[1].loss == 8.0 * 128.0);
  CHECK(readings[2].loss == 16.0 * 128.0);
  CHECK(readings[3].loss == 80.0 * 128.0);
}

TEST_CASE("a phase is as many whole updates as come nearest to its mini-batches") {
  // Asynchronous: 10.45 are 10, 10.55 are 11. Of 8 workers at once: 83.6 are 10 updates, 84.4 are 11.
  CHECK(UpdateTrace(plan_of({{false, 10.45}}), {1, 0}).updates() == 10);
  CHECK(UpdateTrace(plan_of({{false, 10.55}}), {1, 0}).updates() == 11);
  CHECK(UpdateTrace(plan_of({{true, 83.6}}), {1, 0}).updates() == 10);
  CHECK(UpdateTrace(plan_of({{true, 84.4}}), {1, 0}).updates() == 11);
  // What the first phase took too much the second does not do again.
  CHECK(UpdateTrace(plan_of({{true, 84.4}, {false, 15.6}}), {1, 0}).updates() == 11 + 12);
}

TEST_CASE("staleness is a mean over gradients, of which a synchronous update has as many as workers") {
  // Four synchronous updates of 8 gradients at 0, then 32 asynchronous ones: half of all gradients.
  const double asynchronous = [] {
    const UpdateTrace trace(plan_of({{false, 32.0}}), {1, 0});
    return trace.mean_staleness();
  }();
  const UpdateTrace both(plan_of({{true, 32.0}, {false, 32.0}}), {1, 0});
  CHECK(both.mean_staleness() == doctest::Approx(0.5 * asynchronous));
  CHECK(UpdateTrace(plan_of({}), {1, 0}).mean_staleness() == 0.0);
  // The first gradient of all is fresh, the eighth has seen seven others; nobody overtakes twice.
  CHECK(both.largest_staleness() >= 7.0);
  CHECK(UpdateTrace(plan_of({{false, 8.0}}), {1, 0}).largest_staleness() <= 7.0);
  CHECK(UpdateTrace(plan_of({{true, 32.0}}), {1, 0}).largest_staleness() == 0.0);
}

TEST_CASE("a form sees the batch, the weight and the momentum of every gradient") {
  struct Seen final : LearningForm {
    std::vector<std::size_t> gradients;
    std::vector<double> weights;
    double momentum = 0.0;
    void advance(const SeenUpdate& update) override {
      gradients.push_back(update.gradients.size());
      weights.push_back(update.gradients.front().weight);
      momentum = update.momentum;
    }
    [[nodiscard]] FormReading read() const override { return {}; }
  };
  Seen seen;
  const std::vector<double> end{9.0};
  static_cast<void>(UpdateTrace(plan_of({{true, 8.0}, {false, 1.0}}), {1, 0}).run(seen, end));
  CHECK(seen.gradients == std::vector<std::size_t>{8, 1});
  CHECK(seen.weights == std::vector<double>{1.0 / 8.0, 1.0});
  CHECK(seen.momentum == 0.9);
}
