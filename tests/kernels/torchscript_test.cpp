// A user's own network, from a TorchScript file written here.
#include <fstream>
#include <string>

#include <ATen/ops/full.h>
#include <doctest/doctest.h>
#include <torch/csrc/jit/api/module.h>

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
