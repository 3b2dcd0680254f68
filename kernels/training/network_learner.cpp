#include "kernels/training/network_learner.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "kernels/data/dataset_source.hpp"
#include "kernels/interface/training_step.hpp"
#include "sim/base/check.hpp"

namespace paceline::kernels {
namespace {

constexpr std::uint32_t evaluation_batch_samples = 250;
constexpr double share_of_newest_batch = 0.1;  // in the averages of batch normalization: PyTorch's default
constexpr ServerId first_server{0};

std::vector<std::uint32_t> streams_of(const NetworkLearnerConfig& config) {
  std::vector<std::uint32_t> streams = config.random_streams;
  if (streams.empty()) {
    streams.resize(config.worker_count);
    std::iota(streams.begin(), streams.end(), 0U);
  }
  check(streams.size() == config.worker_count, "each worker has a random stream");
  return streams;
}

std::vector<float> initial_parameters(const Network& network, Seed seed) {
  std::vector<float> parameters(static_cast<std::size_t>(network.parameter_count()));
  network.initialize(parameters, seed);
  return parameters;
}

}  // namespace

NetworkLearner::NetworkLearner(const NetworkLearnerConfig& config)
    : data_(load_dataset(config.dataset)),
      network_(config.network, data_.train.classes()),
      seed_(config.seed),
      random_streams_(streams_of(config)),
      store_(initial_parameters(network_, config.seed), {.worker_count = config.worker_count,
                                                         .server_count = config.server_count,
                                                         .momentum_at = config.momentum_at,
                                                         .nesterov = config.nesterov,
                                                         .weight_decay = config.weight_decay}),
      averages_(network_.initial_batch_statistics(), config.batch_norm, config.worker_count,
                share_of_newest_batch),
      cursors_(config.worker_count) {
  set_compute_threads(1);
  const std::uint32_t samples = data_.train.sample_count();
  // Without shards every worker permutes the plain order by itself.
  std::vector<std::uint32_t> shuffle(samples);
  std::iota(shuffle.begin(), shuffle.end(), 0U);
  if (config.dataset.partition == DataPartition::equal_shards)
    shuffle = random_permutation(RandomStream(seed_, Purpose::data_partition), samples);
  for (std::uint64_t w = 0; w < cursors_.size(); ++w) {
    const auto place = static_cast<std::uint64_t>(std::ranges::count_if(
        random_streams_, [&](std::uint32_t other) { return other < random_streams_[w]; }));
    const DataPart part = part_of(config.dataset.partition, samples, place, cursors_.size());
    check(part.size() > 0, "every worker has data");
    cursors_[w].data.assign(shuffle.begin() + part.first, shuffle.begin() + part.end);
  }
}

void NetworkLearner::compute(WorkerId worker, std::int64_t batch_samples, GradientId gradient) {
  check(batch_samples > 0, "a batch has samples");
  std::ranges::copy(store_.copy_of(worker), network_.parameters().begin());
  data_.train.fill(batch_, next_samples(worker, batch_samples));
  network_.forward_backward(batch_);
  store_.hold(worker, gradient, {network_.gradient().begin(), network_.gradient().end()});
  averages_.hold(worker, gradient, {network_.batch_statistics().begin(), network_.batch_statistics().end()});
}

void NetworkLearner::apply(ServerId server, std::span<const WeightedGradient> gradients,
                           const Hyperparameters& hyperparameters) {
  store_.apply(server, gradients, hyperparameters);
  if (server != first_server) return;
  for (const WeightedGradient& entry : gradients) averages_.apply(entry.gradient);
}

void NetworkLearner::apply_locally(WorkerId worker, GradientId gradient,
                                   const Hyperparameters& hyperparameters) {
  store_.apply_locally(worker, gradient, hyperparameters);
  averages_.apply(gradient);
}

void NetworkLearner::discard(GradientId gradient) {
  store_.discard(gradient);
  averages_.discard(gradient);
}

std::optional<Evaluation> NetworkLearner::evaluate() {
  std::ranges::copy(store_.global(), network_.parameters().begin());
  const std::vector<float> averages = averages_.global();
  BatchScore total;
  std::vector<std::uint32_t> samples;
  for (std::uint32_t first = 0; first < data_.test.sample_count(); first += evaluation_batch_samples) {
    samples.resize(std::min(evaluation_batch_samples, data_.test.sample_count() - first));
    std::iota(samples.begin(), samples.end(), first);
    data_.test.fill(batch_, samples);
    const BatchScore score = network_.score(batch_, averages);
    total.loss_sum += score.loss_sum;
    total.correct += score.correct;
  }
  const double count = data_.test.sample_count();
  return Evaluation{.loss = total.loss_sum / count, .accuracy = static_cast<double>(total.correct) / count};
}

std::vector<std::uint32_t> NetworkLearner::next_samples(WorkerId id, std::int64_t batch_samples) {
  SampleCursor& cursor = cursors_.at(id.value);
  std::vector<std::uint32_t> samples;
  while (std::ssize(samples) < batch_samples) {
    if (cursor.position == cursor.order.size()) {
      const RandomStream stream(seed_, Purpose::data_order, random_streams_.at(id.value), cursor.next_pass++);
      cursor.order = random_permutation(stream, static_cast<std::uint32_t>(cursor.data.size()));
      cursor.position = 0;
    }
    samples.push_back(cursor.data[cursor.order[cursor.position++]]);
  }
  return samples;
}

}  // namespace paceline::kernels
