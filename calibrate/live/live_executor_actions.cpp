// What the coordinator wants done, but for phases in a ring, on workers' own copies, and restarts.
#include <span>

#include "calibrate/live/live_executor.hpp"
#include "sim/base/check.hpp"
#include "sim/engine/pause_duration.hpp"

namespace paceline::live {

void LiveExecutor::ask(WorkerId id, GradientId gradient, std::int64_t batch_samples, bool with_parameters,
                       const std::optional<Hyperparameters>& own_step) {
  LiveWorker& worker = workers_.at(id.value);
  if (worker.is_lost) return;
  call_off_all(id);  // what it still computes for an iteration that was dropped before it began
  Compute request{gradient.value, batch_samples, worker.samples_started, {}};
  if (is_all_reduce_) {
    request.is_kept = true;
    const bool has_replica = worker.replica == version_;
    worker.asked.push_back({.gradient = gradient,
                            .at_ns = LiveClock::monotonic_ns(),
                            .batch_samples = batch_samples,
                            .is_kept = true,
                            .is_announced = with_parameters,
                            .awaits_parameters = with_parameters || !has_replica});
    if (with_parameters || !has_replica) hand_over(id, gradient);
    return crew_.send(id.value, request);
  }
  if (own_step) {
    request.is_own = true;
    request.learning_rate = own_step->learning_rate;
    request.momentum = own_step->momentum;
  }
  if (with_parameters || !worker.holds_its_copy) {
    const std::span<const float> copy = state_.copy_of(id);
    request.parameters.assign(copy.begin(), copy.end());
    bytes_sent_[id.value] += static_cast<double>(copy.size_bytes());
    worker.holds_its_copy = true;
  }
  worker.asked.push_back({.gradient = gradient,
                          .at_ns = LiveClock::monotonic_ns(),
                          .batch_samples = batch_samples,
                          .is_own = request.is_own,
                          .is_announced = with_parameters,
                          .awaits_parameters = !request.parameters.empty()});
  crew_.send(id.value, request);
}

void LiveExecutor::carry_out(const StartIteration& action) {
  if (find(action.worker, action.gradient.value) == nullptr)
    ask(action.worker, action.gradient, action.batch_samples, false, action.own_step);
  if (Asked* const asked = find(action.worker, action.gradient.value)) asked->is_started = true;
  workers_[action.worker.value].samples_started += static_cast<std::uint64_t>(action.batch_samples);
}

void LiveExecutor::carry_out(const SendParameters& action) {
  ask(action.to, action.gradient, action.batch_samples, !action.is_answer_only, action.own_step);
  // The worker has its answer in what it is asked for.
  if (action.is_answer_only)
    pending_.emplace_back(ParametersArrived{action.to, action.gradient, action.server});
}

void LiveExecutor::carry_out(const TrainOn&) {
  check(false, "local steps are refused before the job begins");
}

// Members of an all-reduce take theirs before whatever they are asked for next; on a copy of its own a worker
// has taken it.
void LiveExecutor::carry_out(const LocalStep& action) {
  pending_.emplace_back(StepFinished{action.update, ServerId{0}});
}

void LiveExecutor::carry_out(const Step& action) {
  pending_.emplace_back(StepFinished{action.update, action.server});
}

void LiveExecutor::carry_out(const Coordinate& action) {
  at(clock_.now() + job_.costs.coordination.of(action.workers.size(), action.samples),
     CoordinationFinished{action.update});
}

void LiveExecutor::carry_out(const Pause& action) {
  if (action.kind == PauseKind::switching && job_.checkpoint) return restart_before(action);
  at(clock_.now() + duration_of(action, job_.costs), PauseEnded{action.worker, action.gradient});
}

void LiveExecutor::carry_out(const OpenWindow& action) {
  at(clock_.now() + action.duration, WindowClosed{action.server, action.window});
}

void LiveExecutor::carry_out(const SetTimer& action) {
  at(clock_.now() + action.duration, TimerExpired{action.phase});
}

void LiveExecutor::carry_out(const Evaluate& action) {
  take_over_latest();
  const std::span<const float> global = state_.global();
  evaluations_put_off_.push_back({action.updates, {global.begin(), global.end()}, state_.averages()});
  if (job_.costs.evaluation_payer != EvaluationPayer::free) evaluate_next();
}

void LiveExecutor::evaluate_next() {
  crew_.send(job_.workers, evaluations_put_off_.front());
  evaluations_put_off_.pop_front();
  ++evaluations_under_way_;
}

void LiveExecutor::carry_out(const Apply& action) {
  std::vector<WeightedGradient> gradients;
  for (const AppliedGradient& applied : action.gradients) {
    gradients.push_back({applied.gradient, applied.worker, applied.weight, applied.mean_staleness});
    held_.erase(applied.gradient);
    if (action.completes_update) applied_samples_ += applied.batch_samples;
  }
  if (reduced_ == action.update) return apply_on_replicas(action);
  ++version_;
  servers_version_ = version_;
  const Seconds began = clock_.now();
  const std::int64_t used = processor_time_ns();
  state_.apply(action.server, gradients, action.hyperparameters);
  applying_ns_ += processor_time_ns() - used;
  observer_.on_server_work(action.server, action.update, began, clock_.now());
}

void LiveExecutor::carry_out(const TakeSnapshot& action) {
  if (is_all_reduce_) return;
  take_over_latest();
  state_.pull(action.worker, action.server);
  workers_[action.worker.value].holds_its_copy = false;
}

void LiveExecutor::call_off_all(WorkerId worker) {
  std::deque<Asked>& all = workers_[worker.value].asked;
  for (Asked& asked : all) {
    if (asked.is_called_off) continue;
    call_off(worker, asked);
  }
}

// A step that counts already remains.
void LiveExecutor::call_off(WorkerId worker, Asked& asked) {
  asked.is_called_off = true;
  if (!asked.is_stepped) crew_.send(worker.value, CallOff{asked.gradient.value});
}

void LiveExecutor::carry_out(const Discard& action) {
  if (held_.erase(action.gradient) == 1) return state_.discard(action.gradient);
  if (const auto kept = kept_.find(action.gradient); kept != kept_.end()) {
    state_.discard_statistics(action.gradient);
    crew_.send(kept->second.worker.value, CallOff{action.gradient.value});
    kept_.erase(kept);
    return;
  }
  if (own_.erase(action.gradient) == 1) state_.discard_statistics(action.gradient);
  for (Member member = 0; member < workers_.size(); ++member) {
    Asked* const asked = find(WorkerId{member}, action.gradient.value);
    if (asked != nullptr) call_off(WorkerId{member}, *asked);
  }
}

}  // namespace paceline::live
