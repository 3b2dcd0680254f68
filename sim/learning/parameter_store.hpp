// The state of a training job that changes with every update: global parameters on their servers, the
// workers' copies, velocities, and gradients on their way. Every learner that really descends uses it,
// whatever computes its gradients.
//
// Models:      n parameters in float32, cut into S contiguous shards, shard s = [s·n/S, (s+1)·n/S) on server
//              s; for each worker w a possibly stale copy x_w, whose shards may stem from different versions.
// Equation:    hold:          g = ∇f_batch(x_w) + weight_decay · x_w: the decay is as stale as the gradient
//              apply, momentum at the server (one velocity v for all gradients, on one shard):
//                             s = Σ λ_i · g_i;  v ← m · v + s;  x ← x − η · (nesterov ? s + m · v : v)
//              apply, momentum at the workers (v_w moves when a gradient of w is applied):
//                             v_w ← m · v_w + g;  d = nesterov ? g + m · v_w : v_w;  x ← x − η · Σ λ_i · d_i
//              apply_locally: v_w ← m · v_w + g;  x_w ← x_w − η · (nesterov ? g + m · v_w : v_w), wherever
//                             the scenario keeps momentum otherwise: the step is the worker's own
//              overwrite:     x ← x_w on one shard: the last writer wins, velocities stay
//              pull:          x_w ← x on one shard
//              scale_velocity: every v and v_w ← factor · v
//              So BSP over a server accumulates all gradients and takes one step; ASP takes one step for each
//              push. Without momentum, K pushes at rate η of gradients taken at the same parameters are one
//              step along their mean at rate K·η; with momentum at the server they are not.
// Units:       float32 as a parameter server keeps them; η and m are read when the gradient is applied.
// Assumptions: calls come from one thread; every shard of a gradient is applied once, or the gradient is
//              discarded (also after some of its shards were applied); momentum 0 leaves no trace of earlier
//              gradients.
// Not modelled: dampening, adaptive methods, gradients compressed or dropped on their way.
// Source:      Sutskever et al., ICML 2013, in the form of torch.optim.SGD.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "sim/base/id.hpp"
#include "sim/learning/learner.hpp"
#include "sim/learning/optimizer.hpp"

namespace paceline {

struct ParameterStoreConfig {
  std::uint32_t worker_count = 0;
  std::uint32_t server_count = 1;
  MomentumPlace momentum_at = MomentumPlace::server;
  bool nesterov = false;
  double weight_decay = 0.0;
};

class ParameterStore {
 public:
  // Every worker starts with the initial parameters.
  ParameterStore(std::vector<float> initial, const ParameterStoreConfig& config);

  [[nodiscard]] std::span<const float> global() const { return global_; }
  [[nodiscard]] std::span<const float> copy_of(WorkerId worker) const;
  // As held: with weight decay.
  [[nodiscard]] std::span<const float> gradient(GradientId gradient) const;

  // The methods of Learner. `mean_gradient` was computed on the worker's copy.
  void hold(WorkerId worker, GradientId gradient, std::vector<float> mean_gradient);
  void pull(WorkerId worker, ServerId server);
  void apply(ServerId server, std::span<const WeightedGradient> gradients,
             const Hyperparameters& hyperparameters);
  void apply_locally(WorkerId worker, GradientId gradient, const Hyperparameters& hyperparameters);
  void overwrite(ServerId server, WorkerId worker);
  void scale_velocity(double factor);
  void discard(GradientId gradient);

 private:
  struct WorkerState {
    std::vector<float> copy;
    std::vector<float> velocity;  // empty until first needed
  };
  struct HeldGradient {
    WorkerId worker;
    std::vector<float> values;
    std::vector<bool> applied;  // by server
    std::uint32_t shards_left = 0;
  };
  struct Shard {
    std::size_t first = 0;
    std::size_t size = 0;
  };

  [[nodiscard]] Shard shard_of(ServerId server) const;
  WorkerState& worker_at(WorkerId worker);
  std::span<float> velocity_of(WorkerId worker);
  HeldGradient& held(GradientId gradient);

  ParameterStoreConfig config_;
  std::vector<float> global_;
  std::vector<float> velocity_;  // at the servers; empty when momentum is at the workers
  std::vector<float> sum_;       // scratch
  std::vector<WorkerState> workers_;
  std::map<GradientId, HeldGradient> gradients_;
};

}  // namespace paceline
