#include "kernels/interface/batch_loading.hpp"

#include <algorithm>
#include <vector>

#include "kernels/data/dataset_source.hpp"
#include "sim/base/random.hpp"

namespace paceline::kernels {

struct BatchLoading::State {
  Dataset data;
  RandomStream order{Seed{}, Purpose::data_order};
  std::vector<std::uint32_t> samples{};
  std::vector<float> pixels{};
  std::vector<std::int64_t> labels{};
};

BatchLoading::BatchLoading(const DatasetSource& source)
    : state_(std::make_unique<State>(State{load_dataset(source).train})) {}
BatchLoading::~BatchLoading() = default;

void BatchLoading::load(std::int64_t batch_samples) {
  State& s = *state_;
  s.samples.resize(static_cast<std::size_t>(batch_samples));
  std::ranges::generate(s.samples,
                        [&] { return static_cast<std::uint32_t>(s.order.below(s.data.sample_count())); });
  s.pixels.resize(s.samples.size() * static_cast<std::size_t>(image_values));
  s.labels.resize(s.samples.size());
  s.data.fill(s.samples, s.pixels, s.labels);
}

}  // namespace paceline::kernels
