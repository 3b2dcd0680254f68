// Runs predicted without a cluster: what each source of variation moves, and what it leaves alone.
#include <cmath>
#include <set>
#include <vector>

#include <doctest/doctest.h>

#include "calibrate/learning/prediction.hpp"

using namespace paceline;

namespace {

constexpr SourcesOfVariation nothing{.run = false, .fit = false, .model = false, .cluster = false};

StatisticalModel model_of() {
  StatisticalModel model;
  model.form = find_form("power-law");
  for (const FormParameter& parameter : model.form->parameters)
    model.values.push_back(parameter.name == "scale_samples" ? 1e4 : parameter.initial);
  model.spread = {0.02, 0.1, 0.1};
  model.noise = {0.0, 1.0, 0.005};
  model.model_error = ModelError{0.03, 0.2, 0.1};
  return model;
}

// 400 mini-batches of 4 workers at 0.05 s, evaluated at these positions, a run for each list.
TracedGroup group_with(const std::vector<std::vector<double>>& positions) {
  RunGroup group{"net-4/asp", {}};
  for (const std::vector<double>& of_run : positions) {
    TrainingRun run;
    run.name = run.group = group.name;
    run.plan.workers = 4;
    run.plan.phases = {{false, 400.0}};
    for (const double at : of_run) run.accuracy.push_back({at, 0.5});
    group.runs.push_back(run);
  }
  return trace_groups({group}).front();
}
TracedGroup evaluated_group() {
  return group_with({{100.0, 200.0, 400.0}});
}

const ClockRates rates{std::nullopt, 0.05};

PredictedRuns sets_of(const StatisticalModel& model, const SourcesOfVariation& sources, int sets,
                      const TimeVariation& variation = {}) {
  return predict_sets(model, evaluated_group(), rates, variation,
                      {.sets = sets, .runs_in_set = 3, .sources = sources});
}

// Standard deviation of the logarithms of total times, of the first run of each set.
double deviation_of_times(const PredictedRuns& predicted) {
  std::vector<double> logs;
  for (std::size_t i = 0; i < predicted.runs.size(); i += predicted.runs_in_set)
    logs.push_back(std::log(*predicted.runs[i].total_time_s / 20.0));
  return *deviation_of(logs);
}

// Whether the runs of a set take the same time, and whether all runs do.
bool share_time_in_sets(const PredictedRuns& predicted) {
  for (std::size_t i = 0; i < predicted.runs.size(); ++i)
    if (*predicted.runs[i].total_time_s != *predicted.runs[i - i % predicted.runs_in_set].total_time_s)
      return false;
  return true;
}

// Accuracies in the end that occur, among the runs of the first set and among first runs.
std::size_t ends_in_set(const PredictedRuns& predicted) {
  std::set<double> ends;
  for (std::size_t i = 0; i < predicted.runs_in_set; ++i)
    ends.insert(predicted.runs[i].accuracy.back().value);
  return ends.size();
}
std::size_t ends_of_sets(const PredictedRuns& predicted) {
  std::set<double> ends;
  for (std::size_t i = 0; i < predicted.runs.size(); i += predicted.runs_in_set)
    ends.insert(predicted.runs[i].accuracy.back().value);
  return ends.size();
}

}  // namespace

TEST_CASE("without any source of variation every run is the mean run, at the times of the rates") {
  const StatisticalModel model = model_of();
  const TimeVariation variation{.run = 0.1, .cluster = 0.1, .setting = 0.1};
  const PredictedRuns predicted = sets_of(model, nothing, 4, variation);
  CHECK(predicted.runs.size() == 4 * 3);
  CHECK(predicted.runs_in_set == 3);
  const TracedGroup group = evaluated_group();
  const std::vector<double> positions{100.0, 200.0, 400.0};
  const std::vector<FormReading> mean = predict({model.form, model.values, 0.0}, group, positions);
  for (const PredictedRun& run : predicted.runs) {
    REQUIRE(run.accuracy.size() == 3);
    for (std::size_t i = 0; i < 3; ++i) {
      CHECK(run.accuracy[i].minibatches == positions[i]);
      CHECK(run.accuracy[i].value == mean[i].accuracy);
      CHECK(*run.time_s[i] == doctest::Approx(0.05 * positions[i]));
    }
    CHECK(*run.total_time_s == doctest::Approx(20.0));
  }
}

TEST_CASE("a run has a time and effects of its own, a cluster one time for all runs of a set") {
  const StatisticalModel model = model_of();
  const TimeVariation variation{.run = 0.1, .cluster = 0.2, .setting = 0.3};
  SourcesOfVariation run = nothing;
  run.run = true;
  const PredictedRuns of_runs = sets_of(model, run, 300, variation);
  // The deviation of 300 draws is known within 4 %: three times that.
  CHECK(deviation_of_times(of_runs) == doctest::Approx(0.1).epsilon(0.12));
  CHECK_FALSE(share_time_in_sets(of_runs));
  CHECK(ends_in_set(of_runs) == 3);
  SourcesOfVariation cluster = nothing;
  cluster.cluster = true;
  const PredictedRuns of_clusters = sets_of(model, cluster, 300, variation);
  CHECK(deviation_of_times(of_clusters) == doctest::Approx(0.2).epsilon(0.12));
  CHECK(share_time_in_sets(of_clusters));
  CHECK(ends_of_sets(of_clusters) == 1);
}

