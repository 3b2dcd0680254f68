// Residual networks for ImageNet, and the same with the first layers usual for 32x32 images.
// Source: He et al., "Deep residual learning for image recognition", CVPR 2016, table 1; stride in the 3x3
// convolution of a bottleneck, as in torchvision.
#include <array>

#include <ATen/core/Tensor.h>
#include <ATen/ops/add.h>
#include <ATen/ops/max_pool2d.h>
#include <ATen/ops/relu.h>

#include "kernels/networks/layers.hpp"
#include "kernels/networks/network_definition.hpp"

namespace paceline::kernels {
namespace {

using Blocks = std::array<int, 4>;
constexpr Blocks blocks_of_18 = {2, 2, 2, 2};
constexpr Blocks blocks_of_50 = {3, 4, 6, 3};
constexpr std::int64_t bottleneck_expansion = 4;

at::Tensor normalized(ParameterSource& parameters, const at::Tensor& input, const ConvolutionShape& shape) {
  return batch_normalization(parameters, convolution(parameters, input, shape));
}

// A 1x1 convolution where the shape changes, else the input itself.
at::Tensor projected(ParameterSource& parameters, const at::Tensor& input, std::int64_t channels,
                     std::int64_t stride) {
  if (stride == 1 && input.size(1) == channels) return input;
  return normalized(parameters, input,
                    {.output_channels = channels, .kernel = 1, .stride = stride, .padding = 0});
}

at::Tensor basic_block(ParameterSource& parameters, const at::Tensor& input, std::int64_t channels,
                       std::int64_t stride) {
  at::Tensor x = at::relu(normalized(parameters, input, {.output_channels = channels, .stride = stride}));
  x = normalized(parameters, x, {.output_channels = channels});
  return at::relu(at::add(x, projected(parameters, input, channels, stride)));
}

at::Tensor bottleneck(ParameterSource& parameters, const at::Tensor& input, std::int64_t channels,
                      std::int64_t stride) {
  const std::int64_t wide = bottleneck_expansion * channels;
  at::Tensor x =
      at::relu(normalized(parameters, input, {.output_channels = channels, .kernel = 1, .padding = 0}));
  x = at::relu(normalized(parameters, x, {.output_channels = channels, .stride = stride}));
  x = normalized(parameters, x, {.output_channels = wide, .kernel = 1, .padding = 0});
  return at::relu(at::add(x, projected(parameters, input, wide, stride)));
}

using Block = at::Tensor (*)(ParameterSource&, const at::Tensor&, std::int64_t channels, std::int64_t stride);

at::Tensor stages(ParameterSource& parameters, at::Tensor x, Block block, const Blocks& blocks,
                  std::int64_t classes) {
  std::int64_t channels = 64;
  for (const int count : blocks) {
    for (int i = 0; i < count; ++i) x = block(parameters, x, channels, i == 0 && channels != 64 ? 2 : 1);
    channels *= 2;
  }
  return linear(parameters, x.mean({2, 3}), classes);
}

at::Tensor imagenet_stem(ParameterSource& parameters, const at::Tensor& images) {
  const at::Tensor x =
      normalized(parameters, images, {.output_channels = 64, .kernel = 7, .stride = 2, .padding = 3});
  return at::max_pool2d(at::relu(x), {3, 3}, {2, 2}, {1, 1});
}

at::Tensor cifar_stem(ParameterSource& parameters, const at::Tensor& images) {
  return at::relu(normalized(parameters, images, {.output_channels = 64}));
}

}  // namespace

at::Tensor resnet18(ParameterSource& parameters, at::Tensor images, std::int64_t classes) {
  return stages(parameters, imagenet_stem(parameters, images), basic_block, blocks_of_18, classes);
}

at::Tensor resnet50(ParameterSource& parameters, at::Tensor images, std::int64_t classes) {
  return stages(parameters, imagenet_stem(parameters, images), bottleneck, blocks_of_50, classes);
}

at::Tensor resnet18_cifar(ParameterSource& parameters, at::Tensor images, std::int64_t classes) {
  return stages(parameters, cifar_stem(parameters, images), basic_block, blocks_of_18, classes);
}

at::Tensor resnet50_cifar(ParameterSource& parameters, at::Tensor images, std::int64_t classes) {
  return stages(parameters, cifar_stem(parameters, images), bottleneck, blocks_of_50, classes);
}

}  // namespace paceline::kernels
