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
//              AdamW (adamw.hpp) in place of a step of SGD: g without the decay, which is the step's; its
//                             moments are the servers' or, of apply_locally and local training, a worker's
//              local training: v_w and x_w as in apply_locally, H times; d = x_w as pulled - x_w after
//                             of one fragment of F, [f·n/F, (f+1)·n/F):  d = x - x_w
//              merge (differences d_i, on one shard, with a velocity u of its own):
//                             s = Σ λ_i · d_i, or the mean of K such sums;  u ← m · u + s;
//                             x ← x − η · (nesterov ? s + m · u : u)
//                             (or with a velocity that moves with every N-th: delayed_nesterov_step)
//              mix:           x_w ← (1 − α) · x + α · x_w on one fragment
//              overwrite:     x ← x_w on one shard: the last writer wins, velocities stay
//              pull:          x_w ← x on one shard
//              scale_velocity: every v, v_w and u ← factor · v
//              So BSP over a server accumulates all gradients and takes one step; ASP takes one step for each
//              push. Without momentum, K pushes at rate η of gradients taken at the same parameters are one
//              step along their mean at rate K·η; with momentum at the server they are not.
// Units:       float32 as a parameter server keeps them; η and m are read when the gradient is applied.
// Assumptions: calls come from one thread; every shard of a gradient is applied once, or the gradient is
//              discarded (also after some of its shards were applied); momentum 0 leaves no trace of earlier
//              gradients.
//              The first local training of a worker begins with the servers' velocity (moments), as a replica
//              would have them.
// Not modelled: dampening, adaptive methods other than AdamW, gradients compressed or dropped on their way.
// Source:      Sutskever et al., ICML 2013, in the form of torch.optim.SGD.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "sim/base/check.hpp"
#include "sim/base/id.hpp"
#include "sim/learning/adamw.hpp"
#include "sim/learning/learner.hpp"
#include "sim/learning/optimizer.hpp"
#include "sim/learning/sgd.hpp"

namespace paceline {

struct ParameterStoreConfig {
  std::uint32_t worker_count = 0;
  std::uint32_t server_count = 1;
  MomentumPlace momentum_at = MomentumPlace::server;
  bool nesterov = false;
  double weight_decay = 0.0;
  std::optional<AdamW> adamw{};  // absent: SGD
};

// The parameters of a job with what its optimizer remembers, empty where it remembers nothing.
struct Replica {
  std::vector<float> parameters{};
  std::vector<float> velocity{};       // of AdamW the mean gradient
  std::vector<float> squares{};        // of AdamW
  std::vector<std::uint64_t> steps{};  // of AdamW, by server
};

class ParameterStore {
 public:
  // Every worker starts with the initial parameters.
  ParameterStore(std::vector<float> initial, const ParameterStoreConfig& config)
      : config_(config), global_(std::move(initial)), sum_(global_.size()) {
    check(config_.worker_count > 0 && config_.server_count > 0, "a job has workers and a server");
    check(!config_.adamw || config_.momentum_at == MomentumPlace::server, "AdamW has no momentum of workers");
    if (config_.momentum_at == MomentumPlace::server) at_servers_.velocity.resize(global_.size());
    workers_.resize(config_.worker_count);
    for (WorkerState& worker : workers_) worker.copy = global_;
  }

  [[nodiscard]] std::span<const float> global() const { return global_; }
  [[nodiscard]] std::span<const float> copy_of(WorkerId worker) const {
    check(worker.value < workers_.size(), "the worker exists");
    return workers_[worker.value].copy;
  }
  // As held: with weight decay.
  [[nodiscard]] std::span<const float> gradient(GradientId gradient) const {
    const auto found = gradients_.find(gradient);
    check(found != gradients_.end(), "the gradient is held");
    return found->second.values;
  }

