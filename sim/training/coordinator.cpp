#include "sim/training/coordinator.hpp"

#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "sim/base/check.hpp"
#include "sim/policy/weighting.hpp"

namespace paceline {

Coordinator::Coordinator(CoordinatorConfig config)
    : config_(std::move(config)),
      workload_(config_.total_samples, config_.phases),
      evaluation_plan_(config_.evaluate_every),
      batch_controller_(make_batch_controller(config_.batching, config_.calibrated_throughput)),
      batches_(batch_controller_->initial()),
      workers_(config_.calibrated_throughput.size()) {
  check(!workers_.empty() && config_.dataset_samples > 0, "a job has workers and data");
}

void Coordinator::start(Actions& actions) {
  actions.emplace_back(AdoptBatches{batches_});
  actions.emplace_back(Evaluate{.updates = 0, .samples = 0});
  last_evaluated_ = 0;
  begin_phase(actions);
}

void Coordinator::handle(Seconds, const Event& event, Actions& actions) {
  if (stopped_) return;
  std::visit(
      [&](const auto& e) {
        if constexpr (requires { on(e, actions); }) on(e, actions);
      },
      event);
}

void Coordinator::on(const IterationFinished& event, Actions& actions) {
  WorkerState& worker = workers_.at(event.worker.value);
  check(worker.doing == Doing::computing, "an iteration finished that was not under way");
  if (auto batches =
          batch_controller_->on_iteration(event.worker, worker.batch_samples, event.compute_time)) {
    batches_ = std::move(*batches);
    actions.emplace_back(AdoptBatches{batches_});
  }
  if (phase().transport == Transport::ring) {
    gradient_ready(event.worker, actions);
  } else {
    worker.doing = Doing::sending;
    actions.emplace_back(SendGradient{event.worker, worker.gradient, ServerId{0}});
  }
}

void Coordinator::on(const GradientArrived& event, Actions& actions) {
  check(workers_.at(event.worker.value).doing == Doing::sending, "a gradient arrived that nobody sent");
  gradient_ready(event.worker, actions);
}

void Coordinator::on(const ParametersArrived& event, Actions& actions) {
  check(workers_.at(event.worker.value).doing == Doing::receiving, "parameters arrived that nobody expects");
  start_iteration(event.worker, actions);
}

void Coordinator::on(const AllReduceFinished& event, Actions& actions) {
  actions.emplace_back(LocalStep{event.update, pending_updates_.at(event.update).combine});
}

void Coordinator::on(const StepFinished& event, Actions& actions) {
  const auto pending = pending_updates_.find(event.update);
  check(pending != pending_updates_.end(), "a step finished that was not under way");
  const PendingUpdate update = std::move(pending->second);
  pending_updates_.erase(pending);
  apply_update(event.update, update, actions);
  release(update.release, phase().transport == Transport::server, actions);
}

void Coordinator::on(const PauseEnded&, Actions& actions) {
  if (--pauses_left_ == 0) begin_phase(actions);
}

void Coordinator::on(const Evaluated& event, Actions& actions) {
  if (event.evaluation) {
    const Evaluation& result = *event.evaluation;
    if (!std::isfinite(result.loss)) return stop(EndReason::diverged, actions);
    if (config_.target_accuracy && result.accuracy >= *config_.target_accuracy)
      return stop(EndReason::target_reached, actions);
  }
  if (work_done_) stop(EndReason::workload_done, actions);
}

void Coordinator::gradient_ready(WorkerId worker, Actions& actions) {
  workers_[worker.value].doing = Doing::waiting_for_update;
  SynchronizationDecision decision = synchronization_->on_gradient(worker);
  // A gradient that is not an update by itself is added to those the server already holds.
  const bool alone = decision.combine.size() == 1;
  if (phase().transport == Transport::server && !alone) actions.emplace_back(Accumulate{worker, ServerId{0}});
  if (decision.combine.empty()) {
    release(decision.release, phase().transport == Transport::server, actions);
  } else {
    begin_update(std::move(decision), actions);
  }
}

void Coordinator::begin_update(SynchronizationDecision decision, Actions& actions) {
  const UpdateId id{updates_begun_++};
  if (phase().transport == Transport::ring) {
    actions.emplace_back(AllReduce{id, decision.combine});
  } else {
    actions.emplace_back(Step{id, ServerId{0}, decision.combine});
  }
  pending_updates_[id] = {std::move(decision.combine), std::move(decision.release)};
}

void Coordinator::apply_update(UpdateId id, const PendingUpdate& update, Actions& actions) {
  std::vector<std::int64_t> batches;
  for (const WorkerId worker : update.combine) batches.push_back(workers_[worker.value].batch_samples);
  const std::vector<double> weights = aggregation_weights(config_.batching.weighting, phase().policy, batches,
                                                          config_.batching.initial_samples);
  const double epoch =
      static_cast<double>(workload_.applied_samples()) / static_cast<double>(config_.dataset_samples);
  Apply apply{.update = id,
              .server = {},
              .gradients = {},
              .hyperparameters = {learning_rate_at(config_.optimizer, epoch, update.combine.size()),
                                  config_.optimizer.momentum}};
  for (std::size_t i = 0; i < update.combine.size(); ++i) {
    WorkerState& worker = workers_[update.combine[i].value];
    apply.gradients.push_back({.worker = update.combine[i],
                               .gradient = worker.gradient,
                               .batch_samples = worker.batch_samples,
                               .weight = weights[i],
                               .staleness = updates_ - worker.pulled_version});
    workload_.apply(worker.batch_samples);
    worker.doing = Doing::idle;
  }
  actions.emplace_back(std::move(apply));
  ++updates_;
  if (evaluation_plan_.due_after(updates_, workload_.applied_samples())) {
    actions.emplace_back(Evaluate{updates_, workload_.applied_samples()});
    last_evaluated_ = updates_;
  }
}

void Coordinator::begin_phase(Actions& actions) {
  actions.emplace_back(EnterPhase{workload_.phase()});
  std::vector<WorkerId> everyone;
  for (std::uint64_t w = 0; w < workers_.size(); ++w) everyone.push_back(WorkerId{w});
  synchronization_ = make_synchronization(phase().policy);
  synchronization_->begin(everyone);
  release(everyone, false, actions);
}

void Coordinator::release(const std::vector<WorkerId>& workers, bool parameters_travel, Actions& actions) {
  if (!workload_.phase_has_work()) {
    if (workload_.nothing_in_flight()) finish_phase(actions);
    return;
  }
  for (const WorkerId id : workers) {
    WorkerState& worker = workers_[id.value];
    worker.batch_samples = batches_[id.value];
    worker.gradient = GradientId{gradients_begun_++};
    worker.pulled_version = updates_;
    workload_.hand_out(worker.batch_samples);
    actions.emplace_back(TakeSnapshot{id, ServerId{0}});
    if (parameters_travel) {
      worker.doing = Doing::receiving;
      actions.emplace_back(SendParameters{id, worker.gradient, ServerId{0}, std::nullopt});
    } else {
      start_iteration(id, actions);
    }
  }
}

void Coordinator::start_iteration(WorkerId id, Actions& actions) {
  WorkerState& worker = workers_[id.value];
  worker.doing = Doing::computing;
  actions.emplace_back(StartIteration{.worker = id,
                                      .gradient = worker.gradient,
                                      .iteration = worker.iterations++,
                                      .batch_samples = worker.batch_samples});
}

void Coordinator::finish_phase(Actions& actions) {
  if (workload_.in_last_phase()) return finish_job(actions);
  workload_.enter_next_phase();
  // A share so small that the phase before it has already covered it leaves nothing to do here.
  if (!workload_.phase_has_work()) return finish_phase(actions);
  for (std::uint64_t w = 0; w < workers_.size(); ++w)
    actions.emplace_back(Pause{WorkerId{w}, PauseKind::switching, workload_.phase()});
  pauses_left_ = workers_.size();
}

void Coordinator::finish_job(Actions& actions) {
  work_done_ = true;
  // The answer to an evaluation still under way ends the job; otherwise the last version gets one of its own.
  if (last_evaluated_ == updates_) return;
  actions.emplace_back(Evaluate{updates_, workload_.applied_samples()});
  last_evaluated_ = updates_;
}

void Coordinator::stop(EndReason reason, Actions& actions) {
  stopped_ = true;
  for (const WorkerState& worker : workers_) {
    const bool has_gradient = worker.doing == Doing::computing || worker.doing == Doing::sending ||
                              worker.doing == Doing::waiting_for_update;
    if (has_gradient) actions.emplace_back(Discard{worker.gradient});
  }
  actions.emplace_back(Stop{reason});
}

std::string Coordinator::describe_waiting() const {
  const auto words = [](Doing doing) {
    switch (doing) {
      case Doing::idle:
        return "is idle";
      case Doing::computing:
        return "waits for its own computation";
      case Doing::sending:
        return "waits for its gradient to reach the server";
      case Doing::waiting_for_update:
        return "waits for an update";
      case Doing::receiving:
        return "waits for parameters from the server";
    }
    return "is in an unknown state";
  };
  std::string text;
  for (std::size_t w = 0; w < workers_.size(); ++w)
    text += fmt::format("worker {} {}\n", w, words(workers_[w].doing));
  return text;
}

}  // namespace paceline
