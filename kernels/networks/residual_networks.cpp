// Residual networks for CIFAR and for ImageNet, and the latter with the first layers usual for 32x32 images.
// Source: He et al., "Deep residual learning for image recognition", CVPR 2016: section 4.2 (6n+2 weighted
// layers) and table 1; stride in the 3x3 convolution of a bottleneck, as in torchvision.
#include <array>

#include <ATen/core/Tensor.h>
#include <ATen/ops/add.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/max_pool2d.h>
#include <ATen/ops/relu.h>

#include "kernels/networks/layers.hpp"

namespace paceline::kernels {
namespace {

at::Tensor normalized(ParameterSource& parameters, const at::Tensor& input, const ConvolutionShape& shape) {
  return batch_normalization(parameters, convolution(parameters, input, shape));
}

using Shortcut = at::Tensor (*)(ParameterSource&, const at::Tensor&, std::int64_t channels,
                                std::int64_t stride);

// Where a block halves the image and doubles the channels, its shortcut takes every second pixel and fills
// the new channels with zeros: no parameters ("option A" of the paper).
at::Tensor subsampled(ParameterSource&, const at::Tensor& input, std::int64_t channels, std::int64_t stride) {
  const std::int64_t added = channels - input.size(1);
  if (added == 0) return input;
  const at::Tensor kept = input.slice(2, 0, input.size(2), stride).slice(3, 0, input.size(3), stride);
  return at::constant_pad_nd(kept, {0, 0, 0, 0, added / 2, added - added / 2});
}

// A 1x1 convolution where the shape changes ("option B").
at::Tensor projected(ParameterSource& parameters, const at::Tensor& input, std::int64_t channels,
                     std::int64_t stride) {
  if (stride == 1 && input.size(1) == channels) return input;
  return normalized(parameters, input, {.channels = channels, .kernel = 1, .stride = stride, .padding = 0});
}

template <Shortcut shortcut>
at::Tensor basic_block(ParameterSource& parameters, const at::Tensor& input, std::int64_t channels,
                       std::int64_t stride) {
  at::Tensor x = at::relu(normalized(parameters, input, {.channels = channels, .stride = stride}));
  x = normalized(parameters, x, {.channels = channels});
  return at::relu(at::add(x, shortcut(parameters, input, channels, stride)));
}

at::Tensor bottleneck(ParameterSource& parameters, const at::Tensor& input, std::int64_t channels,
                      std::int64_t stride) {
  constexpr std::int64_t expansion = 4;
  at::Tensor x = at::relu(normalized(parameters, input, {.channels = channels, .kernel = 1, .padding = 0}));
  x = at::relu(normalized(parameters, x, {.channels = channels, .stride = stride}));
  x = normalized(parameters, x, {.channels = expansion * channels, .kernel = 1, .padding = 0});
  return at::relu(at::add(x, projected(parameters, input, expansion * channels, stride)));
}

at::Tensor imagenet_stem(ParameterSource& parameters, const at::Tensor& images, std::int64_t channels) {
  const at::Tensor x =
      normalized(parameters, images, {.channels = channels, .kernel = 7, .stride = 2, .padding = 3});
  return at::max_pool2d(at::relu(x), {3, 3}, {2, 2}, {1, 1});
}

at::Tensor cifar_stem(ParameterSource& parameters, const at::Tensor& images, std::int64_t channels) {
  return at::relu(normalized(parameters, images, {.channels = channels}));
}

using Stem = at::Tensor (*)(ParameterSource&, const at::Tensor&, std::int64_t channels);
using Block = at::Tensor (*)(ParameterSource&, const at::Tensor&, std::int64_t channels, std::int64_t stride);

// Every stage but the first halves the image and doubles the channels.
template <Stem stem, std::int64_t first_channels, Block block, int... blocks_of_stage>
at::Tensor residual_network(ParameterSource& parameters, at::Tensor images, std::int64_t classes) {
  std::int64_t channels = first_channels;
  at::Tensor x = stem(parameters, images, channels);
  for (const int blocks : {blocks_of_stage...}) {
    for (int i = 0; i < blocks; ++i)
      x = block(parameters, x, channels, i == 0 && channels != first_channels ? 2 : 1);
    channels *= 2;
  }
  return linear(parameters, x.mean({2, 3}), classes);
}

constexpr std::array residual_table{
    NetworkDefinition{"resnet20", "residual network of 20 layers for CIFAR (He et al. 2016)",
                      residual_network<cifar_stem, 16, basic_block<subsampled>, 3, 3, 3>},
    NetworkDefinition{"resnet32", "residual network of 32 layers for CIFAR (He et al. 2016)",
                      residual_network<cifar_stem, 16, basic_block<subsampled>, 5, 5, 5>},
    NetworkDefinition{"resnet18-cifar", "ResNet-18 with a 3x3 first layer, for 32x32 images",
                      residual_network<cifar_stem, 64, basic_block<projected>, 2, 2, 2, 2>},
    NetworkDefinition{"resnet50-cifar", "ResNet-50 with a 3x3 first layer, for 32x32 images",
                      residual_network<cifar_stem, 64, bottleneck, 3, 4, 6, 3>},
    NetworkDefinition{"resnet18", "ResNet-18 for ImageNet (He et al. 2016)",
                      residual_network<imagenet_stem, 64, basic_block<projected>, 2, 2, 2, 2>,
                      imagenet_images, imagenet_classes},
    NetworkDefinition{"resnet50", "ResNet-50 for ImageNet (He et al. 2016)",
                      residual_network<imagenet_stem, 64, bottleneck, 3, 4, 6, 3>, imagenet_images,
                      imagenet_classes},
};

}  // namespace

std::span<const NetworkDefinition> residual_networks() {
  return residual_table;
}

}  // namespace paceline::kernels
