#include <cmath>

#include <doctest/doctest.h>

#include "sim/base/check.hpp"
#include "sim/learning/optimizer.hpp"

using namespace paceline;

namespace {

OptimizerConfig with_rate(double learning_rate) {
  OptimizerConfig optimizer;
  optimizer.learning_rate = learning_rate;
  return optimizer;
}

double at_epoch(const OptimizerConfig& optimizer, double epoch) {
  return learning_rate_at(optimizer, {.epoch = epoch});
}

// The rate of an update of `gradients` gradients with these samples in all; batches started at 32.
double combining(const OptimizerConfig& optimizer, std::size_t gradients, std::int64_t samples) {
  return learning_rate_at(optimizer,
                          {.gradients = gradients, .samples = samples, .initial_batch_samples = 32});
}

}  // namespace

TEST_CASE("without schedule and scaling the learning rate is the configured one, always") {
  const OptimizerConfig optimizer = with_rate(0.15);
  for (const double epoch : {0.0, 0.5, 1000.0}) CHECK(at_epoch(optimizer, epoch) == 0.15);
  CHECK(combining(optimizer, 8, 8 * 48) == 0.15);
}

TEST_CASE("worker scaling follows the gradients combined in the update, not their batches") {
  // n = W under BSP, 1 under ASP: rate · n, rate · √n
  OptimizerConfig optimizer = with_rate(0.25);
  optimizer.worker_scaling = RateScaling::linear;
  CHECK(combining(optimizer, 1, 32) == 0.25);
  CHECK(combining(optimizer, 8, 8 * 32) == 8 * 0.25);
  CHECK(combining(optimizer, 8, 8 * 64) == 8 * 0.25);
  optimizer.worker_scaling = RateScaling::sqrt;
  CHECK(combining(optimizer, 16, 16 * 32) == 4 * 0.25);
}

TEST_CASE("batch scaling follows the mean batch over the initial one, not the number of gradients") {
  // r = samples / (n · b₀): rate · r, rate · √r
  OptimizerConfig optimizer = with_rate(0.25);
  optimizer.batch_scaling = RateScaling::linear;
  CHECK(combining(optimizer, 1, 48) == 1.5 * 0.25);
  CHECK(combining(optimizer, 4, 4 * 32) == 0.25);          // a controller that keeps the global batch
  CHECK(combining(optimizer, 2, 16 + 32) == 0.75 * 0.25);  // unequal batches: their mean
  optimizer.batch_scaling = RateScaling::sqrt;
  CHECK(combining(optimizer, 2, 2 * 128) == 2 * 0.25);
}

TEST_CASE("each milestone passed multiplies the rate by the factor, from the milestone itself on") {
  // rate = learning_rate · factor^k, k = milestones at or before the epoch
  OptimizerConfig optimizer = with_rate(1.0);
  optimizer.schedule = {.milestones = {15.0, 30.0, 45.0}, .factor = 0.5};
  CHECK(at_epoch(optimizer, 14.999) == 1.0);
  CHECK(at_epoch(optimizer, 15.0) == 0.5);
  CHECK(at_epoch(optimizer, 30.0) == 0.25);
  CHECK(at_epoch(optimizer, 44.0) == 0.25);
  CHECK(at_epoch(optimizer, 60.0) == 0.125);
}

TEST_CASE("along a cosine the rate falls from the end of the warm-up on to the least at its end") {
  // η (f + (1 − f)(1 + cos πu)/2), u = (s − 4)/(20 − 4), f = 0.2: u = 0, ¼, ½, 1, and after it; before, s/4.
  OptimizerConfig optimizer = with_rate(1.0);
  optimizer.schedule = {
      .shape = ScheduleShape::cosine, .milestones = {}, .end = 20.0, .least = 0.2, .warmup = 4.0};
  CHECK(at_epoch(optimizer, 1.0) == 0.25);
  CHECK(at_epoch(optimizer, 4.0) == 1.0);
  CHECK(at_epoch(optimizer, 8.0) == doctest::Approx(0.2 + 0.8 * (1.0 + std::sqrt(0.5)) / 2.0));
  CHECK(at_epoch(optimizer, 12.0) == doctest::Approx(0.6));
  CHECK(at_epoch(optimizer, 20.0) == doctest::Approx(0.2));
  CHECK(at_epoch(optimizer, 1000.0) == doctest::Approx(0.2));
}

