#include "sim/report/recording/run_recorder.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "sim/base/check.hpp"

namespace paceline {

RunRecorder::RunRecorder(Seed seed, RecordingOptions recording)
    : recording_(recording), activities_(recording.trace) {
  result_.seed = seed;
}

void RunRecorder::on_event(Seconds now, const Event& event) {
  last_time_ = now;
  activities_.on_event(now, event);
  if (recording_.iterations) iterations_.on_event(now, event);
  if (const auto* evaluated = std::get_if<Evaluated>(&event)) record(now, *evaluated);
}

void RunRecorder::on_action(Seconds now, const Action& action) {
  activities_.on_action(now, action);
  if (recording_.iterations) iterations_.on_action(now, action);
  std::visit(
      [&](const auto& one) {
        if constexpr (requires { record(now, one); }) record(now, one);
      },
      action);
}

void RunRecorder::on_server_work(ServerId server, std::optional<UpdateId> step, Seconds begin, Seconds end) {
  add_server_work(server, Seconds{});
  while (!queued_.empty() && queued_.front().end <= last_time_) {
    add_server_work(queued_.front().server, queued_.front().end - queued_.front().begin);
    queued_.pop_front();
  }
  queued_.push_back({server, begin, end});
  if (recording_.trace)
    trace_.server_work.push_back(
        {server, begin, end, step ? "step" : "accumulate", step ? std::optional(step->value) : std::nullopt});
}

void RunRecorder::on_balance(Seconds now, BalanceCause cause, const Balance& balance) {
  result_.balances.push_back({balance, now, result_.updates, cause});
  if (cause == BalanceCause::conditions && !unanswered_since_) unanswered_since_ = now;
  if (cause == BalanceCause::adjustment && unanswered_since_)
    result_.balances.back().lag = now - *std::exchange(unanswered_since_, std::nullopt);
}

void RunRecorder::record(Seconds, const StartIteration& action) {
  ++result_.gradients_started;
  if (recording_.trace) gradients_[action.gradient.value] = {action.batch_samples, std::nullopt};
}

void RunRecorder::record(Seconds now, const AdoptBatches& action) {
  if (!result_.batches.empty()) ++result_.adjustments;
  result_.worker_samples.resize(action.allocation.size(), 0);
  for (std::uint64_t w = 0; w < action.allocation.size(); ++w) {
    const WorkerBatch& batch = action.allocation[w];
    result_.batches.push_back(
        {now, result_.updates, WorkerId{w}, batch.samples, batch.wanted_samples, batch.limited_by});
  }
}

void RunRecorder::record(Seconds now, const Apply& action) {
  if (action.takes_last_shard()) record_applied(now, action.gradients);
  if (action.completes_update) count_update();
}

void RunRecorder::record(Seconds now, const Overwrite& action) {
  if (!action.completes_update) return;
  record_applied(now, {action.by});
  count_update();
}

void RunRecorder::count_update() {
  ++result_.updates;
  if (!result_.phases.empty()) ++result_.phases.back().updates;
}

void RunRecorder::record_applied(Seconds now, const std::vector<AppliedGradient>& gradients) {
  PhaseRecord* phase = result_.phases.empty() ? nullptr : &result_.phases.back();
  for (const AppliedGradient& gradient : gradients) {
    result_.samples += gradient.batch_samples;
    if (gradient.worker.value >= result_.worker_samples.size())
      result_.worker_samples.resize(gradient.worker.value + 1, 0);
    result_.worker_samples[gradient.worker.value] += gradient.batch_samples;
    ++result_.gradients_applied;
    count_staleness(gradient);
    result_.shard_staleness_sum += gradient.mean_staleness;
    if (recording_.trace) gradients_[gradient.gradient.value].second = gradient.largest_staleness;
    if (phase == nullptr) continue;
    phase->samples += gradient.batch_samples;
    phase_staleness_sum_ += static_cast<double>(gradient.largest_staleness);
    phase_gradients_ += 1.0;
  }
  if (phase != nullptr && !gradients.empty()) phase->mean_staleness = phase_staleness_sum_ / phase_gradients_;
  if (recording_.iterations) iterations_.on_applied(now, gradients);
}

// Most gradients of a worker are as stale as the one before.
void RunRecorder::count_staleness(const AppliedGradient& gradient) {
  const std::uint64_t worker = gradient.worker.value;
  if (worker >= latest_staleness_.size()) latest_staleness_.resize(worker + 1, result_.staleness.end());
  auto& latest = latest_staleness_[worker];
  if (latest == result_.staleness.end() || latest->first.second != gradient.largest_staleness)
    latest = result_.staleness.try_emplace({worker, gradient.largest_staleness}).first;
  ++latest->second;
}

void RunRecorder::record(Seconds now, const Evaluate& action) {
  under_evaluation_[action.updates] =
      CurvePoint{.time = now, .updates = action.updates, .samples = action.samples};
  if (recording_.trace) trace_.evaluations.push_back(now);
}

void RunRecorder::record(Seconds, const Evaluated& event) {
  const auto asked = under_evaluation_.find(event.updates);
  check(asked != under_evaluation_.end(), "an evaluation nobody asked for");
  if (event.evaluation) {
    result_.curve.push_back(asked->second);
    result_.curve.back().loss = event.evaluation->loss;
    result_.curve.back().accuracy = event.evaluation->accuracy;
  }
  under_evaluation_.erase(asked);
}

void RunRecorder::record(Seconds now, const EnterPhase& action) {
  end_phase(now);
  result_.phases.push_back({.phase = action.phase, .begin = now, .end = now});
  in_phase_ = true;
  phase_staleness_sum_ = phase_gradients_ = 0.0;
}

void RunRecorder::record(Seconds now, const Pause& action) {
  // Some workers may pause for it after the first one has entered it.
  const bool next_phase = result_.phases.empty() || result_.phases.back().phase != action.phase;
  if (action.kind == PauseKind::switching && next_phase) end_phase(now);
}

void RunRecorder::record(Seconds, const Judge& action) {
  result_.windows_judged += action.judgements.size();
  for (const Judgement& judgement : action.judgements)
    if (judgement.is_slow) ++result_.slow_windows;
}

void RunRecorder::record(Seconds now, const Decide& action) {
  const std::uint64_t phase = result_.phases.empty() ? 0 : result_.phases.back().phase;
  const Decision& decision = action.decision;
  DecisionRecord record{now, result_.updates, phase, decision.kind, decision.worker};
  if (decision.judgement) {
    record.throughput = decision.judgement->throughput;
    record.baseline = decision.judgement->baseline;
    record.cluster_mean = decision.judgement->cluster_mean;
    record.cluster_deviation = decision.judgement->cluster_deviation;
  }
  result_.decisions.push_back(record);
}

void RunRecorder::record(Seconds, const Stop& action) {
  result_.end_reason = to_string(action.reason);
  // The coordinator alone decides whether the target is reached, and by which evaluation.
  if (action.reason != EndReason::target_reached) return;
  check(action.reached_after_updates.has_value(), "a target is reached by an evaluation");
  const auto reached = std::ranges::find(result_.curve, *action.reached_after_updates, &CurvePoint::updates);
  check(reached != result_.curve.end(), "the evaluation that reached the target was recorded");
  result_.time_to_accuracy = reached->time;
}

void RunRecorder::end_phase(Seconds now) {
  if (in_phase_) result_.phases.back().end = now;
  in_phase_ = false;
}

// A queue works at its full rate whenever it works.
void RunRecorder::add_server_work(ServerId server, Seconds time) {
  for (std::size_t s = result_.resources.size(); s <= server.value; ++s)
    result_.resources.push_back({fmt::format("server {}", s), std::nullopt, {}, {}});
  result_.resources[server.value].busy += time;
  result_.resources[server.value].saturated += time;
}

void RunRecorder::finish_servers(Seconds end) {
  for (const ServerSpan& work : queued_)
    if (work.begin < end) add_server_work(work.server, std::min(work.end, end) - work.begin);
  queued_.clear();
}

void RunRecorder::finish_trace(Seconds end) {
  trace_.activities = activities_.take_spans();
  std::ranges::stable_sort(trace_.activities, {}, &ActivitySpan::worker);
  for (ActivitySpan& span : trace_.activities) {
    if (span.task != "compute" && span.task != "push" && span.task != "pull") continue;
    const auto gradient = gradients_.find(*span.number);
    if (gradient == gradients_.end()) continue;  // pulled for, and never started
    span.batch_samples = gradient->second.first;
    span.staleness = gradient->second.second;
  }
  std::erase_if(trace_.server_work, [&](const ServerSpan& work) { return work.begin >= end; });
  for (ServerSpan& work : trace_.server_work) work.end = std::min(work.end, end);
  result_.trace = std::move(trace_);
}

RunResult RunRecorder::finish(Seconds end, const std::optional<std::string>& stalled_waiting) {
  result_.end_time = end;
  end_phase(end);
  activities_.finish(end);
  result_.attribution = activities_.times();
  finish_servers(end);
  if (recording_.iterations) result_.iterations = iterations_.take();
  if (recording_.trace) finish_trace(end);
  if (stalled_waiting) {
    result_.end_reason = "stalled";
    result_.stall = *stalled_waiting;
  }
  return std::move(result_);
}

}  // namespace paceline
