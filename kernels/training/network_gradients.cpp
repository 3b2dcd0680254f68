#include "kernels/training/network_gradients.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "kernels/data/dataset_source.hpp"
#include "kernels/interface/training_step.hpp"
#include "sim/base/check.hpp"

namespace paceline::kernels {
namespace {

constexpr std::uint32_t evaluation_batch_samples = 250;

std::vector<std::uint32_t> streams_of(const NetworkLearnerConfig& config) {
  std::vector<std::uint32_t> streams = config.random_streams;
  if (streams.empty()) {
    streams.resize(config.worker_count);
    std::iota(streams.begin(), streams.end(), 0U);
  }
  check(streams.size() == config.worker_count, "each worker has a random stream");
  return streams;
}

}  // namespace

NetworkGradients::NetworkGradients(const NetworkLearnerConfig& config)
    : data_(load_dataset(config.dataset)),
      network_(config.network, data_.train.classes(), data_.train.input_shape()),
      seed_(config.seed),
      random_streams_(streams_of(config)),
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

std::vector<float> NetworkGradients::initial_parameters() const {
  std::vector<float> parameters(static_cast<std::size_t>(network_.parameter_count()));
  network_.initialize(parameters, seed_);
  return parameters;
}

std::vector<float> NetworkGradients::initial_batch_statistics() const {
  return network_.initial_batch_statistics();
}

void NetworkGradients::compute(WorkerId worker, std::int64_t batch_samples,
                               std::span<const float> parameters) {
  check(batch_samples > 0, "a batch has samples");
  std::ranges::copy(parameters, network_.parameters().begin());
  data_.train.fill(batch_, next_samples(worker, batch_samples));
  network_.forward_backward(batch_);
}

void NetworkGradients::seek(WorkerId worker, std::uint64_t samples) {
  SampleCursor& cursor = cursors_.at(worker.value);
  const std::uint64_t pass = samples / cursor.data.size();
  if (cursor.order.empty() || cursor.next_pass != pass + 1) begin_pass(worker.value, pass);
  cursor.position = samples % cursor.data.size();
}

Evaluation NetworkGradients::evaluate(std::span<const float> parameters, std::span<const float> averages) {
  std::ranges::copy(parameters, network_.parameters().begin());
  BatchScore total;
  std::vector<std::uint32_t> samples;
  for (std::uint32_t first = 0; first < data_.test.sample_count(); first += evaluation_batch_samples) {
    samples.resize(std::min(evaluation_batch_samples, data_.test.sample_count() - first));
    std::iota(samples.begin(), samples.end(), first);
    data_.test.fill(batch_, samples);
    const BatchScore score = network_.score(batch_, averages);
    total.loss_sum += score.loss_sum;
    total.correct += score.correct;
    total.labels += score.labels;
  }
  const auto count = static_cast<double>(total.labels);
  return {.loss = total.loss_sum / count, .accuracy = static_cast<double>(total.correct) / count};
}

void NetworkGradients::begin_pass(std::uint64_t worker, std::uint64_t pass) {
  SampleCursor& cursor = cursors_.at(worker);
  const RandomStream stream(seed_, Purpose::data_order, random_streams_.at(worker), pass);
  cursor.order = random_permutation(stream, static_cast<std::uint32_t>(cursor.data.size()));
  cursor.position = 0;
  cursor.next_pass = pass + 1;
}

std::vector<std::uint32_t> NetworkGradients::next_samples(WorkerId id, std::int64_t batch_samples) {
  SampleCursor& cursor = cursors_.at(id.value);
  std::vector<std::uint32_t> samples;
  while (std::ssize(samples) < batch_samples) {
    if (cursor.position == cursor.order.size()) begin_pass(id.value, cursor.next_pass);
    samples.push_back(cursor.data[cursor.order[cursor.position++]]);
  }
  return samples;
}

}  // namespace paceline::kernels
