// One recorded training run as the fit sees it, and runs of one setting together.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/learning/training_plan.hpp"

namespace paceline {

struct PositionedValue {
  double minibatches = 0.0;  // done when it was recorded
  double value = 0.0;
};

// Linear between the points of a curve; nothing outside it.
[[nodiscard]] std::optional<double> value_at(const std::vector<PositionedValue>& curve, double minibatches);

struct PhaseTime {
  bool synchronous = true;
  double steps = 0.0;
  double seconds_per_step = 0.0;  // pauses included
  // Where the log of the run has times:
  std::optional<double> seconds_between_pauses{};  // per step
  std::vector<double> pauses_s{};
};

struct TrainingRun {
  std::string name;   // "resnet32-cifar10-8/asp/run1"
  std::string group;  // runs of one group differ by chance only
  int classes = 10;
  TrainingPlan plan;
  std::vector<PositionedValue> accuracy;  // test accuracy
  std::vector<PositionedValue> loss;      // training loss
  double final_accuracy = 0.0;
  std::vector<PhaseTime> phases;  // empty when durations were not recorded
  std::optional<double> training_time_s;
};

struct RunGroup {
  std::string name;
  std::vector<TrainingRun> runs;  // at least one

  [[nodiscard]] const TrainingPlan& plan() const { return runs.front().plan; }
  [[nodiscard]] double mean_final_accuracy() const;
  [[nodiscard]] std::optional<double> final_accuracy_deviation() const;  // sample sd, from two runs on
  // Mean over the runs of the accuracy at a position, linear between evaluations; runs without a curve around it are
  // left out.
  [[nodiscard]] std::optional<double> mean_accuracy_at(double minibatches) const;
};

// In the order of first appearance.
[[nodiscard]] std::vector<RunGroup> group_runs(const std::vector<TrainingRun>& runs);

}  // namespace paceline
