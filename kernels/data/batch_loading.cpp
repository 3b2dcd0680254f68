#include <algorithm>

#include "kernels/data/dataset_source.hpp"
#include "kernels/interface/training_step.hpp"
#include "sim/base/random.hpp"

namespace paceline::kernels {

struct BatchLoading::State {
  Dataset data;
  RandomStream order{Seed{}, Purpose::data_order};
  std::vector<std::uint32_t> samples{};
  Batch batch{};
};

BatchLoading::BatchLoading(const DatasetSource& source)
    : state_(std::make_unique<State>(State{load_dataset(source).train})) {}
BatchLoading::~BatchLoading() = default;

const Batch& BatchLoading::load(std::int64_t batch_samples) {
  State& s = *state_;
  s.samples.resize(static_cast<std::size_t>(batch_samples));
  std::ranges::generate(s.samples,
                        [&] { return static_cast<std::uint32_t>(s.order.below(s.data.sample_count())); });
  s.data.fill(s.batch, s.samples);
  return s.batch;
}

std::int64_t BatchLoading::classes() const {
  return state_->data.classes();
}

}  // namespace paceline::kernels
