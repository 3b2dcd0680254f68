// The smallest learner that really descends: a quadratic bowl in two parameters, with the parameter store
// that the network learner uses too. So the optimizer's traces can be computed by hand.
//
// Equation:    f(x) = ½ (x₀² + 2 x₁²), ∇f(x) = (x₀, 2 x₁), from x = (8, 4), where the gradient is (8, 8). The
//              batch does not matter: every gradient is exact. Loss = f; accuracy is always 0.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sim/learning/learner.hpp"
#include "sim/learning/parameter_store.hpp"

namespace paceline::test {

class QuadraticLearner final : public Learner {
 public:
  explicit QuadraticLearner(const ParameterStoreConfig& config) : store_({8.0F, 4.0F}, config) {}

  void pull(WorkerId worker, ServerId server) override { store_.pull(worker, server); }
  void compute(WorkerId worker, std::int64_t, GradientId gradient) override {
    const std::span<const float> x = store_.copy_of(worker);
    store_.hold(worker, gradient, {x[0], 2.0F * x[1]});
  }
  void train_locally(WorkerId worker, std::int64_t, std::int64_t steps,
                     const Hyperparameters& hyperparameters) override {
    store_.begin_local_training(worker);
    for (std::int64_t step = 0; step < steps; ++step) {
      const std::span<const float> x = store_.copy_of(worker);
      store_.step_locally(worker, {x[0], 2.0F * x[1]}, hyperparameters);
    }
  }
  void hold_difference(WorkerId worker, GradientId gradient, const DifferenceToSend& difference) override {
    store_.hold_difference(worker, gradient, difference);
  }
  void mix(WorkerId worker, ServerId server, const Fragment& fragment, double mixing) override {
    store_.mix(worker, server, fragment, mixing);
  }
  void merge(ServerId server, std::span<const WeightedGradient> differences,
             const OuterStep& outer) override {
    store_.merge(server, differences, outer);
  }
  void apply(ServerId server, std::span<const WeightedGradient> gradients,
             const Hyperparameters& hyperparameters) override {
    store_.apply(server, gradients, hyperparameters);
  }
  void apply_locally(WorkerId worker, GradientId gradient, const Hyperparameters& hyperparameters) override {
    store_.apply_locally(worker, gradient, hyperparameters);
  }
  void overwrite(ServerId server, WorkerId worker) override { store_.overwrite(server, worker); }
  void scale_velocity(double factor) override { store_.scale_velocity(factor); }
  void discard(GradientId gradient) override { store_.discard(gradient); }
  std::optional<Evaluation> evaluate() override {
    const std::span<const float> x = store_.global();
    return Evaluation{.loss = 0.5 * (x[0] * x[0] + 2.0F * x[1] * x[1]), .accuracy = 0.0};
  }

  [[nodiscard]] std::vector<float> x() const { return {store_.global().begin(), store_.global().end()}; }
  [[nodiscard]] std::vector<float> x_of(WorkerId worker) const {
    return {store_.copy_of(worker).begin(), store_.copy_of(worker).end()};
  }
  [[nodiscard]] std::vector<float> gradient(GradientId id) const {
    return {store_.gradient(id).begin(), store_.gradient(id).end()};
  }

 private:
  ParameterStore store_;
};

}  // namespace paceline::test
