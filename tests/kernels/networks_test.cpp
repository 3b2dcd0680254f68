#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include <doctest/doctest.h>

#include "kernels/interface/training_step.hpp"
#include "kernels/networks/network.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/base/random.hpp"

using namespace paceline;
using namespace paceline::kernels;

namespace {

Batch random_batch(std::int64_t samples, std::int64_t classes) {
  RandomStream stream(Seed{}, Purpose::test);
  Batch batch;
  for (std::int64_t i = 0; i < samples * image_values; ++i) {
    batch.pixels.push_back(static_cast<float>(stream.normal(0.0, 1.0)));
  }
  for (std::int64_t i = 0; i < samples; ++i) batch.labels.push_back(i % classes);
  return batch;
}

constexpr std::int64_t convolution_count(std::int64_t in, std::int64_t out) {
  return 9 * in * out;
}

// 3x3 convolutions without bias, each followed by scale and shift of its channels; a linear layer at the end.
std::int64_t cifar_resnet_count(std::int64_t blocks_per_stage, std::int64_t classes) {
  std::int64_t count = convolution_count(3, 16) + 2 * 16;
  std::int64_t in = 16;
  for (const std::int64_t out : {16, 32, 64}) {
    for (std::int64_t block = 0; block < blocks_per_stage; ++block) {
      count += convolution_count(in, out) + convolution_count(out, out) + 4 * out;
      in = out;
    }
  }
  return count + 64 * classes + classes;
}

}  // namespace

TEST_CASE("parameter counts follow from the layers") {
  // linear: inputs · outputs + outputs; convolution with bias: 9 · in · out + out
  CHECK(network_facts("mlp").parameter_count == 3072 * 64 + 64 + 64 * 32 + 32 + 32 * 10 + 10);
  CHECK(network_facts("small-cnn").parameter_count == convolution_count(3, 8) + 8 + convolution_count(8, 16) +
                                                          16 + convolution_count(16, 32) + 32 +
                                                          32 * 4 * 4 * 10 + 10);
  CHECK(network_facts("resnet20").parameter_count == cifar_resnet_count(3, 10));
  CHECK(network_facts("resnet32").parameter_count == cifar_resnet_count(5, 10));
}

TEST_CASE("variables are named in order of creation and sum to the parameters") {
  // Weights and biases of three layers.
  CHECK(network_facts("mlp").variables == std::vector<std::int64_t>{3072 * 64, 64, 64 * 32, 32, 32 * 10, 10});
  const NetworkFacts resnet = network_facts("resnet32");
  CHECK(std::accumulate(resnet.variables.begin(), resnet.variables.end(), std::int64_t{0}) ==
        resnet.parameter_count);
}

TEST_CASE("the residual networks have the published 0.27 and 0.46 million parameters") {
  // He et al. 2016, table 6
  CHECK(std::round(static_cast<double>(network_facts("resnet20").parameter_count) / 1e4) == 27);
  CHECK(std::round(static_cast<double>(network_facts("resnet32").parameter_count) / 1e4) == 46);
}

// All weights are 0 but the centre tap of the first convolution (colour 0 -> channel 0), its batch-norm scale
// and the last layer's weights to class 0: every block then passes its shortcut on, and the logit of class 0
// is the mean of relu(batch-norm(pixel)) over the pixels that two halvings of the image keep, each fourth one
// of 64. In a batch of two images with a single pixel 1, m = 2 / 2048 is the mean, y = (1 − m) / sqrt(m − m²
// + 1e-5) the normalized pixel (all others become negative, so 0), and the logit is y / 64 where the pixel is
// kept.
TEST_CASE("the residual networks halve the image twice, and their shortcuts carry the kept pixels") {
  Network network("resnet20", 10);
  constexpr std::size_t first_scale = 16 * 3 * 9;
  const std::span<float> parameters = network.parameters();
  parameters[4] = 1.0F;
  parameters[first_scale] = 1.0F;
  std::ranges::fill(parameters.last(10 * 64 + 10).first(64), 1.0F);
  Batch batch{.pixels = std::vector<float>(2 * static_cast<std::size_t>(image_values)), .labels = {1, 0}};
  batch.pixels[4 * 32 + 8] = 1.0F;                                           // kept
  batch.pixels[static_cast<std::size_t>(image_values) + 5 * 32 + 9] = 1.0F;  // not kept
  // loss(labels 1, 0) − loss(labels 0, 1) = logit of the first image − logit of the second
  const double loss_of_1_0 = network.score(batch).loss_sum;
  batch.labels = {0, 1};
  const double difference = loss_of_1_0 - network.score(batch).loss_sum;
  constexpr double m = 2.0 / 2048.0;
  CHECK(difference == doctest::Approx((1.0 - m) / std::sqrt(m - m * m + 1e-5) / 64.0).epsilon(1e-4));
}

