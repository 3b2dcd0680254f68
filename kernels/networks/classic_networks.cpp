// AlexNet and VGG-11. Dropout is left out: it has no parameters and next to no work.
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
#include "kernels/networks/network_definition.hpp"

namespace paceline::kernels {
namespace {

constexpr std::int64_t hidden_features = 4096;

at::Tensor halved(const at::Tensor& input) {
  return at::max_pool2d(input, {2, 2}, {2, 2});
}

struct VggLayer {
  std::int64_t channels;
  bool then_halved;
};
constexpr std::array vgg11_layers = {VggLayer{64, true},   VggLayer{128, true},  VggLayer{256, false},
                                     VggLayer{256, true},  VggLayer{512, false}, VggLayer{512, true},
                                     VggLayer{512, false}, VggLayer{512, true}};

at::Tensor vgg_features(ParameterSource& parameters, at::Tensor x, bool normalize) {
  for (const VggLayer& layer : vgg11_layers) {
    x = convolution(parameters, x, layer.channels, 1, /*with_bias=*/true);
    if (normalize) x = batch_normalization(parameters, x);
    x = at::relu(x);
    if (layer.then_halved) x = halved(x);
  }
  return x.flatten(1);
}

at::Tensor three_linear_layers(ParameterSource& parameters, at::Tensor x, std::int64_t classes) {
  for (int layer = 0; layer < 2; ++layer) x = at::relu(linear(parameters, x, hidden_features));
  return linear(parameters, x, classes);
}

template <class Pooling>
at::Tensor alexnet_features(ParameterSource& parameters, const at::Tensor& images, std::int64_t first_padding,
                            Pooling pooled) {
  at::Tensor x = convolution(
      parameters, images,
      {.output_channels = 64, .kernel = 11, .stride = 4, .padding = first_padding, .with_bias = true});
  x = pooled(at::relu(x));
  x = convolution(parameters, x, {.output_channels = 192, .kernel = 5, .padding = 2, .with_bias = true});
  x = pooled(at::relu(x));
  for (const std::int64_t channels : {384, 256, 256})
    x = at::relu(convolution(parameters, x, channels, 1, /*with_bias=*/true));
  return pooled(x).flatten(1);
}

}  // namespace

at::Tensor alexnet(ParameterSource& parameters, at::Tensor images, std::int64_t classes) {
  const auto pooled = [](const at::Tensor& input) { return at::max_pool2d(input, {3, 3}, {2, 2}); };
  return three_linear_layers(parameters, alexnet_features(parameters, images, 2, pooled), classes);
}

at::Tensor alexnet_cifar(ParameterSource& parameters, at::Tensor images, std::int64_t classes) {
  return linear(parameters, alexnet_features(parameters, images, 5, halved), classes);
}

at::Tensor vgg11(ParameterSource& parameters, at::Tensor images, std::int64_t classes) {
  return three_linear_layers(parameters, vgg_features(parameters, images, /*normalize=*/false), classes);
}

at::Tensor vgg11_cifar(ParameterSource& parameters, at::Tensor images, std::int64_t classes) {
  return linear(parameters, vgg_features(parameters, images, /*normalize=*/true), classes);
}

}  // namespace paceline::kernels
