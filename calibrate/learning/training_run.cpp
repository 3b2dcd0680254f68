#include "calibrate/learning/training_run.hpp"

#include <algorithm>
#include <cmath>

namespace paceline {

std::optional<double> value_at(const std::vector<PositionedValue>& curve, double minibatches) {
  for (std::size_t i = 1; i < curve.size(); ++i) {
    const PositionedValue& before = curve[i - 1];
    const PositionedValue& after = curve[i];
    if (minibatches < before.minibatches || minibatches > after.minibatches) continue;
    const double width = after.minibatches - before.minibatches;
    const double share = width > 0.0 ? (minibatches - before.minibatches) / width : 1.0;
    return before.value + share * (after.value - before.value);
  }
  return std::nullopt;
}

double RunGroup::mean_final_accuracy() const {
  double sum = 0.0;
  for (const TrainingRun& run : runs) sum += run.final_accuracy;
  return sum / static_cast<double>(runs.size());
}

std::optional<double> RunGroup::final_accuracy_deviation() const {
  if (runs.size() < 2) return std::nullopt;
  const double mean = mean_final_accuracy();
  double squares = 0.0;
  for (const TrainingRun& run : runs) squares += (run.final_accuracy - mean) * (run.final_accuracy - mean);
  return std::sqrt(squares / static_cast<double>(runs.size() - 1));
}

std::optional<double> RunGroup::mean_accuracy_at(double minibatches) const {
  double sum = 0.0;
  int seen = 0;
  for (const TrainingRun& run : runs) {
    const std::optional<double> value = value_at(run.accuracy, minibatches);
    if (!value) continue;
    sum += *value;
    ++seen;
  }
  if (seen == 0) return std::nullopt;
  return sum / seen;
}

std::vector<RunGroup> group_runs(const std::vector<TrainingRun>& runs) {
  std::vector<RunGroup> groups;
  for (const TrainingRun& run : runs) {
    auto found =
        std::find_if(groups.begin(), groups.end(), [&](const RunGroup& g) { return g.name == run.group; });
    if (found == groups.end()) found = groups.insert(groups.end(), RunGroup{run.group, {}});
    found->runs.push_back(run);
  }
  return groups;
}

}  // namespace paceline