TEST_CASE("an error of the form and the setting is shared by a set, and so is the member of the ensemble") {
  StatisticalModel model = model_of();
  const TimeVariation variation{.run = 0.1, .cluster = 0.2, .setting = 0.3};
  SourcesOfVariation error = nothing;
  error.model = true;
  const PredictedRuns of_error = sets_of(model, error, 300, variation);
  CHECK(deviation_of_times(of_error) == doctest::Approx(0.3).epsilon(0.12));
  CHECK(share_time_in_sets(of_error));
  CHECK(ends_in_set(of_error) == 1);
  CHECK(ends_of_sets(of_error) == 300);
  // Two members that end at their own ceilings.
  model.members = {model.values, model.values};
  model.members[1].front() = 0.7;
  SourcesOfVariation fit = nothing;
  fit.fit = true;
  const PredictedRuns of_fit = sets_of(model, fit, 50, variation);
  CHECK(ends_in_set(of_fit) == 1);
  CHECK(ends_of_sets(of_fit) == 2);
  CHECK(deviation_of_times(of_fit) == 0.0);
  // Without the fit as a source they are not asked.
  CHECK(ends_of_sets(sets_of(model, nothing, 50)) == 1);
}

TEST_CASE("predicted runs are evaluated where the recorded ones were, in turn, or 32 times") {
  const StatisticalModel model = model_of();
  const auto first_positions = [&](const std::vector<std::vector<double>>& recorded) {
    const PredictedRuns predicted = predict_sets(model, group_with(recorded), rates, {},
                                                 {.sets = 1, .runs_in_set = 4, .sources = nothing});
    std::vector<double> firsts;
    for (const PredictedRun& run : predicted.runs) firsts.push_back(run.accuracy.front().minibatches);
    return firsts;
  };
  // The second recorded run has too few evaluations to be a curve.
  CHECK(first_positions({{10.0, 20.0, 30.0}, {5.0, 6.0}, {40.0, 50.0, 60.0}}) ==
        std::vector<double>{10.0, 40.0, 10.0, 40.0});
  const PredictedRuns without =
      predict_sets(model, group_with({{}}), rates, {}, {.sets = 1, .runs_in_set = 1, .sources = nothing});
  const Curve& curve = without.runs.front().accuracy;
  REQUIRE(curve.size() == 32);
  CHECK(curve.front().minibatches == 400.0 / 32.0);
  CHECK(curve.back().minibatches == 400.0);
  const FittedLearner learner{{model.form, model.values, 0.0}, {}, {}};
  const PredictedRuns simple = predict_runs(learner, group_with({{5.0, 6.0}, {40.0, 50.0, 60.0}}), rates, 2);
  CHECK(simple.runs.front().accuracy.front().minibatches == 40.0);
}

TEST_CASE("as many runs as asked for differ by the spread and the noise of the learner") {
  const StatisticalModel model = model_of();
  const FittedLearner exact{{model.form, model.values, 0.0}, {}, {}};
  const PredictedRuns alike = predict_runs(exact, evaluated_group(), rates, 5);
  REQUIRE(alike.runs.size() == 5);
  CHECK(*alike.final_deviation() == 0.0);
  CHECK(*alike.runs.back().time_s[1] == doctest::Approx(10.0));
  CHECK(*alike.runs.back().total_time_s == doctest::Approx(20.0));
  // Ceiling 0.02 (times 1 - S, what has been learned) and noise 0.005, both of 400 draws: 3.5 %, three times.
  FittedLearner varied = exact;
  varied.spread.ceiling = 0.02;
  varied.noise = {0.0, 1.0, 0.005};
  const PredictedRuns different = predict_runs(varied, evaluated_group(), rates, 400);
  const std::vector<double> end{400.0};
  const auto ends_at = [&](double offset) {
    return predict(exact.form, evaluated_group(), end, {.ceiling_offset = offset}).front().accuracy;
  };
  const double learned = (ends_at(0.02) - ends_at(0.0)) / 0.02;
  CHECK(*different.final_deviation() == doctest::Approx(std::hypot(0.02 * learned, 0.005)).epsilon(0.11));
}

TEST_CASE("a run whose loss is not finite in the end has no accuracy") {
  // Sixteen workers at a rate at which eight would do: far beyond the limit of exposure.
  TracedGroup group = group_with({{100.0, 200.0, 400.0}});
  const FormDescription& form = *find_form("relaxation");
  FittedLearner learner{{&form, {}, 0.0}, {}, {}};
  for (const FormParameter& parameter : form.parameters)
    learner.form.values.push_back(parameter.name == "exposure_limit"       ? 1.0
                                  : parameter.name == "relaxation_samples" ? 1e3
                                                                           : parameter.initial);
  for (TrainingRun& run : group.group.runs) {
    run.plan.momentum = 0.9;
    run.plan.rate_per_gradient = 1.0;
    run.plan.workers = 16;
    run.plan.phases = {{false, 4000.0}};
  }
  group = trace_groups({group.group}).front();
  const PredictedRuns runs = predict_runs(learner, group, rates, 2);
  CHECK(runs.diverged_share() == 1.0);
  CHECK(runs.runs.front().accuracy.empty());
}
