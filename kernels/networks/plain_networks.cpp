// Networks without shortcuts: multilayer perceptron, small CNN, AlexNet and VGG-11. Dropout is left out: it
// has no parameters and next to no work.
// Source: Krizhevsky, "One weird trick for parallelizing convolutional neural networks", 2014 (the one-column
// AlexNet of torchvision); Simonyan and Zisserman, "Very deep convolutional networks", ICLR 2015,
// configuration A. The 32x32 form of VGG-11 has batch normalization and a single linear layer, as is usual
// for CIFAR; that of AlexNet pads its first convolution by 5, pools 2x2 and ends in a single linear layer,
// like the usual CIFAR version of 2.47 M parameters.
#include <array>

#include <ATen/core/Tensor.h>
#include <ATen/ops/max_pool2d.h>
#include <ATen/ops/relu.h>

#include "kernels/networks/layers.hpp"

namespace paceline::kernels {
namespace {

at::Tensor mlp(ParameterSource& parameters, at::Tensor images, std::int64_t classes) {
  at::Tensor x = images.flatten(1);
  for (const std::int64_t features : {64, 32}) x = at::relu(linear(parameters, x, features));
  return linear(parameters, x, classes);
}

// No batch normalization, so that parameters of different staleness combine without hidden state.
at::Tensor small_cnn(ParameterSource& parameters, at::Tensor x, std::int64_t classes) {
  for (const std::int64_t channels : {8, 16, 32})
    x = at::relu(convolution(parameters, x, {.channels = channels, .stride = 2, .with_bias = true}));
  return linear(parameters, x.flatten(1), classes);
}

at::Tensor three_linear_layers(ParameterSource& parameters, at::Tensor x, std::int64_t classes) {
  for (int layer = 0; layer < 2; ++layer) x = at::relu(linear(parameters, x, 4096));
  return linear(parameters, x, classes);
}

at::Tensor halved(const at::Tensor& input) {
  return at::max_pool2d(input, {2, 2}, {2, 2});
}
at::Tensor pooled_by_three(const at::Tensor& input) {
  return at::max_pool2d(input, {3, 3}, {2, 2});
}

template <std::int64_t first_padding, at::Tensor pooled(const at::Tensor&), ForwardFunction classified>
at::Tensor alexnet(ParameterSource& parameters, at::Tensor x, std::int64_t classes) {
  x = convolution(parameters, x,
                  {.channels = 64, .kernel = 11, .stride = 4, .padding = first_padding, .with_bias = true});
  x = pooled(at::relu(x));
  x = convolution(parameters, x, {.channels = 192, .kernel = 5, .padding = 2, .with_bias = true});
  x = pooled(at::relu(x));
  for (const std::int64_t channels : {384, 256, 256})
    x = at::relu(convolution(parameters, x, {.channels = channels, .with_bias = true}));
  return classified(parameters, pooled(x).flatten(1), classes);
}

template <bool normalizes, ForwardFunction classified>
at::Tensor vgg11(ParameterSource& parameters, at::Tensor x, std::int64_t classes) {
  struct Layer {
    std::int64_t channels;
    bool then_halved;
  };
  constexpr std::array<Layer, 8> layers{{{64, true},
                                         {128, true},
                                         {256, false},
                                         {256, true},
                                         {512, false},
                                         {512, true},
                                         {512, false},
                                         {512, true}}};
  for (const Layer& layer : layers) {
    x = convolution(parameters, x, {.channels = layer.channels, .with_bias = true});
    if (normalizes) x = batch_normalization(parameters, x);
    x = at::relu(x);
    if (layer.then_halved) x = halved(x);
  }
  return classified(parameters, x.flatten(1), classes);
}

at::Tensor one_linear_layer(ParameterSource& parameters, at::Tensor x, std::int64_t classes) {
  return linear(parameters, x, classes);
}

constexpr std::array plain_table{
    NetworkDefinition{"mlp", "multilayer perceptron 3072-64-32, for the cost of dense layers", mlp},
    NetworkDefinition{"small-cnn",
                      "three strided 3x3 convolutions 8-16-32 and a linear layer, for the quickstart",
                      small_cnn},
    NetworkDefinition{"alexnet-cifar", "AlexNet with one linear layer, for 32x32 images",
                      alexnet<5, halved, one_linear_layer>},
    NetworkDefinition{"vgg11-cifar", "VGG-11 with batch normalization and one linear layer, for 32x32 images",
                      vgg11<true, one_linear_layer>},
    NetworkDefinition{"alexnet", "AlexNet for ImageNet, one column (Krizhevsky 2014)",
                      alexnet<2, pooled_by_three, three_linear_layers>, imagenet_images, imagenet_classes},
    NetworkDefinition{"vgg11", "VGG-11 for ImageNet (Simonyan and Zisserman 2015)",
                      vgg11<false, three_linear_layers>, imagenet_images, imagenet_classes},
};

}  // namespace

std::span<const NetworkDefinition> plain_networks() {
  return plain_table;
}

}  // namespace paceline::kernels
