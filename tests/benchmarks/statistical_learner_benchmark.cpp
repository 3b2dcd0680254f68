// Time of one update of the statistical learner, for every form: 8 asynchronous workers, one server.
// Not a test: prints, asserts nothing. Run: build/tests/benchmark_statistical_learner
#include <chrono>
#include <vector>

#include <fmt/format.h>

#include "sim/learning/statistical_learner.hpp"

int main() {
  using namespace paceline;
  constexpr std::uint64_t workers = 8;
  constexpr std::uint64_t updates = 200'000;
  for (const FormDescription& form : learning_forms()) {
    StatisticalModel model;
    model.form = &form;
    for (const FormParameter& parameter : form.parameters) model.values.push_back(parameter.initial);
    StatisticalLearner learner(model, workers, 1, {1, 0});
    for (std::uint64_t w = 0; w < workers; ++w) {
      learner.compute(WorkerId{w}, 128, GradientId{w});
    }
    const auto start = std::chrono::steady_clock::now();
    for (std::uint64_t u = 0; u < updates; ++u) {
      const WorkerId worker{u % workers};
      const WeightedGradient gradient{GradientId{u}, worker, 1.0, workers - 1.0};
      learner.apply(ServerId{0}, {&gradient, 1}, {0.01, 0.9});
      learner.compute(worker, 128, GradientId{u + workers});
    }
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    fmt::print("{:<12} {:.3f} us per update\n", form.name,
               1e6 * elapsed.count() / static_cast<double>(updates));
  }
}