TEST_CASE("a schedule looks at its own basis only") {
  OptimizerConfig optimizer = with_rate(1.0);
  optimizer.schedule = {.basis = ScheduleBasis::progress, .milestones = {0.5}, .factor = 0.5};
  CHECK(learning_rate_at(optimizer, {.epoch = 100.0, .progress = 0.499, .step = 50000}) == 1.0);
  CHECK(learning_rate_at(optimizer, {.epoch = 0.0, .progress = 0.5, .step = 0}) == 0.5);
  optimizer.schedule = {.basis = ScheduleBasis::step, .milestones = {32000.0}, .factor = 0.5};
  CHECK(learning_rate_at(optimizer, {.epoch = 100.0, .progress = 0.9, .step = 31999}) == 1.0);
  CHECK(learning_rate_at(optimizer, {.epoch = 0.0, .progress = 0.0, .step = 32000}) == 0.5);
}

TEST_CASE("a drop at raw step 32000 falls where Sync-Switch's recorded runs had it") {
  // W = 64,000 mini-batches, N = 8 workers, BSP for the share p: k = p·W/N steps, then ASP. The raw step
  // 32,000 is the workload fraction (N·k + 32,000 − k) / W: 0.518 (2 %), 0.544 (5 %), 0.588 (10 %), 0.938 (50
  // %).
  OptimizerConfig optimizer = with_rate(1.0);
  optimizer.schedule = {.basis = ScheduleBasis::step, .milestones = {32000.0}, .factor = 0.1};
  for (const auto& [share, fraction] :
       {std::pair{0.02, 0.518}, std::pair{0.05, 0.544}, std::pair{0.10, 0.588}, std::pair{0.50, 0.938}}) {
    CAPTURE(share);
    const double k = share * 64000 / 8;
    const auto step_at = [&](double progress) {
      return static_cast<std::uint64_t>(std::llround(progress * 64000 - 8 * k + k));
    };
    CHECK(learning_rate_at(optimizer, {.step = step_at(fraction - 0.001)}) == 1.0);
    CHECK(learning_rate_at(optimizer, {.step = step_at(fraction + 0.001)}) == 0.1);
  }
}

TEST_CASE("a warm-up raises the rate linearly from 0, in the basis of the schedule") {
  // rate · min(1, s / warm-up)
  OptimizerConfig optimizer = with_rate(1.0);
  optimizer.schedule = {.basis = ScheduleBasis::step, .milestones = {}, .factor = 1.0, .warmup = 4.0};
  for (const auto& [step, rate] : {std::pair{0U, 0.0}, std::pair{1U, 0.25}, std::pair{3U, 0.75},
                                   std::pair{4U, 1.0}, std::pair{400U, 1.0}}) {
    CAPTURE(step);
    CHECK(learning_rate_at(optimizer, {.epoch = 0.5, .progress = 0.5, .step = step}) == rate);
  }
  optimizer.schedule.basis = ScheduleBasis::progress;
  optimizer.schedule.warmup = 0.5;
  CHECK(learning_rate_at(optimizer, {.progress = 0.25, .step = 9}) == 0.5);
}

TEST_CASE("scalings, schedule and warm-up multiply") {
  // 4 gradients of 48 samples instead of 32: 4 · 1.5; one drop: 0.25; half of the warm-up: 0.5
  OptimizerConfig optimizer = with_rate(1.0);
  optimizer.worker_scaling = RateScaling::linear;
  optimizer.batch_scaling = RateScaling::linear;
  optimizer.schedule = {.milestones = {1.0}, .factor = 0.25, .warmup = 4.0};
  CHECK(learning_rate_at(optimizer,
                         {.epoch = 2.0, .gradients = 4, .samples = 4 * 48, .initial_batch_samples = 32}) ==
        4 * 1.5 * 0.25 * 0.5);
}

TEST_CASE("an update without gradients is a programming error") {
  CHECK_THROWS_AS(static_cast<void>(learning_rate_at(OptimizerConfig{}, {.gradients = 0})), ProgrammingError);
}

TEST_CASE("at a switch, velocities are kept, zeroed or scaled") {
  OptimizerConfig optimizer;
  CHECK(velocity_factor_at_switch(optimizer) == 1.0);
  optimizer.velocity_at_switch = VelocityAtSwitch::zero;
  CHECK(velocity_factor_at_switch(optimizer) == 0.0);
  optimizer.velocity_at_switch = VelocityAtSwitch::scale;
  optimizer.velocity_scale = 0.125;
  CHECK(velocity_factor_at_switch(optimizer) == 0.125);
}