  // The methods of Learner. `mean_gradient` was computed on the worker's copy.
  void hold(WorkerId worker, GradientId gradient, std::vector<float> mean_gradient) {
    add_decay(mean_gradient, worker_at(worker).copy);
    keep(worker, gradient, std::move(mean_gradient));
  }
  void pull(WorkerId worker, ServerId server) {
    const auto [first, size] = shard_of(server);
    WorkerState& state = worker_at(worker);
    state.start.clear();
    std::ranges::copy(global().subspan(first, size), std::span(state.copy).subspan(first).begin());
  }
  void apply(ServerId server, std::span<const WeightedGradient> gradients,
             const Hyperparameters& hyperparameters) {
    combine(server, gradients, hyperparameters.momentum);
    step(server, hyperparameters);
  }
  // The halves of apply, for a sum that others add to: what the gradients come to on one shard, ...
  std::span<float> combine(ServerId server, std::span<const WeightedGradient> gradients, double momentum) {
    check(!gradients.empty(), "an update combines at least one gradient");
    const auto [first, size] = shard_of(server);
    const std::span<float> sum = std::span(sum_).subspan(first, size);
    const bool at_workers = config_.momentum_at == MomentumPlace::workers;
    std::ranges::fill(sum, 0.0F);
    for (const WeightedGradient& entry : gradients)
      use_shard(server, entry, [&](std::span<float> values) {
        if (at_workers)
          follow_momentum(values, velocity_of(entry.worker).subspan(first, size), momentum, config_.nesterov);
        accumulate_gradient(sum, values, entry.weight);
      });
    return sum;
  }
  // ... and the step along it.
  void step(ServerId server, const Hyperparameters& hyperparameters) {
    const auto [first, size] = shard_of(server);
    const std::span<float> sum = std::span(sum_).subspan(first, size);
    const std::span<float> parameters = std::span(global_).subspan(first, size);
    if (config_.momentum_at == MomentumPlace::workers) {
      descend(parameters, sum, hyperparameters.learning_rate);
    } else {
      take_step(parameters, at_servers_, server, sum, hyperparameters);
    }
  }
  // What a worker that stepped elsewhere arrived at.
  void set_copy(WorkerId worker, std::vector<float> parameters) {
    check(parameters.size() == global_.size(), "a copy of the same network");
    worker_at(worker).copy = std::move(parameters);
  }
  // All that the next step depends on, as this worker would take it over; and from one that went on alone.
  [[nodiscard]] Replica replica_for(WorkerId worker) const {
    const OptimizerState& state =
        config_.momentum_at == MomentumPlace::server ? at_servers_ : workers_.at(worker.value).optimizer;
    return {global_, state.velocity, state.squares, state.steps};
  }
  void adopt(WorkerId worker, Replica replica) {
    check(replica.parameters.size() == global_.size(), "a replica of the same network");
    OptimizerState& state =
        config_.momentum_at == MomentumPlace::server ? at_servers_ : worker_at(worker).optimizer;
    global_ = std::move(replica.parameters);
    state = {std::move(replica.velocity), std::move(replica.squares), std::move(replica.steps)};
  }
  // Local training: begin, any number of steps along gradients computed on the worker's copy, and what came
  // of it.
  void begin_local_training(WorkerId worker) {
    WorkerState& state = worker_at(worker);
    if (state.optimizer.velocity.empty()) state.optimizer = at_servers_;
    if (state.start.empty()) state.start = state.copy;
  }
  void step_locally(WorkerId worker, std::vector<float> mean_gradient,
                    const Hyperparameters& hyperparameters) {
    WorkerState& state = worker_at(worker);
    add_decay(mean_gradient, state.copy);
    step_on_copy(state, mean_gradient, hyperparameters);
  }
  void hold_difference(WorkerId worker, GradientId gradient, const DifferenceToSend& difference) {
    WorkerState& state = worker_at(worker);
    std::vector<float> values = std::exchange(state.start, {});
    if (difference.fragment) values = global_;
    for (std::size_t i = 0; i < values.size(); ++i) values[i] -= state.copy[i];
    if (difference.sent_as == NumberType::fp16)
      for (float& value : values) value = rounded_to_half(value);
    keep(worker, gradient, std::move(values));
  }
  void merge(ServerId server, std::span<const WeightedGradient> differences, const OuterStep& outer) {
    const auto [first, size] = part_of(server, outer.of);
    const std::size_t skipped = first - shard_of(server).first;
    outer_velocity_.resize(global_.size());
    buffer_.resize(global_.size());
    const std::span<float> buffer = std::span(buffer_).subspan(first, size);
    const std::span<float> sum = std::span(sum_).subspan(first, size);
    std::ranges::fill(sum, 0.0F);
    const double share = 1.0 / static_cast<double>(outer.buffered);
    for (const WeightedGradient& entry : differences)
      use_shard(server, entry, [&, length = size](std::span<float> values) {
        accumulate_gradient(outer.delayed ? sum : buffer, values.subspan(skipped, length),
                            entry.weight * share);
      });
    if (outer.is_added_only) return;
    const std::span<float> parameters = std::span(global_).subspan(first, size);
    const std::span<float> velocity = std::span(outer_velocity_).subspan(first, size);
    const Hyperparameters step{.learning_rate = outer.learning_rate, .momentum = outer.momentum};
    if (outer.delayed)
      return delayed_nesterov_step(
          parameters, velocity, buffer, sum, step,
          {static_cast<double>(outer.buffered), outer.delayed->between, outer.delayed->moves});
    sgd_step(parameters, velocity, buffer, step, outer.nesterov);
    std::ranges::fill(buffer, 0.0F);
  }
  void mix(WorkerId worker, ServerId server, const Fragment& fragment, double mixing) {
    const auto [first, size] = part_of(server, fragment);
    std::vector<float>& copy = worker_at(worker).copy;
    const auto own = static_cast<float>(mixing);
    for (std::size_t i = first; i < first + size; ++i) copy[i] = (1.0F - own) * global_[i] + own * copy[i];
  }
  void apply_locally(WorkerId worker, GradientId gradient, const Hyperparameters& hyperparameters) {
    HeldGradient& own = held(gradient);
    check(own.worker == worker, "a worker steps along its own gradient");
    check(own.shards_left == config_.server_count, "a gradient steps at the servers or at its worker");
    step_on_copy(worker_at(worker), own.values, hyperparameters);
    gradients_.erase(gradient);
  }
  void overwrite(ServerId server, WorkerId worker) {
    const auto [first, size] = shard_of(server);
    std::ranges::copy(copy_of(worker).subspan(first, size), std::span(global_).subspan(first).begin());
  }
  void scale_velocity(double factor) {
    const auto scale = [factor](std::vector<float>& velocity) {
      for (float& value : velocity) value *= static_cast<float>(factor);
    };
    scale(at_servers_.velocity);
    scale(outer_velocity_);
    for (WorkerState& worker : workers_) scale(worker.optimizer.velocity);
  }
  void discard(GradientId gradient) {
    check(gradients_.erase(gradient) == 1, "only a held gradient is discarded");
  }