TEST_CASE("the last layer follows the number of classes") {
  // 90 more classes: 90 more rows of 512 weights and 1 bias
  CHECK(Network("small-cnn", 100).parameter_count() - Network("small-cnn", 10).parameter_count() == 90 * 513);
}

TEST_CASE("an unknown network names the closest one, or all when none is close") {
  CHECK_THROWS_WITH_AS(static_cast<void>(network_facts("resnet23")),
                       doctest::Contains("did you mean `resnet2"), UserError);
  CHECK_THROWS_WITH_AS(static_cast<void>(network_facts("transformer")),
                       doctest::Contains("mlp, small-cnn, alexnet-cifar, vgg11-cifar"), UserError);
}

TEST_CASE("the gradient is the derivative of the loss in a direction") {
  // (f(x + εd) − f(x − εd)) / 2ε = g·d + O(ε²), with d_i = r_i · g_i and random r_i > 0 so that g·d is large
  const Batch batch = random_batch(8, 10);
  for (const char* name : {"mlp", "small-cnn", "resnet20"}) {
    CAPTURE(name);
    Network network(name, 10);
    std::vector<float> start(static_cast<std::size_t>(network.parameter_count()));
    network.initialize(start, {.seed = 2, .replication = 0});
    std::ranges::copy(start, network.parameters().begin());
    network.forward_backward(batch);
    RandomStream stream(Seed{}, Purpose::test, 1);
    std::vector<double> direction;
    double slope = 0.0;
    double square = 0.0;
    for (const float g : network.gradient()) {
      direction.push_back(2.0 * stream.uniform() * g);
      slope += g * direction.back();
      square += direction.back() * direction.back();
    }
    const double epsilon = 2e-3 / std::sqrt(square);  // a step of length 2e-3
    const auto loss_at = [&](double step) {
      for (std::size_t i = 0; i < start.size(); ++i) {
        network.parameters()[i] = static_cast<float>(start[i] + step * direction[i]);
      }
      return network.score(batch).loss_sum / 8.0;
    };
    CHECK((loss_at(epsilon) - loss_at(-epsilon)) / (2.0 * epsilon) == doctest::Approx(slope).epsilon(0.01));
  }
}

TEST_CASE("equal logits give the loss ln(classes)") {
  // All parameters 0: softmax is uniform, so cross-entropy = ln 10 for every label.
  Network network("small-cnn", 10);
  const Batch batch = random_batch(4, 10);
  CHECK(network.score(batch).loss_sum / 4 == doctest::Approx(std::log(10.0)).epsilon(1e-6));
}

TEST_CASE("initial weights have the Kaiming deviation, biases are 0") {
  // First layer of mlp: 3072·64 weights of sd sqrt(2/3072), then 64 zeros.
  Network network("mlp", 10);
  std::vector<float> values(static_cast<std::size_t>(network.parameter_count()));
  network.initialize(values, {.seed = 1, .replication = 1});
  constexpr std::size_t weights = 3072 * 64;
  double squares = 0.0;
  for (std::size_t i = 0; i < weights; ++i) squares += static_cast<double>(values[i]) * values[i];
  // The relative error of an estimated sd is 1/sqrt(2n) = 0.16 %; five times that.
  CHECK(std::sqrt(squares / weights) == doctest::Approx(std::sqrt(2.0 / 3072)).epsilon(0.008));
  for (std::size_t i = weights; i < weights + 64; ++i) REQUIRE(values[i] == 0.0F);
}

TEST_CASE("initial values differ between seeds and between replications") {
  Network network("small-cnn", 10);
  const auto values_of = [&](Seed seed) {
    std::vector<float> values(static_cast<std::size_t>(network.parameter_count()));
    network.initialize(values, seed);
    return values;
  };
  CHECK(values_of({.seed = 1, .replication = 0}) == values_of({.seed = 1, .replication = 0}));
  CHECK(values_of({.seed = 1, .replication = 0}) != values_of({.seed = 1, .replication = 1}));
  CHECK(values_of({.seed = 1, .replication = 0}) != values_of({.seed = 2, .replication = 0}));
}

