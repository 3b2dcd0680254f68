// Coverage of runs that were drawn as the prediction says, and of runs that were not.
#include "calibrate/validation/coverage.hpp"

#include <cmath>

#include <doctest/doctest.h>

#include "calibrate/validation/folds.hpp"

using namespace paceline;

namespace {

StatisticalModel model_with(double ceiling_spread) {
  StatisticalModel model;
  model.name = "made up";
  model.form = find_form("power-law");
  for (const FormParameter& parameter : model.form->parameters) model.values.push_back(parameter.initial);
  model.spread = {ceiling_spread, 0.0, 0.0};
  return model;
}

// Runs whose ends differ by the model's spread, times some factor.
TracedGroup runs_of(const StatisticalModel& model, double factor, std::uint32_t count) {
  RunGroup group{"net-4/asp", {}};
  for (std::uint32_t r = 0; r < count; ++r) {
    TrainingRun run;
    run.name = run.group = group.name;
    run.plan.workers = 4;
    run.plan.phases = {{false, 2000.0}};
    group.runs.push_back(run);
  }
  TracedGroup traced = trace_groups({group}).front();
  const std::vector<double> positions{500.0, 1000.0, 1500.0, 2000.0};
  for (std::uint32_t r = 0; r < count; ++r) {
    TrainingRun& run = traced.group.runs[r];
    RunEffects effects = draw_run_effects(model.spread, {99, r});
    effects.ceiling_offset *= factor;
    const std::vector<FormReading> readings =
        predict({model.form, model.values, 0.0}, traced, positions, effects);
    for (std::size_t i = 0; i < positions.size(); ++i)
      run.accuracy.push_back({positions[i], readings[i].accuracy});
    run.final_accuracy = run.accuracy.back().value;
    run.phases = {{false, 2000.0, 0.05}};
    run.training_time_s = 100.0;
  }
  return traced;
}

const CoverageRow& row_of(const std::vector<CoverageRow>& rows, CoveredQuantity quantity) {
  return *std::find_if(rows.begin(), rows.end(),
                       [&](const CoverageRow& row) { return row.quantity == quantity; });
}

double share_inside(const CoverageRow& row) {
  double inside = 0.0;
  for (const CoveredRun& run : row.runs) inside += run.inside ? 1.0 : 0.0;
  return inside / static_cast<double>(row.runs.size());
}

}  // namespace

TEST_CASE(
    "runs that differ as predicted lie inside nine times of ten, and the ranges are as wide as their "
    "spread") {
  const StatisticalModel model = model_with(0.02);
  const TracedGroup recorded = runs_of(model, 1.0, 200);
  const CoverageRequest request{"policies", "fold", model, {std::nullopt, 0.05}, {}, {}};
  const std::vector<CoverageRow> rows = coverage_of(request, recorded, predicted_sets(request, recorded), {});
  const CoverageRow& final_accuracy = row_of(rows, CoveredQuantity::final_accuracy);
  // 200 Bernoulli draws of 0.9 have a deviation of 0.021, and the range itself is drawn.
  CHECK(share_inside(final_accuracy) == doctest::Approx(0.9).epsilon(0.07));
  CHECK(final_accuracy.relative_width / *final_accuracy.relative_spread ==
        doctest::Approx(1.0).epsilon(0.15));
  // Everything comes from the runs.
  CHECK(final_accuracy.variances[0] > 0.0);
  for (const std::size_t other : {1U, 2U, 3U}) CHECK(final_accuracy.variances[other] < 1e-12);
}

TEST_CASE("runs that differ four times as much lie outside more often than not") {
  const StatisticalModel model = model_with(0.02);
  const TracedGroup recorded = runs_of(model, 4.0, 100);
  const CoverageRequest request{"policies", "fold", model, {std::nullopt, 0.05}, {}, {}};
  const std::vector<CoverageRow> rows = coverage_of(request, recorded, predicted_sets(request, recorded), {});
  // A standard normal lies within 1.645 / 4 with probability 0.32.
  CHECK(share_inside(row_of(rows, CoveredQuantity::final_accuracy)) < 0.5);
}

TEST_CASE("a job time is certain on the same cluster, and not on another like it") {
  const StatisticalModel model = model_with(0.02);
  const TracedGroup recorded = runs_of(model, 1.0, 3);
  const TimeVariation variation{.run = 0.0, .cluster = 0.05, .setting = 0.0};
  const auto width = [&](bool another) {
    const CoverageRequest request{"policies",           "fold",    model,
                                  {std::nullopt, 0.05}, variation, {.cluster = another}};
    const std::vector<CoverageRow> rows =
        coverage_of(request, recorded, predicted_sets(request, recorded), {});
    return row_of(rows, CoveredQuantity::job_time).relative_width;
  };
  CHECK(width(false) < 1e-9);
  // ± 1.645 · 5 %; 40 clusters are drawn.
  CHECK(width(true) == doctest::Approx(2.0 * 1.645 * 0.05).epsilon(0.3));
}

TEST_CASE("nothing that is left out is fitted: policies, runs and campaigns") {
  const auto campaign = [](const char* name) {
    Campaign made{name, {}, {}};
    for (const char* policy : {"bsp", "asp"}) {
      RunGroup group{std::string("net-4/") + policy, {}};
      for (int r = 0; r < 3; ++r) {
        TrainingRun run;
        run.name = group.name + "/run" + std::to_string(r);
        run.group = group.name;
        run.plan.workers = 4;
        run.plan.phases = {{std::string(policy) == "bsp", 400.0}};
        run.final_accuracy = 0.5;
        group.runs.push_back(run);
      }
      made.groups.push_back(group);
    }
    return made;
  };
  std::vector<std::string> notes;
  const std::vector<PlannedFold> folds =
      plan_folds({campaign("net, until May"), campaign("net, from June")}, notes);
  int policies = 0;
  int runs = 0;
  int campaigns = 0;
  for (const PlannedFold& fold : folds) {
    policies += fold.left_out == LeftOut::policies ? 1 : 0;
    runs += fold.left_out == LeftOut::runs ? 1 : 0;
    campaigns += fold.left_out == LeftOut::campaigns ? 1 : 0;
    if (fold.left_out == LeftOut::campaigns) {
      CHECK(fold.campaign != fold.from);
      CHECK(fold.others.empty());
      continue;
    }
    CHECK(fold.others.size() == 1);
    for (const TracedGroup& out : fold.held_out)
      for (const TracedGroup& fitted : fold.fitted) {
        if (fold.left_out == LeftOut::policies) CHECK(out.group.name != fitted.group.name);
        for (const TrainingRun& run : fitted.group.runs) CHECK(run.name != out.group.runs.front().name);
      }
  }
  CHECK(policies == 4);
  CHECK(runs == 6);
  CHECK(campaigns == 2);
  CHECK(notes.empty());
}