 private:
  // Each is empty until first needed.
  struct OptimizerState {
    std::vector<float> velocity;       // of AdamW the mean gradient
    std::vector<float> squares;        // of AdamW
    std::vector<std::uint64_t> steps;  // of AdamW, by server
  };
  struct WorkerState {
    std::vector<float> copy;
    OptimizerState optimizer;
    std::vector<float> start;  // of local training since the latest pull
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

  [[nodiscard]] Shard shard_of(ServerId server) const {
    check(server.value < config_.server_count, "the server exists");
    const std::size_t first = server.value * global_.size() / config_.server_count;
    const std::size_t end = (server.value + 1) * global_.size() / config_.server_count;
    return {first, end - first};
  }
  // What a shard and a fragment have in common.
  [[nodiscard]] Shard part_of(ServerId server, const Fragment& fragment) const {
    const auto [first, size] = shard_of(server);
    const std::size_t begin = std::max(first, fragment.number * global_.size() / fragment.count);
    const std::size_t end = std::min(first + size, (fragment.number + 1) * global_.size() / fragment.count);
    return begin < end ? Shard{begin, end - begin} : Shard{first, 0};
  }
  WorkerState& worker_at(WorkerId worker) {
    check(worker.value < workers_.size(), "the worker exists");
    return workers_[worker.value];
  }
  std::span<float> velocity_of(WorkerId worker) {
    std::vector<float>& velocity = worker_at(worker).optimizer.velocity;
    velocity.resize(global_.size());
    return velocity;
  }
  // The decay of AdamW is part of its step.
  void add_decay(std::span<float> gradient, std::span<const float> copy) const {
    if (!config_.adamw) add_weight_decay(gradient, copy, config_.weight_decay);
  }
  // The optimizer's step on one server's shard, ...
  void take_step(std::span<float> parameters, OptimizerState& state, ServerId server,
                 std::span<const float> gradient, const Hyperparameters& hyperparameters) {
    const std::size_t first = shard_of(server).first;
    const auto part = [&](std::vector<float>& values) {
      values.resize(global_.size());
      return std::span(values).subspan(first, parameters.size());
    };
    if (!config_.adamw)
      return sgd_step(parameters, part(state.velocity), gradient, hyperparameters, config_.nesterov);
    state.steps.resize(config_.server_count);
    adamw_step(parameters, {part(state.velocity), part(state.squares)}, gradient, ++state.steps[server.value],
               hyperparameters.learning_rate, config_.weight_decay, *config_.adamw);
  }
  // ... and on all of a worker's copy; before it, all servers have taken as many.
  void step_on_copy(WorkerState& worker, std::span<const float> gradient,
                    const Hyperparameters& hyperparameters) {
    take_step(worker.copy, worker.optimizer, ServerId{0}, gradient, hyperparameters);
  }
  void keep(WorkerId worker, GradientId gradient, std::vector<float> values) {
    check(!gradients_.contains(gradient), "a gradient is computed once");
    gradients_.emplace(gradient, HeldGradient{.worker = worker,
                                              .values = std::move(values),
                                              .applied = std::vector<bool>(config_.server_count),
                                              .shards_left = config_.server_count});
  }
  // One shard of it, for the first and only time.
  template <class Use>
  void use_shard(ServerId server, const WeightedGradient& entry, Use use) {
    HeldGradient& gradient = held(entry.gradient);
    check(gradient.worker == entry.worker, "a gradient is applied as its worker's");
    check(!gradient.applied[server.value], "a shard of a gradient is applied once");
    const auto [first, size] = shard_of(server);
    use(std::span(gradient.values).subspan(first, size));
    gradient.applied[server.value] = true;
    if (--gradient.shards_left == 0) gradients_.erase(entry.gradient);
  }
  HeldGradient& held(GradientId gradient) {
    const auto found = gradients_.find(gradient);
    check(found != gradients_.end(), "a gradient is applied once, after it was computed");
    return found->second;
  }

  ParameterStoreConfig config_;
  std::vector<float> global_;
  OptimizerState at_servers_;          // no velocity when momentum is at the workers
  std::vector<float> sum_;             // scratch
  std::vector<float> outer_velocity_;  // both empty until first needed
  std::vector<float> buffer_;          // of differences
  std::vector<WorkerState> workers_;
  std::map<GradientId, HeldGradient> gradients_;
};

}  // namespace paceline
