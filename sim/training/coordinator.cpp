#include "sim/training/coordinator.hpp"

#include <utility>

#include <fmt/format.h>

#include "sim/base/check.hpp"

namespace paceline {
namespace {

void check_phase(const PhaseConfig& phase, const CoordinatorConfig& config) {
  check(config.servers == 1 || phase.policy->decides_alike_on_every_server,
        "the first gradients of a round may differ from server to server");
  check(config.batching.controller->allows_partial_waiting || phase.policy->waits_for != WaitsFor::some,
        "this batch controller is defined for BSP and ASP only");
}

}  // namespace

Coordinator::Coordinator(CoordinatorConfig config)
    : config_(std::move(config)),
      phases_(config_.phases, config_.total_samples, config_.dataset_samples, config_.servers),
      assembly_(config_.servers, config_.batching.weighting),
      gate_(config_.machines.size()),
      reaction_(make_switch_policy(config_.reaction, config_.phases, config_.machines.size())),
      evaluations_(config_.evaluate_every, config_.target_accuracy, config_.evaluations_at_target),
      batch_controller_(make_batch_controller(config_.batching, config_.machines)),
      batches_(batches_of(batch_controller_->initial())),
      workers_(config_.machines.size()) {
  check(workers_.size() > 0 && config_.servers > 0, "a job has workers and servers");
  for (const PhaseConfig& phase : config_.phases) check_phase(phase, config_);
  if (config_.checkpoint_every) checkpoints_.emplace(*config_.checkpoint_every);
  for (std::size_t w = 0; w < config_.present_at_start.size(); ++w) {
    if (config_.present_at_start[w]) continue;
    workers_[WorkerId{w}].status = WorkerStatus::away;
    static_cast<void>(batch_controller_->on_leave(WorkerId{w}));
  }
}

void Coordinator::start(Actions& actions) {
  actions.emplace_back(AdoptBatches{batch_controller_->initial()});
  actions.emplace_back(evaluations_.begin(done()));
  plan_phase(config_.pause_at_start ? std::optional(PauseKind::start_up) : std::nullopt, actions);
}

void Coordinator::handle(Seconds now, const Event& event, Actions& actions) {
  if (stopped_) return;
  now_ = now;
  std::visit([&](const auto& e) { on(e, actions); }, event);
  if (stopped_ || work_done_) return;
  if (gate_.has_held()) release(gate_.take_free(*batch_controller_), actions);
  offer_work_given_back(actions);
  finish_phase_if_over(actions);
}

void Coordinator::on(const WorkerLeft& event, Actions& actions) {
  WorkerState& worker = workers_[event.worker];
  if (!worker.is_present()) return;
  check(config_.servers == 1, "workers leave and join with one server only");
  gate_.forget(event.worker);
  reaction_.forget(event.worker);
  assembly_.forget(event.worker);
  const bool is_combined =
      worker.iteration && worker.iteration->update && worker.status == WorkerStatus::waiting_for_update;
  if (worker.iteration && !is_combined) {
    if (worker.iteration->update) assembly_.erase(*worker.iteration->update);
    drop_iteration(event.worker, actions);
  }
  if (is_combined && event.takes_gradient_along) reduce_without(event.worker, actions);
  if (worker.iteration) end_overlap(worker, actions);
  const std::uint64_t iterations = worker.iterations;
  worker = {};
  worker.status = WorkerStatus::away;
  worker.iterations = iterations;
  adopt(batch_controller_->on_leave(event.worker), actions);
  if (reaction_.watches()) reaction_.set_members(phases_.index(), workers_.members());
  carry_out(phases_.policy().on_leave(event.worker, now_), ServerId{0}, actions);
}

void Coordinator::on(const WorkerJoined& event, Actions& actions) {
  WorkerState& worker = workers_[event.worker];
  if (worker.is_present()) return;
  check(config_.servers == 1, "workers leave and join with one server only");
  worker.status = WorkerStatus::idle;
  worker.needs_parameters = true;
  batch_controller_->on_join(event.worker);
  if (reaction_.watches()) reaction_.set_members(phases_.index(), workers_.members());
  const SynchronizationDecision decision = phases_.policy().on_join(event.worker, now_);
  if (phases_.is_synchronous() && !decision.release.empty() && !phases_.has_work()) {
    // The round under way must be able to end without it: it belongs to the next one that has work for it.
    static_cast<void>(phases_.policy().on_leave(event.worker, now_));
    worker.is_outside_round = true;
    gate_.refuse({event.worker});
    return;
  }
  carry_out(decision, ServerId{0}, actions);
}

void Coordinator::on(const WindowClosed& event, Actions& actions) {
  // Another one belongs to a phase that is over.
  if (open_windows_.at(event.server.value) != event.window) return;
  open_windows_[event.server.value] = 0;
  carry_out(phases_.policy(event.server).on_window_closed(now_), event.server, actions);
}

void Coordinator::on(const IterationFinished& event, Actions& actions) {
  WorkerState& worker = workers_[event.worker];
  if (!worker.works_on(event.gradient)) return;
  worker.own_time += event.compute_time;
  if (worker.iteration->is_training_on) return end_overlap(worker, actions);
  check(worker.status == WorkerStatus::computing, "an iteration finished that was not under way");
  const Onward onward = phases_.strategy().after_computing();
  if (worker.iteration->is_probe) {
    // It goes where a gradient would, and comes to nothing there.
    return onward == Onward::combine ? finish_probe(event.worker, actions)
                                     : send_to_servers(event.worker, actions);
  }
  const IterationState& iteration = *worker.iteration;
  const std::int64_t steps = iteration.local_steps - iteration.overlapped_steps;
  const Seconds step = event.compute_time / static_cast<double>(steps);
  worker.seconds_per_step = step.value();
  adopt(batch_controller_->on_iteration(event.worker, iteration.batch_samples, step), actions);
  if (iteration.overlapped_steps > 0) train_on(event.worker, actions);
  proceed(event.worker, onward, actions);
}

void Coordinator::on(const GradientArrived& event, Actions& actions) {
  WorkerState& worker = workers_[event.worker];
  if (!worker.works_on(event.gradient)) return;
  check(worker.status == WorkerStatus::sending && worker.parts_awaited > 0,
        "a gradient arrived that nobody sent");
  const bool is_probe = worker.iteration->is_probe;
  if (--worker.parts_awaited == 0) {
    worker.status = WorkerStatus::waiting_for_update;
    worker.own_time += now_ - worker.transfer_began;
    if (is_probe) finish_probe(event.worker, actions);
  }
  if (!is_probe) gradient_ready(event.worker, event.server, actions);
}

void Coordinator::on(const ParametersArrived& event, Actions& actions) {
  WorkerState& worker = workers_[event.worker];
  if (!worker.works_on(event.gradient)) return;
  check(worker.status == WorkerStatus::receiving && worker.parts_awaited > 0,
        "parameters arrived that nobody expects");
  if (--worker.parts_awaited > 0) return;
  worker.own_time += now_ - worker.transfer_began;
  start_iteration(event.worker, actions);
}

void Coordinator::on(const PauseEnded& event, Actions& actions) {
  WorkerState& worker = workers_[event.worker];
  if (!worker.works_on(event.gradient)) return;
  check(worker.status == WorkerStatus::pausing, "a pause ended that had not begun");
  worker.pauses.end_next();
  next_pause_or_go_on(event.worker, actions);
}

void Coordinator::on(const TimerExpired& event, Actions&) {
  phases_.on_timer(event.phase);
}

void Coordinator::on(const Evaluated& event, Actions& actions) {
  if (const std::optional<Stop> end = evaluations_.on_result(event)) return stop(*end, actions);
  if (work_done_ && evaluations_.none_under_way()) stop({EndReason::workload_done, std::nullopt}, actions);
}

void Coordinator::plan_phase(std::optional<PauseKind> pause, Actions& actions) {
  restore_all(actions);
  const std::vector<WorkerId> members = workers_.present();
  phases_.plan(pause, members, done());
  reaction_.set_members(phases_.index(), members);
  gate_.begin_phase();
  exchanges_ = 0;
  open_windows_.assign(config_.servers, 0);
  batch_controller_->begin_phase(phases_.is_synchronous());
  for (const WorkerId member : members) {
    WorkerState& worker = workers_[member];
    worker.holds_present_parameters = true;
    worker.is_outside_round = false;
    worker.iterations_since_start = 0;
    if (pause) worker.pauses.add(*pause);
  }
  if (members.empty()) phases_.enter(actions);
  release(members, actions);
}

void Coordinator::finish_phase_if_over(Actions& actions) {
  // With nobody there the job waits: for a worker that joins, or in vain.
  if (workers_.none_present() && !workload().everything_applied()) return;
  while (workload().nothing_in_flight() && !assembly_.is_coordinating() && !phases_.has_work()) {
    if (!phases_.advance()) return finish_job(actions);
    // A share so small that the phase before it has already covered it leaves nothing to do here.
    if (workload().phase_has_work(1)) {
      const double factor = velocity_factor_at_switch(config_.optimizer);
      if (factor != 1.0) actions.emplace_back(ScaleVelocity{factor});
      return plan_phase(PauseKind::switching, actions);
    }
  }
}

void Coordinator::finish_job(Actions& actions) {
  work_done_ = true;
  // The answers to evaluations still under way end the job; the last version gets one if it has none.
  if (!evaluations_.has_evaluated(updates_)) actions.emplace_back(evaluations_.begin(done()));
  if (evaluations_.none_under_way()) stop({EndReason::workload_done, std::nullopt}, actions);
}

void Coordinator::stop(Stop reason, Actions& actions) {
  stopped_ = true;
  for (const auto& [id, update] : assembly_.pending())
    for (const CombinedGradient& combined : update.gradients)
      if (combined.is_held && !workers_[combined.worker].works_on(combined.gradient))
        actions.emplace_back(Discard{combined.gradient});
  for (const WorkerState& worker : workers_)
    if (worker.iteration && worker.iteration->gradient_is_held)
      actions.emplace_back(Discard{worker.iteration->gradient});
  actions.emplace_back(reason);
}

void Coordinator::adopt(const std::optional<Allocation>& allocation, Actions& actions) {
  if (!allocation) return;
  batches_ = batches_of(*allocation);
  actions.emplace_back(AdoptBatches{*allocation});
  if (!config_.pause_at_adjustment) return;
  for (const WorkerId worker : workers_.present()) workers_[worker].pauses.owe_adjustment();
}

std::string Coordinator::describe_waiting() const {
  std::string text;
  if (workers_.none_present())
    text = fmt::format("every worker has left the job; {} of {} samples are applied\n", applied_samples(),
                       phases_.workload().total_samples());
  for (std::size_t w = 0; w < workers_.size(); ++w)
    text += fmt::format("worker {} {}\n", w, to_string(workers_[WorkerId{w}].status));
  return text;
}

}  // namespace paceline
