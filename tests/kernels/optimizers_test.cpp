// Our optimizers against those of LibTorch, which nobody here wrote: same parameters, same gradients.
#include <array>
#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/tensor.h>
#include <doctest/doctest.h>
#include <torch/optim/adamw.h>
#include <torch/optim/sgd.h>

#include "sim/base/random.hpp"
#include "sim/learning/parameter_store.hpp"
#include "tests/kernels/relative_difference.hpp"

using namespace paceline;
using paceline::test::relative_difference;

namespace {

constexpr std::size_t values = 1000;
constexpr std::uint64_t steps = 50;
constexpr WorkerId worker{0};
// Every step rounds each value a few times: 50 · 4 roundings of 6e-8, in both.
constexpr double tolerance = 1e-5;

std::vector<float> drawn(std::uint64_t index) {
  RandomStream stream({.seed = 5, .replication = 0}, Purpose::data_order, 0, index);
  std::vector<float> all(values);
  for (float& value : all) value = static_cast<float>(stream.normal(0.0, 1.0));
  return all;
}

// A rate that falls, as under a schedule.
double rate_at(std::uint64_t step) {
  return 0.01 / (1.0 + 0.1 * static_cast<double>(step));
}

// How one of ours takes a step along a gradient, and where it stands.
struct Ours {
  ParameterStore store;
  std::span<const float> (*after)(ParameterStore&, std::uint64_t step, std::vector<float> gradient);
};

std::span<const float> at_server(ParameterStore& store, std::uint64_t step, std::vector<float> gradient) {
  store.pull(worker, ServerId{0});
  store.hold(worker, GradientId{step}, std::move(gradient));
  store.apply(ServerId{0}, std::array{WeightedGradient{GradientId{step}, worker}},
              {.learning_rate = rate_at(step), .momentum = 0.9});
  return store.global();
}

std::span<const float> locally(ParameterStore& store, std::uint64_t step, std::vector<float> gradient) {
  store.begin_local_training(worker);
  store.step_locally(worker, std::move(gradient), {.learning_rate = rate_at(step), .momentum = 0.9});
  return store.copy_of(worker);
}

// A local step of plain descent at a rate of 1 makes the gradient the difference that the outer step follows.
std::span<const float> outer(ParameterStore& store, std::uint64_t step, std::vector<float> gradient) {
  store.pull(worker, ServerId{0});
  store.begin_local_training(worker);
  store.step_locally(worker, std::move(gradient), {.learning_rate = 1.0, .momentum = 0.0});
  store.hold_difference(worker, GradientId{step}, {});
  store.merge(ServerId{0}, std::array{WeightedGradient{GradientId{step}, worker}},
              {.learning_rate = rate_at(step), .momentum = 0.9, .nesterov = true});
  return store.global();
}

template <class Options>
void check_against(torch::optim::Optimizer& oracle, at::Tensor& parameters, Ours ours) {
  for (std::uint64_t step = 0; step < steps; ++step) {
    CAPTURE(step);
    std::vector<float> gradient = drawn(1 + step);
    parameters.mutable_grad() = at::from_blob(gradient.data(), {std::ssize(gradient)}).clone();
    static_cast<Options&>(oracle.param_groups().front().options()).lr(rate_at(step));
    oracle.step();
    const std::span<const float> expected{parameters.data_ptr<float>(), values};
    CHECK(relative_difference(ours.after(ours.store, step, std::move(gradient)), expected) < tolerance);
  }
}

at::Tensor start() {
  at::Tensor parameters = at::tensor(drawn(0));
  return parameters.requires_grad_(true);
}

}  // namespace

TEST_CASE("50 steps of AdamW, at a server and of a worker by itself, are those of torch::optim::AdamW") {
  for (const auto after : {at_server, locally}) {
    at::Tensor parameters = start();
    torch::optim::AdamW oracle(
        std::vector{parameters},
        torch::optim::AdamWOptions(1.0).betas({0.8, 0.99}).eps(1e-6).weight_decay(0.3));
    check_against<torch::optim::AdamWOptions>(
        oracle, parameters,
        {ParameterStore(drawn(0), {.worker_count = 1,
                                   .weight_decay = 0.3,
                                   .adamw = AdamW{.beta1 = 0.8, .beta2 = 0.99, .epsilon = 1e-6}}),
         after});
  }
}

TEST_CASE("50 steps of SGD with momentum, at server, worker or alone, are those of torch::optim::SGD") {
  for (const bool nesterov : {false, true})
    for (const MomentumPlace place : {MomentumPlace::server, MomentumPlace::workers})
      for (const auto after : {at_server, locally}) {
        CAPTURE(nesterov);
        at::Tensor parameters = start();
        torch::optim::SGD oracle(
            std::vector{parameters},
            torch::optim::SGDOptions(1.0).momentum(0.9).weight_decay(0.1).nesterov(nesterov));
        check_against<torch::optim::SGDOptions>(
            oracle, parameters,
            {ParameterStore(
                 drawn(0),
                 {.worker_count = 1, .momentum_at = place, .nesterov = nesterov, .weight_decay = 0.1}),
             after});
      }
}

TEST_CASE("50 outer steps are those of torch::optim::SGD with Nesterov on the differences") {
  at::Tensor parameters = start();
  torch::optim::SGD oracle(std::vector{parameters},
                           torch::optim::SGDOptions(1.0).momentum(0.9).nesterov(true));
  check_against<torch::optim::SGDOptions>(oracle, parameters,
                                          {ParameterStore(drawn(0), {.worker_count = 1}), outer});
}
