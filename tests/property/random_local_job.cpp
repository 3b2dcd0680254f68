#include <algorithm>
#include <cmath>
#include <variant>

#include "sim/base/random.hpp"
#include "tests/property/random_job.hpp"

namespace paceline::test {
namespace {

class LocalDice {
 public:
  LocalDice(std::uint32_t seed, std::uint32_t index) : stream_(Seed{seed, 1}, Purpose::test, 0, index) {}
  bool chance(double probability) { return stream_.uniform() < probability; }
  std::int64_t whole(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(stream_.below(static_cast<std::uint64_t>(high - low + 1)));
  }
  double real(double low, double high) { return low + (high - low) * stream_.uniform(); }

 private:
  RandomStream stream_;
};

OuterOptimizer draw_outer_optimizer(LocalDice& dice, bool is_alone) {
  OuterOptimizer outer{.learning_rate = dice.real(0.3, 1.0)};
  if (dice.chance(0.5)) outer.momentum = 0.9;
  outer.nesterov = outer.momentum > 0.0 && dice.chance(0.5);
  if (is_alone && dice.chance(0.4)) outer.every = dice.whole(1, 4);
  if (is_alone && outer.every == 1 && outer.nesterov && dice.chance(0.5))
    outer.momentum_every = dice.whole(1, 4);
  return outer;
}

LocalTraining draw_long_local_training(LocalDice& dice, const PhaseConfig& phase, double learning_rate,
                                       std::size_t servers) {
  LocalTraining local{.steps = dice.chance(0.2) ? dice.whole(100, 500) : dice.whole(2, 60)};
  const bool is_alone = phase.policy->waits_for == WaitsFor::nobody && servers == 1;
  local.outer = draw_outer_optimizer(dice, is_alone);
  if (phase.transport != Transport::server && dice.chance(0.4)) {
    local.fragments = Streaming{.count = dice.whole(1, 3), .delay = dice.whole(0, local.steps - 1)};
    local.steps *= local.fragments->count;
  } else if (dice.chance(0.4)) {
    local.by_speed = true;
    local.least = dice.whole(1, 3);
  } else if (dice.chance(0.5)) {
    // From twice the steps on, and four times as many after each drop of the rate by half.
    local.growth = learning_rate * std::sqrt(2.0 * static_cast<double>(local.steps));
  }
  if (dice.chance(0.3)) local.sent_as = NumberType::fp16;
  return local;
}

}  // namespace

RandomJob random_local_job(std::uint32_t seed, std::uint32_t index) {
  RandomJob random = random_job(seed, index);
  TestJob& job = random.job;
  LocalDice dice(seed, index);
  job.jitter = {
      .run_cv = 0.05, .worker_cv = 0.1, .iteration_cv = dice.chance(0.5) ? dice.real(0.05, 0.8) : 0.0};
  job.parameter_bytes = Bytes{15120.0};
  job.costs.communication.per_message = {};  // as in random_job.cpp, where jobs train locally
  job.optimizer.schedule = {
      .basis = ScheduleBasis::progress, .milestones = {dice.real(0.2, 0.8)}, .factor = 0.5};
  std::int64_t longest = 1;
  for (PhaseConfig& phase : job.phases) {
    phase.exchange = Exchange::gradients;
    phase.local.reset();
    phase.buckets.reset();
    if (&phase != &job.phases.back() && dice.chance(0.3)) continue;  // post-local
    phase.local = draw_long_local_training(dice, phase, job.optimizer.learning_rate, job.servers);
    if (phase.policy->waits_for == WaitsFor::nobody && dice.chance(0.5))
      phase.staleness_weight = {.rule = StalenessRule::power};
    longest = std::max(longest, phase.local->steps);
  }
  // A few stretches of each worker, with what changes spread over them.
  const auto workers = static_cast<std::int64_t>(job.workers.size());
  job.total_samples = dice.whole(2, 12) * longest * workers * job.batching.initial_samples;
  const double scale = dice.real(1.0, static_cast<double>(longest));
  for (MembershipChange& change : job.heterogeneity.membership)
    if (auto* date = std::get_if<Seconds>(&change.at)) *date = *date * scale;
  // Who rests does so after a stretch, or after each step: not the same beside others.
  // And who takes turns keeps its core from one step to the next.
  for (Machine& machine : job.machines) {
    machine.slow_workers = SlowWorkers::compute;
    machine.turns.reset();
  }
  return random;
}

}  // namespace paceline::test
