// What local steps do to a statistical learner.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "sim/base/atomic_file.hpp"
#include "sim/learning/statistical_learner.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace paceline;

namespace {

constexpr std::uint64_t workers = 4;
constexpr std::int64_t batch = 32;
constexpr Hyperparameters inner{0.02, 0.9};

StatisticalModel model_with_drift() {
  StatisticalModel model;
  model.name = "small";
  model.form = find_form("relaxation");
  for (const FormParameter& parameter : model.form->parameters) model.values.push_back(parameter.initial);
  model.values.back() = 0.5;  // drift
  model.spread = {0.01, 0.3, 0.2};
  model.noise = {0.5, 1.0, 0.001};
  model.validity = {
      .workers_max = 8.0, .learning_rate_max = 0.1, .samples_max = 1e5, .local_steps_max = 64.0};
  return model;
}

std::vector<WeightedGradient> round_of(std::uint64_t round) {
  std::vector<WeightedGradient> all;
  for (std::uint64_t w = 0; w < workers; ++w)
    all.push_back({GradientId{round * workers + w}, WorkerId{w}, 1.0 / workers});
  return all;
}

// Of `servers` with a part of the parameters each.
std::vector<double> trained_locally(const StatisticalModel& model, std::int64_t steps, std::uint64_t rounds,
                                    std::uint32_t servers = 1) {
  StatisticalLearner learner(model, workers, servers, {7, 0});
  std::vector<double> accuracies;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const std::vector<WeightedGradient> differences = round_of(round);
    for (const WeightedGradient& one : differences) {
      learner.train_locally(one.worker, batch, steps, inner);
      learner.hold_difference(one.worker, one.gradient, {});
    }
    for (std::uint32_t s = 0; s < servers; ++s) learner.merge(ServerId{s}, differences, {});
    accuracies.push_back(learner.evaluate()->accuracy);
  }
  return accuracies;
}

}  // namespace

TEST_CASE("one local step is a step of BSP to a statistical learner, whatever the drift, to the last digit") {
  const StatisticalModel model = model_with_drift();
  StatisticalLearner learner(model, workers, 1, {7, 0});
  std::vector<double> synchronous;
  for (std::uint64_t round = 0; round < 500; ++round) {
    const std::vector<WeightedGradient> gradients = round_of(round);
    for (const WeightedGradient& one : gradients) learner.compute(one.worker, batch, one.gradient);
    learner.apply(ServerId{0}, gradients, inner);
    synchronous.push_back(learner.evaluate()->accuracy);
  }
  CHECK(trained_locally(model, 1, 500) == synchronous);
  CHECK(trained_locally(model, 1, 500, 2) == synchronous);
}

TEST_CASE("a round of H local steps is H updates whose gradients have taken 0, 1, … H - 1 steps alone") {
  StatisticalModel model = model_with_drift();
  model.spread = {};
  model.noise = {};
  const auto form = model.form->make(model.values, {});
  std::vector<double> expected;
  for (int round = 0; round < 100; ++round) {
    for (int step = 0; step < 8; ++step) {
      const std::vector<SeenGradient> gradients(workers,
                                                {batch, 1.0 / workers, 0.0, static_cast<double>(step)});
      form->advance({gradients, inner.learning_rate, inner.momentum});
    }
    expected.push_back(form->read().accuracy);
  }
  CHECK(trained_locally(model, 8, 100) == expected);
  // Without drift H steps of k workers are H steps of BSP; with it they reach less.
  StatisticalModel without = model;
  without.values.back() = without.form->parameters.back().lower;
  CHECK(trained_locally(without, 8, 100).back() ==
        doctest::Approx(trained_locally(without, 1, 800).back()).epsilon(1e-4));
  CHECK(trained_locally(model, 8, 100)[50] < trained_locally(without, 8, 100)[50]);
}

TEST_CASE("work that is called off leaves nothing behind") {
  StatisticalLearner learner(model_with_drift(), workers, 1, {7, 0});
  learner.train_locally(WorkerId{0}, batch, 4, inner);
  learner.hold_difference(WorkerId{0}, GradientId{0}, {});
  learner.discard(GradientId{0});
  CHECK_THROWS(learner.discard(GradientId{0}));
  CHECK_THROWS(learner.hold_difference(WorkerId{0}, GradientId{1}, {}));
  CHECK_THROWS(learner.merge(ServerId{0}, {}, {.learning_rate = 0.7}));
}

TEST_CASE("a learner file of version 5 knows no local steps, a later one keeps them") {
  StatisticalModel model = model_with_drift();
  model.members = {model.values};
  const test::TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "learner.json";
  std::string text = statistical_model_json(model);
  write_file_atomically(file, text);
  const StatisticalModel kept = read_statistical_model(file);
  CHECK(kept.values == model.values);
  CHECK(kept.validity.local_steps_max == 64.0);
  const auto without = [&](const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    text.replace(at, from.size(), to);
  };
  without("\"version\": 7", "\"version\": 5");
  without(",\n    \"drift\": 0.5", "");
  without(",\n      0.5\n    ]", "\n    ]");  // the last of the member
  without(",\n    \"local_steps_max\": 64.0", "");
  write_file_atomically(file, text);
  const StatisticalModel before = read_statistical_model(file);
  CHECK(before.values.back() == drift_parameter.lower);
  CHECK(before.members.front() == before.values);
  CHECK(before.validity.local_steps_max == 0.0);
}

TEST_CASE("local steps stand among the ranges of a learner where it, or the job, has any") {
  StatisticalModel model = model_with_drift();
  LearnerValidity use;
  const auto row = [&]() -> std::optional<ValidityRow> {
    for (const ValidityRow& one : validity_rows(model, use))
      if (one.quantity == "local steps") return one;
    return std::nullopt;
  };
  CHECK(row()->validity() == Validity::inside);
  use.local_steps_max = 65.0;
  CHECK(row()->validity() == Validity::near);
  use.local_steps_max = 1000.0;
  CHECK(row()->validity() == Validity::outside);
  use.local_steps_max = model.validity.local_steps_max = 0.0;
  CHECK_FALSE(row().has_value());
}
