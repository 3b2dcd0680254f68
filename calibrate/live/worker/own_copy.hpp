// The parameters that a worker computes on: the server's as it was sent them, or its own where it steps on
// them itself and the server takes them over.
//
// Equation:    hold and apply_locally of parameter_store.hpp, the arithmetic of a simulated worker.
// Units:       float32.
// Assumptions: one gradient at a time. The velocity is the worker's own, and outlives new parameters.
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

class OwnCopy {
 public:
  OwnCopy(const NetworkLearnerConfig& learner, std::vector<float> initial)
      : store_(std::move(initial), of_one_worker(learner)) {}

  [[nodiscard]] std::span<const float> parameters() const { return store_.copy_of(self); }
  void take(std::vector<float> parameters) { store_.set_copy(self, std::move(parameters)); }
  // A gradient of these parameters, for a step; one kept before is forgotten.
  void keep(std::uint64_t gradient, std::span<const float> values) {
    if (kept_) forget(*kept_);
    store_.hold(self, GradientId{gradient}, {values.begin(), values.end()});
    kept_ = gradient;
  }
  void forget(std::uint64_t gradient) {
    if (kept_ != gradient) return;
    store_.discard(GradientId{gradient});
    kept_.reset();
  }
  // False: it keeps no such gradient.
  [[nodiscard]] bool step(std::uint64_t gradient, const Hyperparameters& hyperparameters) {
    if (kept_ != gradient) return false;
    store_.apply_locally(self, GradientId{gradient}, hyperparameters);
    kept_.reset();
    return true;
  }
  void scale_velocity(double factor) { store_.scale_velocity(factor); }

 private:
  static constexpr WorkerId self{0};

  static ParameterStoreConfig of_one_worker(const NetworkLearnerConfig& learner) {
    ParameterStoreConfig config = parameter_store_config(learner);
    config.worker_count = config.server_count = 1;
    return config;
  }

  ParameterStore store_;
  std::optional<std::uint64_t> kept_;
};

}  // namespace paceline::live
