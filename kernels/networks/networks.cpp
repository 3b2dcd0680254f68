#include <array>

#include <ATen/core/Tensor.h>
#include <ATen/ops/add.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/relu.h>

#include "kernels/networks/layers.hpp"
#include "kernels/networks/network_definition.hpp"

namespace paceline::kernels {
namespace {

// Where a block halves the image and doubles the channels, its shortcut takes every second pixel and fills
// the new channels with zeros: no parameters ("option A" of the paper).
at::Tensor shortcut(const at::Tensor& input, std::int64_t channels, std::int64_t stride) {
  const std::int64_t added = channels - input.size(1);
  if (added == 0) return input;
  const at::Tensor subsampled = input.slice(2, 0, input.size(2), stride).slice(3, 0, input.size(3), stride);
  return at::constant_pad_nd(subsampled, {0, 0, 0, 0, added / 2, added - added / 2});
}

at::Tensor residual_block(ParameterSource& parameters, const at::Tensor& input, std::int64_t channels,
                          std::int64_t stride) {
  at::Tensor x = convolution(parameters, input, channels, stride, /*with_bias=*/false);
  x = at::relu(batch_normalization(parameters, x));
  x = convolution(parameters, x, channels, 1, /*with_bias=*/false);
  x = batch_normalization(parameters, x);
  return at::relu(at::add(x, shortcut(input, channels, stride)));
}

// He et al., "Deep residual learning for image recognition", CVPR 2016, section 4.2: 6n+2 weighted layers.
at::Tensor cifar_resnet(ParameterSource& parameters, const at::Tensor& images, std::int64_t classes,
                        int blocks_per_stage) {
  at::Tensor x = convolution(parameters, images, 16, 1, /*with_bias=*/false);
  x = at::relu(batch_normalization(parameters, x));
  for (const std::int64_t channels : {16, 32, 64}) {
    for (int block = 0; block < blocks_per_stage; ++block) {
      const bool halves = block == 0 && channels != 16;
      x = residual_block(parameters, x, channels, halves ? 2 : 1);
    }
  }
  return linear(parameters, x.mean({2, 3}), classes);
}

constexpr std::int64_t imagenet_classes = 1000;
constexpr ImageInput imagenet{224};
constexpr std::int64_t bytes = 256;
constexpr std::int64_t gpt2_vocabulary = 50257;

constexpr std::array registry{
    NetworkDefinition{"mlp", "multilayer perceptron 3072-64-32, for the cost of dense layers", mlp},
    NetworkDefinition{"small-cnn",
                      "three strided 3x3 convolutions 8-16-32 and a linear layer, for the quickstart",
                      small_cnn},
    NetworkDefinition{"resnet20", "residual network of 20 layers for CIFAR (He et al. 2016)", resnet20},
    NetworkDefinition{"resnet32", "residual network of 32 layers for CIFAR (He et al. 2016)", resnet32},
    NetworkDefinition{"resnet18-cifar", "ResNet-18 with a 3x3 first layer, for 32x32 images", resnet18_cifar},
    NetworkDefinition{"resnet50-cifar", "ResNet-50 with a 3x3 first layer, for 32x32 images", resnet50_cifar},
    NetworkDefinition{"alexnet-cifar", "AlexNet with one linear layer, for 32x32 images", alexnet_cifar},
    NetworkDefinition{"vgg11-cifar", "VGG-11 with batch normalization and one linear layer, for 32x32 images",
                      vgg11_cifar},
    NetworkDefinition{"resnet18", "ResNet-18 for ImageNet (He et al. 2016)", resnet18, imagenet,
                      imagenet_classes},
    NetworkDefinition{"resnet50", "ResNet-50 for ImageNet (He et al. 2016)", resnet50, imagenet,
                      imagenet_classes},
    NetworkDefinition{"alexnet", "AlexNet for ImageNet, one column (Krizhevsky 2014)", alexnet, imagenet,
                      imagenet_classes},
    NetworkDefinition{"vgg11", "VGG-11 for ImageNet (Simonyan and Zisserman 2015)", vgg11, imagenet,
                      imagenet_classes},
    NetworkDefinition{"small-gpt", "transformer of 4 layers and 128 features over 64 bytes of text",
                      small_gpt, TokenInput{64}, bytes},
    NetworkDefinition{"gpt2-small",
                      "GPT-2 of 12 layers and 768 features over 64 tokens (Radford et al. 2019)", gpt2_small,
                      TokenInput{64}, gpt2_vocabulary},
};

}  // namespace

std::span<const NetworkDefinition> network_registry() {
  return registry;
}

at::Tensor mlp(ParameterSource& parameters, at::Tensor images, std::int64_t classes) {
  at::Tensor x = images.flatten(1);
  for (const std::int64_t features : {64, 32}) x = at::relu(linear(parameters, x, features));
  return linear(parameters, x, classes);
}

// No batch normalization, so that parameters of different staleness combine without hidden state.
at::Tensor small_cnn(ParameterSource& parameters, at::Tensor images, std::int64_t classes) {
  at::Tensor x = images;
  for (const std::int64_t channels : {8, 16, 32}) {
    x = at::relu(convolution(parameters, x, channels, 2, /*with_bias=*/true));
  }
  return linear(parameters, x.flatten(1), classes);
}

at::Tensor resnet20(ParameterSource& parameters, at::Tensor images, std::int64_t classes) {
  return cifar_resnet(parameters, images, classes, 3);
}

at::Tensor resnet32(ParameterSource& parameters, at::Tensor images, std::int64_t classes) {
  return cifar_resnet(parameters, images, classes, 5);
}

}  // namespace paceline::kernels
