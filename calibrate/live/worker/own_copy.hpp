// The parameters that a worker computes on: the server's as it was sent them, or its own where it steps on
// them itself and the server takes them over.
//
// Equation:    hold and apply_locally of parameter_store.hpp, the arithmetic of a simulated worker.
// Units:       float32.
// Assumptions: one gradient at a time, and only its latest step is ever taken back. The velocity is the
//              worker's own, and outlives new parameters.
// Source:      OmniLearn's released code (docs/models.md).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "sim/learning/network_learner.hpp"
#include "sim/learning/network_state.hpp"
#include "sim/learning/parameter_store.hpp"

namespace paceline::live {

[[nodiscard]] inline ParameterStoreConfig config_of_one_worker(const NetworkLearnerConfig& learner) {
  ParameterStoreConfig config = parameter_store_config(learner);
  config.worker_count = config.server_count = 1;
  return config;
}

class OwnCopy {
 public:
  OwnCopy(const NetworkLearnerConfig& learner, std::vector<float> initial)
      : store_(std::move(initial), config_of_one_worker(learner)) {}

  [[nodiscard]] std::span<const float> parameters() const { return store_.copy_of(self); }
  void take(std::vector<float> parameters) { store_.set_copy(self, std::move(parameters)); }
  void step(std::uint64_t gradient, std::span<const float> values, const Hyperparameters& hyperparameters) {
    if (!before_) before_.emplace(gradient, store_);
    before_->first = gradient;
    before_->second = store_;  // which takes no new memory
    store_.hold(self, GradientId{gradient}, {values.begin(), values.end()});
    store_.apply_locally(self, GradientId{gradient}, hyperparameters);
  }
  // That step, if it was the latest; not twice.
  void take_back(std::uint64_t gradient) {
    if (!before_ || before_->first != gradient) return;
    store_ = std::move(before_->second);
    before_.reset();
  }
  void scale_velocity(double factor) {
    store_.scale_velocity(factor);
    if (before_) before_->second.scale_velocity(factor);
  }

 private:
  static constexpr WorkerId self{0};

  ParameterStore store_;
  std::optional<std::pair<std::uint64_t, ParameterStore>> before_;  // the latest step
};

}  // namespace paceline::live
