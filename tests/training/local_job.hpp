// Jobs that train locally, and their way down the bowl of quadratic_learner.hpp: f(x) = ½ (x₀² + 2 x₁²) from
// (8, 4), g = (x₀, 2 x₁).
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "tests/support/quadratic_learner.hpp"
#include "tests/support/test_job.hpp"

namespace paceline::test {

inline constexpr std::size_t steps_compared = 50;

// Batches of 10 samples, 1 s each; the workers' speeds differ, so their gradients meet in different orders.
inline TestJob job_of(std::vector<Worker> workers, PhaseConfig phase) {
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

inline std::vector<std::vector<float>> trajectory(TestJob job, bool nesterov = false,
                                                  MomentumPlace momentum_at = MomentumPlace::server) {
  QuadraticLearner learner({.worker_count = static_cast<std::uint32_t>(job.workers.size()),
                            .momentum_at = momentum_at,
                            .nesterov = nesterov});
  Trajectory seen(learner);
  job.observer = &seen;
  static_cast<void>(job.run_ideal(learner));
  seen.points.push_back(learner.x());
  return seen.points;
}

// To a relative tolerance, or to an absolute one where parameters pass through 0.
inline void check_same(const std::vector<std::vector<float>>& one,
                       const std::vector<std::vector<float>>& other, double rounding = 0.0) {
  REQUIRE(one.size() >= steps_compared);
  REQUIRE(other.size() >= steps_compared);
  for (std::size_t i = 0; i < steps_compared; ++i)
    for (std::size_t k = 0; k < 2; ++k) {
      const double difference = std::abs(static_cast<double>(one[i][k]) - static_cast<double>(other[i][k]));
      if (difference > rounding) CHECK(one[i][k] == doctest::Approx(other[i][k]).epsilon(1e-5));
    }
}

}  // namespace paceline::test
