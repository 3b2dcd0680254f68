// The learning half of a training job: what turns updates into loss and accuracy.
//
// Models:      global parameters x on one or more servers and one possibly stale copy x_w for each worker,
//              driven in exactly the event order that a simulation (or live run) produced.
// Equation:    SGD with momentum and weight decay: parameter_store.hpp. A gradient is the *mean* over its
//              batch; the coordinator chooses the weights.
// Units:       loss in nats (cross-entropy), accuracy as a fraction 0-1.
// Assumptions: calls come from one thread; a gradient is applied or discarded exactly once.
// Not modelled: gradients that depend on other batches (batch normalization synchronized between workers).
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "sim/base/check.hpp"
#include "sim/base/id.hpp"
#include "sim/base/number_type.hpp"

namespace paceline {

struct WeightedGradient {
  GradientId gradient;
  WorkerId worker;
  double weight = 1.0;
  // Updates applied between the pull it was computed on and its application: mean over the shards so far.
  double staleness = 0.0;
};

// Read when the update is applied, not when the gradient was computed.
struct Hyperparameters {
  double learning_rate = 0.0;
  double momentum = 0.0;
};

// One of `count` stretches of the parameters of (nearly) equal length.
struct Fragment {
  std::uint64_t number = 0;
  std::uint64_t count = 1;
};

// What local training hands over: the difference it made since the latest pull, or that of one fragment from
// the present global parameters.
struct DifferenceToSend {
  std::optional<Fragment> fragment{};
  NumberType sent_as = NumberType::fp32;
};

// Steps with a Nesterov velocity that moves with every so many of them.
struct DelayedMomentum {
  double between = 0.0;  // share of the velocity in the other steps
  bool moves = false;    // with this one
};

// One step along differences that workers made by local training.
struct OuterStep {
  double learning_rate = 1.0;
  double momentum = 0.0;
  bool nesterov = false;
  std::int64_t buffered = 1;  // differences that the step, or its velocity, averages
  std::optional<DelayedMomentum> delayed{};
  bool is_added_only = false;  // to the buffer: more are to come
  Fragment of{};               // the parameters that change
};

struct Evaluation {
  double loss = 0.0;      // mean cross-entropy on held-out data
  double accuracy = 0.0;  // top-1, 0-1
};

class Learner {
 public:
  Learner() = default;
  Learner(const Learner&) = delete;
  Learner& operator=(const Learner&) = delete;
  virtual ~Learner() = default;

  // The worker's copy of one server's shard becomes the present global parameters.
  virtual void pull(WorkerId worker, ServerId server) = 0;
  // Computes the gradient of the worker's next `batch_samples` samples on its own copy, kept under
  // `gradient`.
  virtual void compute(WorkerId worker, std::int64_t batch_samples, GradientId gradient) = 0;
  // One step of the optimizer on one server's shard. A gradient is released with the last of its shards.
  virtual void apply(ServerId server, std::span<const WeightedGradient> gradients,
                     const Hyperparameters& hyperparameters) = 0;
  // Takes `steps` steps of the worker's own optimizer on its own copy, each with the gradient of its next
  // `batch_samples` samples.
  virtual void train_locally(WorkerId, std::int64_t /*batch_samples*/, std::int64_t /*steps*/,
                             const Hyperparameters&) {
    check(false, "this learner does not train locally");
  }
  // Keeps this difference under `gradient`.
  virtual void hold_difference(WorkerId, GradientId, const DifferenceToSend&) {
    check(false, "this learner does not train locally");
  }
  // Like `apply`, of differences.
  virtual void merge(ServerId, std::span<const WeightedGradient>, const OuterStep&) {
    check(false, "this learner does not train locally");
  }
  // One fragment of a server's shard in the worker's copy becomes (1 - mixing) · global + mixing · own.
  virtual void mix(WorkerId, ServerId, const Fragment&, double /*mixing*/) {
    check(false, "this learner does not train locally");
  }
  // One step of the worker's own optimizer (with its own velocity) on its own copy; releases the gradient.
  virtual void apply_locally(WorkerId worker, GradientId gradient,
                             const Hyperparameters& hyperparameters) = 0;
  // One server's shard of the global parameters becomes the worker's copy.
  virtual void overwrite(ServerId server, WorkerId worker) = 0;
  // Multiplies every velocity, at the servers and at the workers: the momentum rule at a switch.
  virtual void scale_velocity(double factor) = 0;
  // Releases a gradient that will never be applied.
  virtual void discard(GradientId gradient) = 0;
  // Loss and accuracy of the present global parameters; nothing when this learner does not learn. A loss that
  // is not finite means the job diverged.
  virtual std::optional<Evaluation> evaluate() = 0;
};

// Learns nothing: for questions of throughput alone.
class NoLearner final : public Learner {
 public:
  void pull(WorkerId, ServerId) override {}
  void compute(WorkerId, std::int64_t, GradientId) override {}
  void apply(ServerId, std::span<const WeightedGradient>, const Hyperparameters&) override {}
  void apply_locally(WorkerId, GradientId, const Hyperparameters&) override {}
  void overwrite(ServerId, WorkerId) override {}
  void scale_velocity(double) override {}
  void train_locally(WorkerId, std::int64_t, std::int64_t, const Hyperparameters&) override {}
  void hold_difference(WorkerId, GradientId, const DifferenceToSend&) override {}
  void merge(ServerId, std::span<const WeightedGradient>, const OuterStep&) override {}
  void mix(WorkerId, ServerId, const Fragment&, double) override {}
  void discard(GradientId) override {}
  std::optional<Evaluation> evaluate() override { return std::nullopt; }
};

}  // namespace paceline
