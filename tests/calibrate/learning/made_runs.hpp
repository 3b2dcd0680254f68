// Runs that a form with known parameters made, without noise.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "calibrate/learning/model_fit.hpp"

namespace paceline::test {

// Four workers, a batch of 128, the rate dropped after 2,000 and 3,000 mini-batches, evaluated every 50.
inline RunGroup made_by(const FittedForm& truth, const std::string& name, std::vector<PlanPhase> phases,
                        double rate_per_gradient = 0.1) {
  TrainingRun run;
  run.name = run.group = name;
  run.plan.workers = 4;
  run.plan.rate_per_gradient = rate_per_gradient;
  run.plan.momentum = 0.9;
  run.plan.phases = std::move(phases);
  run.plan.drops_minibatches = {2000.0, 3000.0};
  const TracedGroup traced = trace_groups({RunGroup{name, {run}}}).front();
  std::vector<double> positions;
  for (double at = 50.0; at <= 4000.0; at += 50.0) positions.push_back(at);
  const std::vector<FormReading> readings = predict(truth, traced, positions);
  for (std::size_t i = 0; i < positions.size(); ++i) {
    run.accuracy.push_back({positions[i], readings[i].accuracy});
    run.loss.push_back({positions[i], readings[i].loss});
  }
  run.final_accuracy = readings.back().accuracy;
  return {name, {run}};
}

inline FittedForm known_form() {
  FittedForm truth;
  truth.form = find_form("relaxation");
  for (const FormParameter& parameter : truth.form->parameters) {
    double value = parameter.initial;
    if (parameter.name == "ceiling") value = 0.85;
    if (parameter.name == "staleness_penalty") value = 0.02;
    if (parameter.name == "progress_samples") value = 4e4;
    if (parameter.name == "slowing") value = 0.4;
    if (parameter.name == "relaxation_samples") value = 5e3;
    if (parameter.name == "reference_temperature") value = 0.1 / 128.0 / 0.1;
    truth.values.push_back(value);
  }
  return truth;
}

}  // namespace paceline::test
