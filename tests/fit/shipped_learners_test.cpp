#include <filesystem>

#include <doctest/doctest.h>

#include "sim/learning/statistical_model.hpp"

using namespace paceline;

TEST_CASE(
    "the shipped learners are readable, fitted to recorded runs, and train within the ranges they name") {
  int learners = 0;
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(PACELINE_SOURCE_DIR) /
                                                               "scenarios" / "learners")) {
    if (entry.path().extension() != ".json") continue;
    INFO(entry.path().string());
    ++learners;
    const StatisticalModel model = read_statistical_model(entry.path());
    CHECK(model.source == LearnerSource::recorded);
    CHECK(model.form->name == "relaxation");
    // The whole workload at the rate of one asynchronous gradient, dropped at the half.
    const auto form = model.form->make(model.values, {.classes = model.classes, .effects = {}, .seed = {}});
    const auto updates = static_cast<int>(model.validity.samples_max / model.validity.update_samples_min);
    const SeenGradient gradient{model.validity.update_samples_min, 1.0, 7.0};
    for (int u = 0; u < updates; ++u) form->advance({{&gradient, 1}, 2 * u < updates ? 0.1 : 0.01, 0.9});
    CHECK(form->read().accuracy > 0.65);
    CHECK(form->read().accuracy < 0.92);
  }
  CHECK(learners >= 2);
}
