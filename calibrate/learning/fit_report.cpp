#include "calibrate/learning/fit_report.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "calibrate/learning/ensemble.hpp"
#include "calibrate/learning/recorded_costs.hpp"
#include "calibrate/learning/recorded_layout.hpp"
#include "sim/base/csv.hpp"
#include "sim/base/json.hpp"

namespace paceline {
namespace {

constexpr std::size_t least_groups_to_leave_one_out = 3;

std::vector<Interval> intervals_of(const std::vector<std::vector<double>>& refits) {
  std::vector<Interval> intervals;
  for (std::size_t p = 0; p < refits.front().size(); ++p) {
    std::vector<double> values;
    for (const std::vector<double>& refit : refits) values.push_back(refit[p]);
    std::sort(values.begin(), values.end());
    const std::size_t tail = values.size() / 20;
    intervals.push_back({values[tail], values[values.size() - 1 - tail]});
  }
  return intervals;
}

std::vector<Residual> residuals_of(const FittedLearner& learner, std::span<const TracedGroup> groups) {
  std::vector<Residual> residuals;
  for (const TracedGroup& group : groups) {
    for (const TrainingRun& run : group.group.runs) {
      const std::vector<double> positions = positions_of(run.accuracy);
      const std::vector<FormReading> readings = predict(learner.form, group, positions);
      for (std::size_t i = 0; i < positions.size(); ++i)
        residuals.push_back({run.name, positions[i] / run.plan.workload_minibatches(), run.accuracy[i].value,
                             readings[i].accuracy});
    }
  }
  return residuals;
}

std::vector<HeldOutRow> leave_each_out(const std::vector<RunGroup>& groups, const FitRequest& request,
                                       const std::function<void()>& tick) {
  std::vector<HeldOutRow> rows;
  if (groups.size() < least_groups_to_leave_one_out) return rows;
  for (const RunGroup& out : groups) {
    std::vector<RunGroup> others;
    // All groups of the policy: another learning-rate schedule of it is not a different policy.
    for (const RunGroup& group : groups)
      if (policy_of(group.name) != policy_of(out.name)) others.push_back(group);
    tick();
    if (others.empty()) continue;
    const std::vector<TracedGroup> fitted = trace_groups(others, others);
    const FittedLearner learner = fit_learner(*request.form, fitted, request.options);
    const std::vector<TracedGroup> held_out = trace_groups({out}, others);
    for (HeldOutRow& row : predict_held_out(learner, fitted, held_out, {.thresholds = request.thresholds}))
      rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

LearnerValidity validity_of(std::span<const TracedGroup> groups) {
  const auto widen = [](auto& low, auto& high, auto value) {
    low = std::min(low, value);
    high = std::max(high, value);
  };
  const TrainingPlan& some = groups.front().group.plan();
  LearnerValidity validity{.workers_min = static_cast<double>(some.workers),
                           .workers_max = static_cast<double>(some.workers),
                           .update_samples_min = std::numeric_limits<double>::infinity(),
                           .update_samples_max = 0.0,
                           .momentum_min = some.momentum,
                           .momentum_max = some.momentum};
  for (const TracedGroup& traced : groups) {
    const TrainingPlan& plan = traced.group.plan();
    widen(validity.workers_min, validity.workers_max, static_cast<double>(plan.workers));
    widen(validity.momentum_min, validity.momentum_max, plan.momentum);
    for (const PlanPhase& phase : plan.phases) {
      const double combined = phase.synchronous ? static_cast<double>(plan.workers) : 1.0;
      widen(validity.update_samples_min, validity.update_samples_max, combined * plan.batch_samples);
      validity.learning_rate_max = std::max(
          validity.learning_rate_max, (phase.local_steps > 0 ? 1.0 : combined) * plan.rate_per_gradient);
      validity.local_steps_max = std::max(validity.local_steps_max, static_cast<double>(phase.local_steps));
    }
    validity.staleness_max = std::max(validity.staleness_max, traced.trace->largest_staleness());
    validity.samples_max = std::max(validity.samples_max, plan.workload_minibatches() * plan.batch_samples);
  }
  return validity;
}

StatisticalModel model_of(const FittedLearner& learner, std::span<const TracedGroup> groups,
                          const std::string& name, const Identity& identity) {
  StatisticalModel model;
  model.name = name;
  model.identity = identity;
  model.source = LearnerSource::recorded;
  for (const TracedGroup& group : groups) model.fitted_on.push_back(group.group.name);
  model.form = learner.form.form;
  model.values = learner.form.values;
  model.classes = groups.front().group.runs.front().classes;
  model.spread = learner.spread;
  model.noise = learner.noise;
  model.validity = validity_of(groups);
  return model;
}

FitReport fit_and_report(const std::vector<RunGroup>& groups, const FitRequest& request,
                         const std::function<void(double)>& on_progress) {
  const std::vector<TracedGroup> traced = trace_groups(groups, groups);
  const double steps = 1.0 + static_cast<double>(traced.size() + static_cast<std::size_t>(request.bootstrap));
  double done = 0.0;
  const auto tick = [&] { on_progress(done++ / steps); };
  FitReport report;
  tick();
  report.learner = fit_learner(*request.form, traced, request.options);
  report.model = model_of(report.learner, traced, request.name, request.identity);
  report.residuals = residuals_of(report.learner, traced);
  report.left_out = leave_each_out(groups, request, tick);
  report.bootstrap = request.bootstrap;
  Ensemble ensemble = fit_ensemble(report.learner, traced, request.bootstrap, request.options, tick);
  if (!ensemble.members.empty()) report.intervals = intervals_of(ensemble.members);
  report.model.members = std::move(ensemble.members);
  report.model.model_error = ensemble.error;
  return report;
}

std::string fit_report_json(const FitReport& report, const std::string& command) {
  auto json = nlohmann::ordered_json::parse(statistical_model_json(report.model));
  json["command"] = command;
  json["objective"] = report.learner.form.objective;
  nlohmann::ordered_json intervals = nlohmann::ordered_json::object();
  for (std::size_t i = 0; i < report.intervals.size(); ++i)
    intervals[std::string(report.model.form->parameters[i].name)] = {report.intervals[i].low,
                                                                     report.intervals[i].high};
  json["intervals_90"] = intervals;
  json["bootstrap"] = report.bootstrap;
  nlohmann::ordered_json left_out = nlohmann::ordered_json::array();
  for (const HeldOutRow& row : report.left_out) {
    if (row.quantity != HeldOutQuantity::final_accuracy) continue;
    left_out.push_back({{"group", row.group},
                        {"predicted_final_accuracy", row.predicted},
                        {"recorded_final_accuracy", row.recorded},
                        {"error", error_of(row, row.predicted)},
                        {"error_first_protocol", error_of(row, row.null_first)},
                        {"error_linear", error_of(row, row.null_linear)}});
  }
  json["left_out"] = left_out;
  return json.dump(2) + "\n";
}

std::string residuals_csv(const FitReport& report) {
  CsvTable table({"run", "progress", "recorded_accuracy", "predicted_accuracy"});
  for (const Residual& residual : report.residuals)
    table.add(residual.run).add(residual.progress).add(residual.recorded).add(residual.predicted).end_row();
  return table.text();
}

}  // namespace paceline
