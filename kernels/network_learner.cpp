#include "kernels/network_learner.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "kernels/dataset_source.hpp"
#include "kernels/sgd.hpp"
#include "kernels/training_step.hpp"
#include "sim/base/check.hpp"

namespace paceline::kernels {
namespace {

constexpr std::uint32_t evaluation_batch_samples = 250;

}  // namespace

NetworkLearner::NetworkLearner(const NetworkLearnerConfig& config)
    : data_(load_dataset(config.dataset)),
      network_(config.network, data_.train.classes()),
      weight_decay_(config.weight_decay),
      nesterov_(config.nesterov),
      seed_(config.seed) {
  check(config.worker_count > 0, "a job has workers");
  set_compute_threads(1);
  const auto size = static_cast<std::size_t>(network_.parameter_count());
  global_.resize(size);
  velocity_.resize(size);
  sum_.resize(size);
  network_.initialize(global_, seed_);
  workers_.resize(config.worker_count);
  for (Worker& worker : workers_) worker.parameters = global_;
}

void NetworkLearner::pull(WorkerId worker, ServerId server) {
  check(server.value == 0, "one server holds all parameters");
  worker_at(worker).parameters = global_;
}

void NetworkLearner::compute(WorkerId worker, std::int64_t batch_samples, GradientId gradient) {
  check(batch_samples > 0, "a batch has samples");
  check(!gradients_.contains(gradient), "a gradient is computed once");
  load_batch(data_.train, next_samples(worker, batch_samples));
  const std::vector<float>& parameters = worker_at(worker).parameters;
  std::ranges::copy(parameters, network_.parameters().begin());
  network_.forward_backward(pixels_, labels_);
  std::vector<float> result(network_.gradient().begin(), network_.gradient().end());
  add_weight_decay(result, parameters, weight_decay_);
  gradients_.emplace(gradient, std::move(result));
}

void NetworkLearner::apply(ServerId server, std::span<const WeightedGradient> gradients,
                           const Hyperparameters& hyperparameters) {
  check(server.value == 0, "one server holds all parameters");
  check(!gradients.empty(), "an update combines at least one gradient");
  std::ranges::fill(sum_, 0.0F);
  for (const WeightedGradient& entry : gradients) {
    accumulate_gradient(sum_, held_gradient(entry.gradient), entry.weight);
    gradients_.erase(entry.gradient);
  }
  sgd_step(global_, velocity_, sum_, hyperparameters, nesterov_);
}

void NetworkLearner::apply_locally(WorkerId, GradientId, const Hyperparameters&) {
  throw ProgrammingError("workers take no steps of their own");
}

void NetworkLearner::overwrite(ServerId, WorkerId) {
  throw ProgrammingError("workers send gradients, not parameters");
}

void NetworkLearner::scale_velocity(double factor) {
  for (float& velocity : velocity_) velocity *= static_cast<float>(factor);
}

void NetworkLearner::discard(GradientId gradient) {
  check(gradients_.erase(gradient) == 1, "only a held gradient is discarded");
}

std::optional<Evaluation> NetworkLearner::evaluate() {
  std::ranges::copy(global_, network_.parameters().begin());
  BatchScore total;
  std::vector<std::uint32_t> samples;
  for (std::uint32_t first = 0; first < data_.test.sample_count(); first += evaluation_batch_samples) {
    samples.resize(std::min(evaluation_batch_samples, data_.test.sample_count() - first));
    std::iota(samples.begin(), samples.end(), first);
    load_batch(data_.test, samples);
    const BatchScore score = network_.score(pixels_, labels_);
    total.loss_sum += score.loss_sum;
    total.correct += score.correct;
  }
  const double count = data_.test.sample_count();
  return Evaluation{.loss = total.loss_sum / count, .accuracy = static_cast<double>(total.correct) / count};
}

std::span<const float> NetworkLearner::gradient(GradientId gradient) const {
  const auto found = gradients_.find(gradient);
  check(found != gradients_.end(), "the gradient is held");
  return found->second;
}

NetworkLearner::Worker& NetworkLearner::worker_at(WorkerId worker) {
  check(worker.value < workers_.size(), "the worker exists");
  return workers_[static_cast<std::size_t>(worker.value)];
}

std::vector<float>& NetworkLearner::held_gradient(GradientId gradient) {
  const auto found = gradients_.find(gradient);
  check(found != gradients_.end(), "a gradient is applied once, after it was computed");
  return found->second;
}

std::vector<std::uint32_t> NetworkLearner::next_samples(WorkerId id, std::int64_t batch_samples) {
  Worker& worker = worker_at(id);
  std::vector<std::uint32_t> samples;
  while (std::ssize(samples) < batch_samples) {
    if (worker.position == worker.order.size()) {
      const RandomStream stream(seed_, Purpose::data_order, static_cast<std::uint32_t>(id.value),
                                worker.next_pass++);
      worker.order = random_permutation(stream, data_.train.sample_count());
      worker.position = 0;
    }
    samples.push_back(worker.order[worker.position++]);
  }
  return samples;
}

void NetworkLearner::load_batch(const Dataset& dataset, std::span<const std::uint32_t> samples) {
  pixels_.resize(samples.size() * static_cast<std::size_t>(image_values));
  labels_.resize(samples.size());
  dataset.fill(samples, pixels_, labels_);
}

}  // namespace paceline::kernels
