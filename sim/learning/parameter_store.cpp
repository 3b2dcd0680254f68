#include "sim/learning/parameter_store.hpp"

#include <algorithm>
#include <utility>

#include "sim/base/check.hpp"
#include "sim/learning/sgd.hpp"

namespace paceline {

ParameterStore::ParameterStore(std::vector<float> initial, const ParameterStoreConfig& config)
    : config_(config), global_(std::move(initial)), sum_(global_.size()) {
  check(config_.worker_count > 0 && config_.server_count > 0, "a job has workers and a server");
  if (config_.momentum_at == MomentumPlace::server) velocity_.resize(global_.size());
  workers_.resize(config_.worker_count);
  for (WorkerState& worker : workers_) worker.copy = global_;
}

std::span<const float> ParameterStore::copy_of(WorkerId worker) const {
  check(worker.value < workers_.size(), "the worker exists");
  return workers_[worker.value].copy;
}

std::span<const float> ParameterStore::gradient(GradientId gradient) const {
  const auto found = gradients_.find(gradient);
  check(found != gradients_.end(), "the gradient is held");
  return found->second.values;
}

void ParameterStore::hold(WorkerId worker, GradientId gradient, std::vector<float> mean_gradient) {
  check(!gradients_.contains(gradient), "a gradient is computed once");
  add_weight_decay(mean_gradient, worker_at(worker).copy, config_.weight_decay);
  gradients_.emplace(gradient, HeldGradient{.worker = worker,
                                            .values = std::move(mean_gradient),
                                            .applied = std::vector<bool>(config_.server_count),
                                            .shards_left = config_.server_count});
}

void ParameterStore::pull(WorkerId worker, ServerId server) {
  const auto [first, size] = shard_of(server);
  std::ranges::copy(global().subspan(first, size), std::span(worker_at(worker).copy).subspan(first).begin());
}

void ParameterStore::apply(ServerId server, std::span<const WeightedGradient> gradients,
                           const Hyperparameters& hyperparameters) {
  check(!gradients.empty(), "an update combines at least one gradient");
  const auto [first, size] = shard_of(server);
  const std::span<float> sum = std::span(sum_).subspan(first, size);
  const bool at_workers = config_.momentum_at == MomentumPlace::workers;
  std::ranges::fill(sum, 0.0F);
  for (const WeightedGradient& entry : gradients) {
    HeldGradient& gradient = held(entry.gradient);
    check(gradient.worker == entry.worker, "a gradient is applied as its worker's");
    check(!gradient.applied[server.value], "a shard of a gradient is applied once");
    const std::span<float> values = std::span(gradient.values).subspan(first, size);
    if (at_workers) {
      follow_momentum(values, velocity_of(entry.worker).subspan(first, size), hyperparameters.momentum,
                      config_.nesterov);
    }
    accumulate_gradient(sum, values, entry.weight);
    gradient.applied[server.value] = true;
    if (--gradient.shards_left == 0) gradients_.erase(entry.gradient);
  }
  const std::span<float> parameters = std::span(global_).subspan(first, size);
  if (at_workers) {
    descend(parameters, sum, hyperparameters.learning_rate);
  } else {
    sgd_step(parameters, std::span(velocity_).subspan(first, size), sum, hyperparameters, config_.nesterov);
  }
}

void ParameterStore::apply_locally(WorkerId worker, GradientId gradient,
                                   const Hyperparameters& hyperparameters) {
  HeldGradient& own = held(gradient);
  check(own.worker == worker, "a worker steps along its own gradient");
  check(own.shards_left == config_.server_count, "a gradient steps at the servers or at its worker");
  sgd_step(worker_at(worker).copy, velocity_of(worker), own.values, hyperparameters, config_.nesterov);
  gradients_.erase(gradient);
}

void ParameterStore::overwrite(ServerId server, WorkerId worker) {
  const auto [first, size] = shard_of(server);
  std::ranges::copy(copy_of(worker).subspan(first, size), std::span(global_).subspan(first).begin());
}

void ParameterStore::scale_velocity(double factor) {
  const auto scale = [factor](std::vector<float>& velocity) {
    for (float& value : velocity) value *= static_cast<float>(factor);
  };
  scale(velocity_);
  for (WorkerState& worker : workers_) scale(worker.velocity);
}

void ParameterStore::discard(GradientId gradient) {
  check(gradients_.erase(gradient) == 1, "only a held gradient is discarded");
}

ParameterStore::Shard ParameterStore::shard_of(ServerId server) const {
  check(server.value < config_.server_count, "the server exists");
  const std::size_t first = server.value * global_.size() / config_.server_count;
  const std::size_t end = (server.value + 1) * global_.size() / config_.server_count;
  return {first, end - first};
}

ParameterStore::WorkerState& ParameterStore::worker_at(WorkerId worker) {
  check(worker.value < workers_.size(), "the worker exists");
  return workers_[worker.value];
}

std::span<float> ParameterStore::velocity_of(WorkerId worker) {
  std::vector<float>& velocity = worker_at(worker).velocity;
  velocity.resize(global_.size());
  return velocity;
}

ParameterStore::HeldGradient& ParameterStore::held(GradientId gradient) {
  const auto found = gradients_.find(gradient);
  check(found != gradients_.end(), "a gradient is applied once, after it was computed");
  return found->second;
}

}  // namespace paceline
