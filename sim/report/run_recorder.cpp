#include "sim/report/run_recorder.hpp"

#include "sim/base/check.hpp"

namespace paceline {

RunRecorder::RunRecorder(Seed seed) {
  result_.seed = seed;
}

void RunRecorder::on_event(Seconds now, const Event& event) {
  last_time_ = now;
  if (const auto* evaluated = std::get_if<Evaluated>(&event)) record(*evaluated);
}

void RunRecorder::on_action(Seconds now, const Action& action) {
  if (std::holds_alternative<StartIteration>(action)) ++result_.gradients_started;
  if (const auto* batches = std::get_if<AdoptBatches>(&action)) record(now, *batches);
  if (const auto* apply = std::get_if<Apply>(&action)) record(now, *apply);
  if (const auto* evaluate = std::get_if<Evaluate>(&action)) record(now, *evaluate);
  if (const auto* stop = std::get_if<Stop>(&action)) record(now, *stop);
}

void RunRecorder::record(Seconds now, const AdoptBatches& action) {
  result_.batch_changes.push_back({now, result_.updates, action.batches});
}

void RunRecorder::record(Seconds, const Apply& action) {
  ++result_.updates;
  for (const AppliedGradient& gradient : action.gradients) {
    result_.samples += gradient.batch_samples;
    ++result_.gradients_applied;
    ++result_.staleness[{gradient.worker.value, gradient.staleness}];
  }
}

void RunRecorder::record(Seconds now, const Evaluate& action) {
  under_evaluation_[action.updates] =
      CurvePoint{.time = now, .updates = action.updates, .samples = action.samples};
}

void RunRecorder::record(const Evaluated& event) {
  const auto asked = under_evaluation_.find(event.updates);
  check(asked != under_evaluation_.end(), "an evaluation nobody asked for");
  if (event.evaluation) {
    result_.curve.push_back(asked->second);
    result_.curve.back().loss = event.evaluation->loss;
    result_.curve.back().accuracy = event.evaluation->accuracy;
  }
  under_evaluation_.erase(asked);
}

void RunRecorder::record(Seconds, const Stop& action) {
  result_.end_reason = to_string(action.reason);
  // The coordinator alone decides whether the target is reached; it does so on the evaluation just recorded.
  if (action.reason == EndReason::target_reached) result_.time_to_accuracy = result_.curve.back().time;
}

RunResult RunRecorder::finish(Seconds end, const std::optional<std::string>& stalled_waiting) {
  result_.end_time = end;
  if (stalled_waiting) {
    result_.end_reason = "stalled";
    result_.stall = *stalled_waiting;
  }
  return result_;
}

}  // namespace paceline
