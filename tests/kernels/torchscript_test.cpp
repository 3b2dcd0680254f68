// A user's own network, from a TorchScript file written here.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>
#include <vector>

#include <ATen/ops/full.h>
#include <doctest/doctest.h>
#include <torch/csrc/jit/api/module.h>

#include "kernels/networks/network.hpp"
#include "kernels/training/measured_model.hpp"
#include "sim/base/diagnostic.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace paceline;
using namespace paceline::kernels;

namespace {

// logits = weight · pixels + bias over 3x4x4 images, 5 classes
std::string linear_file(const test::TemporaryFolder& folder) {
  torch::jit::Module module("Linear");
  module.register_parameter("weight", at::full({5, 48}, 0.5), false);
  module.register_parameter("bias", at::full({5}, 0.25), false);
  module.define(
      "def forward(self, x):\n  return torch.linear(torch.flatten(x, 1), self.weight, self.bias)\n");
  const std::string path = (folder.path() / "mine.pt").string();
  module.save(path);
  return path;
}

// logits = weight · normalized pixels + bias over 3x32x32 images, 5 classes; keeps averages of what it
// normalizes by, a fifth of them from the newest batch.
std::string normalizing_file(const test::TemporaryFolder& folder) {
  torch::jit::Module module("Normalizing");
  module.register_attribute("training", c10::BoolType::get(), true);
  module.register_buffer("mean", at::full({3}, 0.0));
  module.register_buffer("variance", at::full({3}, 1.0));
  module.register_parameter("weight", at::full({5, 3072}, 0.001), false);
  module.register_parameter("bias", at::full({5}, 0.0), false);
  module.define(
      "def forward(self, x):\n"
      "  y = torch.batch_norm(x, None, None, self.mean, self.variance, self.training, 0.2, 1e-05, False)\n"
      "  return torch.linear(torch.flatten(y, 1), self.weight, self.bias)\n");
  const std::string path = (folder.path() / "normalizing.pt").string();
  module.save(path);
  return path;
}

// Channel c of image i holds i + 10 c everywhere but in its first pixel, which is 1 more.
Batch two_images() {
  Batch batch{.pixels = {}, .labels = {0, 3}};
  for (int i = 0; i < 2; ++i)
    for (int c = 0; c < 3; ++c)
      for (int p = 0; p < 1024; ++p)
        batch.pixels.push_back(static_cast<float>(i + 10 * c) + (p == 0 ? 1.0F : 0.0F));
  return batch;
}

void check_refused(const NetworkChoice& choice, const std::string& part) {
  try {
    static_cast<void>(network_facts(choice));
    FAIL("accepted");
  } catch (const UserError& error) {
    CHECK_MESSAGE(std::string(error.what()).find(part) != std::string::npos, error.what());
  }
}

}  // namespace

TEST_CASE("a TorchScript file is a network: its name, its parameters, its steps") {
  const test::TemporaryFolder folder;
  const NetworkChoice choice{linear_file(folder), {3, 4, 4}, 5};
  const NetworkFacts facts = network_facts(choice);
  CHECK(facts.name == "mine");
  CHECK(facts.parameter_count == 5 * 48 + 5);
  TrainingStep step(choice, 8);
  CHECK(step.parameter_count() == 245);
  step.forward();
  step.backward();
  step.optimizer_step();
  step.server_accumulate();
  step.server_step();
}

TEST_CASE("its parameters lie in the flat vector: writing there changes the logits") {
  const test::TemporaryFolder folder;
  const std::unique_ptr<MeasuredModel> model = load_model({linear_file(folder), {3, 4, 4}, 5});
  const at::Tensor ones = at::full({1, 3, 4, 4}, 1.0);
  CHECK(model->logits(ones)[0][0].item<double>() == doctest::Approx(48 * 0.5 + 0.25));
  for (std::int64_t i = 0; i < 245; ++i) model->flat_parameters.data_ptr<float>()[i] = 2.0F;
  CHECK(model->logits(ones)[0][0].item<double>() == doctest::Approx(48 * 2.0 + 2.0));
}

TEST_CASE("a bad file is refused before anything is measured") {
  const test::TemporaryFolder folder;
  const std::string good = linear_file(folder);
  const std::string bad = (folder.path() / "bad.pt").string();
  std::ofstream(bad) << "not a network";
  check_refused({good}, "--input and --classes are needed");
  check_refused({(folder.path() / "none.pt").string(), {3, 4, 4}, 5}, "no such file");
  check_refused({bad, {3, 4, 4}, 5}, "not a TorchScript file");
  check_refused({good, {3, 5, 5}, 5}, "it fails on an input of shape 2x3x5x5");
  check_refused({good, {3, 4, 4}, 7}, "it makes 2x5 values, not 2x7");
}

TEST_CASE("a TorchScript file is trained: its gradient is the slope of its loss") {
  const test::TemporaryFolder folder;
  Network network(normalizing_file(folder), 5);
  CHECK(network.parameter_count() == 5 * 3072 + 5);
  std::vector<float> values(static_cast<std::size_t>(network.parameter_count()));
  network.initialize(values, Seed{});
  CHECK(values.front() == 0.001F);  // the file's own
  const Batch batch = two_images();
  for (const std::size_t parameter : {std::size_t{0}, std::size_t{5 * 3072 + 3}}) {
    std::ranges::copy(values, network.parameters().begin());
    static_cast<void>(network.forward_backward(batch));
    const double slope = network.gradient()[parameter];
    constexpr float step = 0.01F;
    network.parameters()[parameter] = values[parameter] + step;
    const double above = network.forward_backward(batch);
    network.parameters()[parameter] = values[parameter] - step;
    const double below = network.forward_backward(batch);
    CHECK(slope == doctest::Approx((above - below) / (2.0 * step)).epsilon(0.01));
  }
}

TEST_CASE("what a TorchScript file normalizes by is taken from each batch, and given back for a score") {
  const test::TemporaryFolder folder;
  Network network(normalizing_file(folder), 5);
  CHECK(network.initial_batch_statistics() == std::vector<float>{0, 0, 0, 1, 1, 1});
  std::vector<float> values(static_cast<std::size_t>(network.parameter_count()));
  network.initialize(values, Seed{});
  std::ranges::copy(values, network.parameters().begin());
  const Batch batch = two_images();
  for (int call = 0; call < 3; ++call) {  // however often: nothing of a batch before stays
    static_cast<void>(network.forward_backward(batch));
    // Mean of channel c over both images: 1/2 + 10 c + 1/1024.
    for (std::size_t c = 0; c < 3; ++c)
      CHECK(network.batch_statistics()[c] ==
            doctest::Approx(0.5 + 10.0 * static_cast<double>(c) + 1.0 / 1024.0).epsilon(1e-5));
  }
  // By the averages of this very batch a score is that of the batch; by means of 0 and variances of 1 it
  // is not.
  network.parameters()[0] = 0.5F;
  static_cast<void>(network.forward_backward(batch));
  const std::vector<float> seen(network.batch_statistics().begin(), network.batch_statistics().end());
  CHECK(network.score(batch, seen).loss_sum == doctest::Approx(network.score(batch).loss_sum).epsilon(1e-3));
  const BatchScore plain = network.score(batch, network.initial_batch_statistics());
  CHECK(std::abs(plain.loss_sum - network.score(batch).loss_sum) > 0.01);
}
