#include "kernels/training/batch_statistics.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros.h>

#include "kernels/data/dataset.hpp"

namespace paceline::kernels {
namespace {

class ChannelRecorder final : public ParameterSource {
 public:
  at::Tensor next(const ParameterDeclaration& declaration) override { return at::zeros(declaration.shape); }
  BatchStatistics statistics(std::int64_t layer_channels) override {
    channels.push_back(layer_channels);
    return {};
  }
  std::vector<std::int64_t> channels;
};

}  // namespace

std::vector<std::int64_t> normalized_channels(const NetworkDefinition& definition, std::int64_t classes) {
  const at::NoGradGuard no_gradient;
  ChannelRecorder recorder;
  definition.forward(recorder, at::zeros({1, image_channels, image_size, image_size}), classes);
  return std::move(recorder.channels);
}

BatchStatistics StatisticsSource::statistics(std::int64_t channels) {
  const std::int64_t first = position_;
  position_ += 2 * channels;
  return {.mean = statistics_.slice(0, first, first + channels),
          .variance = statistics_.slice(0, first + channels, position_),
          .training = training_};
}

}  // namespace paceline::kernels