TEST_CASE("parameter counts are the published ones") {
  // torchvision 0.21 for ImageNet, the released GPT-2 with its embedding counted once, kuangliu's networks
  // for CIFAR
  CHECK(network_facts("resnet18").parameter_count == 11'689'512);
  CHECK(network_facts("resnet50").parameter_count == 25'557'032);
  CHECK(network_facts("alexnet").parameter_count == 61'100'840);
  CHECK(network_facts("vgg11").parameter_count == 132'863'336);
  CHECK(network_facts("gpt2-small").parameter_count == 124'439'808);
  CHECK(network_facts("resnet18-cifar").parameter_count == 11'173'962);
  CHECK(network_facts("resnet50-cifar").parameter_count == 23'520'842);
  CHECK(network_facts("vgg11-cifar").parameter_count == 9'231'114);
  CHECK(network_facts("alexnet-cifar").parameter_count == 2'472'266);
}

TEST_CASE("the count of the small transformer follows from its layers") {
  // embedding 256·d, positions 64·d; each of 4 layers: attention (d·3d + 3d) + (d·d + d), inner (d·4d + 4d) +
  // (4d·d + d), two normalizations 4d; a last normalization 2d
  constexpr std::int64_t d = 128;
  CHECK(network_facts("small-gpt").parameter_count ==
        256 * d + 64 * d + 4 * (3 * d * d + 3 * d + d * d + d + 4 * d * d + 4 * d + 4 * d * d + d + 4 * d) +
            2 * d);
}

TEST_CASE("a network learns from data of the shape it takes, others are measured only") {
  CHECK_THROWS_WITH_AS(Network("resnet18", 10), doctest::Contains("cannot learn here"), UserError);
  CHECK_THROWS_WITH_AS(
      Network("small-gpt", 10),
      doctest::Contains("it takes texts of 64 tokens, and the data set has images of 3x32x32"), UserError);
  CHECK_THROWS_WITH_AS(
      Network("small-cnn", 256, {64}),
      doctest::Contains("it takes images of 3x32x32, and the data set has texts of 64 tokens"), UserError);
  CHECK(Network("resnet18-cifar", 10).parameter_count() == 11'173'962);
  CHECK(Network("small-gpt", 256, {64}).parameter_count() == network_facts("small-gpt").parameter_count);
}

TEST_CASE("every network of moderate size can be stepped at several batches") {
  set_compute_threads(1);
  for (const NetworkSummary& network : list_networks()) {
    CAPTURE(network.name);
    // Built from the same blocks as its smaller forms; seconds of work and gigabytes of memory.
    if (network.name == "gpt2-small" || network.name == "vgg11" || network.name == "alexnet") continue;
    TrainingStep step({network.name}, 2);
    step.forward();
    step.backward();
    step.set_batch(3);
    step.forward();
    step.backward();
    step.optimizer_step();
    step.server_accumulate();
    step.server_step();
  }
}

TEST_CASE("gradients are there one after the other, those of the last layer first, within the iteration") {
  set_compute_threads(1);
  TrainingStep step({"small-cnn"}, 4);
  // A clock that counts how often it was asked: at the beginning, for each gradient, and at the end.
  double asked = 0.0;
  const std::vector<double> times = step.gradient_times([&] { return asked++; });
  const std::size_t variables = network_facts("small-cnn").variables.size();
  REQUIRE(times.size() == variables + 1);
  const std::size_t of_last_layer = variables - 2;
  CHECK(std::max(times[of_last_layer], times[of_last_layer + 1]) == 2.0);
  CHECK(std::min(times[0], times[1]) == static_cast<double>(variables - 1));
  CHECK(times.back() > static_cast<double>(variables));
  // Nothing is left behind: gradients are computed again as before.
  step.forward();
  step.backward();
  CHECK(asked == times.back() + 1.0);
}

TEST_CASE("the software says what it ran on") {
  set_compute_threads(1);
  const KernelSoftware software = kernel_software();
  CHECK(software.threads == 1);
  CHECK(software.libtorch.starts_with("1.13"));
  CHECK(software.blas.find("BLAS") != std::string::npos);
  set_compute_threads(2);
  CHECK(kernel_software().threads == 2);
}
