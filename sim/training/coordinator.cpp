#include "sim/training/coordinator.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "sim/base/check.hpp"
#include "sim/policy/batching/batch_rule.hpp"

namespace paceline {
namespace {

void check_phase(const PhaseConfig& phase, const CoordinatorConfig& config) {
  const SynchronizationRule& rule = rule_of(phase.policy);
  check(config.servers == 1 || rule.decides_alike_on_every_server,
        "the first gradients of a round may differ from server to server");
  check(!rule_of(config.batching.controller).only_bsp_and_asp || is_bsp_or_asp(rule),
        "this batch controller is defined for BSP and ASP only");
}

}  // namespace

Coordinator::Coordinator(CoordinatorConfig config)
    : config_(std::move(config)),
      workload_(config_.total_samples, config_.dataset_samples, config_.phases),
      evaluations_(config_.evaluate_every),
      batch_controller_(make_batch_controller(config_.batching, config_.machines)),
      switch_policy_(make_switch_policy(config_.reaction, config_.phases, config_.machines.size())),
      batches_(batches_of(batch_controller_->initial())),
      workers_(config_.machines.size()),
      versions_(config_.servers, 0) {
  check(!workers_.empty() && config_.servers > 0, "a job has workers and servers");
  for (const PhaseConfig& phase : config_.phases) check_phase(phase, config_);
  if (config_.checkpoint_every) checkpoints_.emplace(*config_.checkpoint_every);
  for (std::size_t w = 0; w < config_.present_at_start.size(); ++w) {
    if (config_.present_at_start[w]) continue;
    workers_.at(w).doing = Doing::away;
    static_cast<void>(batch_controller_->on_leave(WorkerId{w}));
  }
}

void Coordinator::start(Actions& actions) {
  actions.emplace_back(AdoptBatches{batch_controller_->initial()});
  actions.emplace_back(Evaluate{.updates = 0, .samples = 0});
  ++evaluations_under_way_;
  plan_phase(config_.pause_at_start ? std::optional(PauseKind::start_up) : std::nullopt, actions);
}

void Coordinator::handle(Seconds now, const Event& event, Actions& actions) {
  if (stopped_) return;
  now_ = now;
  std::visit([&](const auto& e) { on(e, actions); }, event);
  if (stopped_ || work_done_) return;
  release_held(actions);
  offer_work_given_back(actions);
  finish_phase_if_over(actions);
}

void Coordinator::on(const WorkerLeft& event, Actions& actions) {
  WorkerState& worker = state(event.worker);
  if (!worker.is_present()) return;
  check(config_.servers == 1, "workers leave and join with one server only");
  const auto forget = [&](std::vector<WorkerId>& workers) { std::erase(workers, event.worker); };
  forget(refused_);
  forget(to_drop_);
  forget(to_restore_);
  forget(held_);
  for (auto& [id, update] : pending_updates_)
    for (std::vector<WorkerId>& release : update.release) forget(release);
  for (auto& [id, workers] : coordinating_) forget(workers);
  const bool is_combined =
      worker.iteration && worker.iteration->update && worker.doing == Doing::waiting_for_update;
  if (worker.iteration && !is_combined) {
    if (worker.iteration->update) pending_updates_.erase(*worker.iteration->update);
    drop_iteration(event.worker, actions);
  }
  const std::uint64_t iterations = worker.iterations;
  worker = {};
  worker.doing = Doing::away;
  worker.iterations = iterations;
  adopt(batch_controller_->on_leave(event.worker), actions);
  if (switch_policy_->watches()) switch_policy_->on_members(workload_.phase(), members());
  carry_out(policies_.front()->on_leave(event.worker, now_), ServerId{0}, actions);
}

void Coordinator::on(const WorkerJoined& event, Actions& actions) {
  WorkerState& worker = state(event.worker);
  if (worker.is_present()) return;
  check(config_.servers == 1, "workers leave and join with one server only");
  worker.doing = Doing::idle;
  worker.needs_parameters = true;
  batch_controller_->on_join(event.worker);
  if (switch_policy_->watches()) switch_policy_->on_members(workload_.phase(), members());
  SynchronizationPolicy& policy = *policies_.front();
  const SynchronizationDecision decision = policy.on_join(event.worker, now_);
  const bool has_work = workload_.phase_has_work(policy.gradients_per_update());
  if (policy.is_synchronous() && !decision.release.empty() && !has_work) {
    // The round under way must be able to end without it: it belongs to the next one that has work for it.
    static_cast<void>(policy.on_leave(event.worker, now_));
    worker.is_outside_round = true;
    refused_.push_back(event.worker);
    return;
  }
  carry_out(decision, ServerId{0}, actions);
}

void Coordinator::on(const IterationFinished& event, Actions& actions) {
  WorkerState& worker = state(event.worker);
  if (!worker.works_on(event.gradient)) return;
  check(worker.doing == Doing::computing, "an iteration finished that was not under way");
  worker.own_time += event.compute_time;
  if (worker.iteration->is_probe)
    return uses_servers() ? send_to_servers(event.worker, actions) : finish_probe(event.worker, actions);
  adopt(batch_controller_->on_iteration(event.worker, worker.iteration->batch_samples, event.compute_time),
        actions);
  if (phase().exchange == Exchange::parameters) {
    begin_parameter_exchange(event.worker, actions);
  } else if (uses_servers()) {
    send_to_servers(event.worker, actions);
  } else {
    worker.doing = Doing::waiting_for_update;
    gradient_ready(event.worker, ServerId{0}, actions);
  }
}

void Coordinator::on(const GradientArrived& event, Actions& actions) {
  WorkerState& worker = state(event.worker);
  if (!worker.works_on(event.gradient)) return;
  check(worker.doing == Doing::sending && worker.parts_awaited > 0, "a gradient arrived that nobody sent");
  if (--worker.parts_awaited == 0) {
    worker.doing = Doing::waiting_for_update;
    worker.own_time += now_ - worker.transfer_began;
    if (worker.iteration->is_probe) finish_probe(event.worker, actions);
  }
  if (!worker.iteration || worker.iteration->is_probe) return;
  if (phase().exchange == Exchange::parameters) {
    actions.emplace_back(Step{*worker.iteration->update, event.server, {event.worker}, true});
  } else {
    gradient_ready(event.worker, event.server, actions);
  }
}

void Coordinator::on(const ParametersArrived& event, Actions& actions) {
  WorkerState& worker = state(event.worker);
  if (!worker.works_on(event.gradient)) return;
  check(worker.doing == Doing::receiving && worker.parts_awaited > 0,
        "parameters arrived that nobody expects");
  if (--worker.parts_awaited > 0) return;
  worker.own_time += now_ - worker.transfer_began;
  start_iteration(event.worker, actions);
}

void Coordinator::on(const PauseEnded& event, Actions& actions) {
  WorkerState& worker = state(event.worker);
  if (!worker.works_on(event.gradient)) return;
  check(worker.doing == Doing::pausing, "a pause ended that had not begun");
  worker.pauses.pop_front();
  next_pause_or_go_on(event.worker, actions);
}

void Coordinator::on(const TimerExpired& event, Actions&) {
  if (event.phase == workload_.phase() && !phase_planned_) workload_.end_phase();
}

void Coordinator::on(const Evaluated& event, Actions& actions) {
  --evaluations_under_way_;
  if (event.evaluation) {
    const Evaluation& result = *event.evaluation;
    if (!std::isfinite(result.loss)) return stop({EndReason::diverged, std::nullopt}, actions);
    const bool reached = config_.target_accuracy && result.accuracy >= *config_.target_accuracy;
    if (!reached) reached_after_updates_.clear();
    if (reached) reached_after_updates_.push_back(event.updates);
    if (reached && reached_after_updates_.size() >= config_.evaluations_at_target)
      return stop({EndReason::target_reached, reached_after_updates_.front()}, actions);
  }
  if (work_done_ && evaluations_under_way_ == 0) stop({EndReason::workload_done, std::nullopt}, actions);
}

void Coordinator::plan_phase(std::optional<PauseKind> pause, Actions& actions) {
  restore_all(actions);
  const std::vector<WorkerId> members = present_workers();
  policies_.clear();
  for (std::size_t s = 0; s < deciding_servers(); ++s) {
    policies_.push_back(make_synchronization(phase()));
    policies_.back()->begin(members);
  }
  if (switch_policy_->watches()) switch_policy_->on_members(workload_.phase(), members);
  switched_at_.reset();
  if (pause == PauseKind::switching && !policies_.front()->is_synchronous()) switched_at_ = done();
  refused_.clear();
  held_.clear();
  batch_controller_->begin_phase(policies_.front()->is_synchronous());
  planned_pause_ = pause;
  phase_planned_ = true;
  for (const WorkerId member : members) {
    state(member).holds_present_parameters = true;
    state(member).is_outside_round = false;
    state(member).iterations_since_start = 0;
    if (pause) state(member).pauses.push_back(*pause);
  }
  if (members.empty()) enter_phase(actions);
  release(members, actions);
}

void Coordinator::enter_phase(Actions& actions) {
  phase_planned_ = false;
  actions.emplace_back(EnterPhase{workload_.phase()});
  // A detour lasts until the phase that was left is resumed.
  const auto* time = std::get_if<Seconds>(&phase().length);
  if (time != nullptr && !workload_.is_on_detour()) actions.emplace_back(SetTimer{workload_.phase(), *time});
}

void Coordinator::finish_phase_if_over(Actions& actions) {
  // With nobody there the job waits: for a worker that joins, or in vain.
  if (present_workers().empty() && workload_.applied_samples() < workload_.total_samples()) return;
  while (workload_.nothing_in_flight() && coordinating_.empty() &&
         !workload_.phase_has_work(policies_.front()->gradients_per_update())) {
    if (!enter_following_phase()) return finish_job(actions);
    // A share so small that the phase before it has already covered it leaves nothing to do here.
    if (workload_.phase_has_work(1)) {
      const double factor = velocity_factor_at_switch(config_.optimizer);
      if (factor != 1.0) actions.emplace_back(ScaleVelocity{factor});
      return plan_phase(PauseKind::switching, actions);
    }
  }
}

// The phases in their order, unless the switch policy left one of them for another.
bool Coordinator::enter_following_phase() {
  if (workload_.applied_samples() >= workload_.total_samples()) return false;
  if (detour_) {
    workload_.begin_detour(*std::exchange(detour_, std::nullopt));
  } else if (workload_.is_on_detour()) {
    workload_.resume();
  } else if (workload_.in_last_phase()) {
    return false;
  } else {
    workload_.enter_next_phase();
  }
  return true;
}

void Coordinator::finish_job(Actions& actions) {
  work_done_ = true;
  // The answers to evaluations still under way end the job; the last version gets one if it has none.
  if (last_evaluated_ != updates_) evaluate(actions);
  if (evaluations_under_way_ == 0) stop({EndReason::workload_done, std::nullopt}, actions);
}

void Coordinator::evaluate(Actions& actions) {
  actions.emplace_back(Evaluate{updates_, workload_.applied_samples()});
  last_evaluated_ = updates_;
  ++evaluations_under_way_;
}

void Coordinator::stop(Stop reason, Actions& actions) {
  stopped_ = true;
  for (const auto& [id, update] : pending_updates_) {
    if (phase().exchange == Exchange::parameters) continue;  // its gradients are applied before they are sent
    for (const CombinedGradient& combined : update.gradients)
      if (!state(combined.worker).works_on(combined.gradient))
        actions.emplace_back(Discard{combined.gradient});
  }
  for (const WorkerState& worker : workers_)
    if (worker.iteration && worker.iteration->gradient_is_held)
      actions.emplace_back(Discard{worker.iteration->gradient});
  actions.emplace_back(reason);
}

std::vector<WorkerId> Coordinator::present_workers() const {
  std::vector<WorkerId> present;
  for (std::uint64_t w = 0; w < workers_.size(); ++w)
    if (workers_[w].is_present()) present.push_back(WorkerId{w});
  return present;
}

std::vector<WorkerId> Coordinator::members() const {
  std::vector<WorkerId> members = present_workers();
  std::erase_if(members, [&](WorkerId id) { return workers_[id.value].is_dropped; });
  return members;
}

std::optional<SinceSwitch> Coordinator::since_switch() const {
  if (!switched_at_) return std::nullopt;
  const std::int64_t samples = workload_.applied_samples() - switched_at_->samples;
  return SinceSwitch{.workers = workers_.size(),
                     .updates = updates_ - switched_at_->updates,
                     .samples = samples,
                     .epochs = static_cast<double>(samples) / static_cast<double>(config_.dataset_samples)};
}

double Coordinator::epoch() const {
  return static_cast<double>(workload_.applied_samples()) / static_cast<double>(config_.dataset_samples);
}

std::string Coordinator::describe_waiting() const {
  std::string text;
  if (present_workers().empty())
    text = fmt::format("every worker has left the job; {} of {} samples are applied\n",
                       workload_.applied_samples(), workload_.total_samples());
  for (std::size_t w = 0; w < workers_.size(); ++w)
    text += fmt::format("worker {} {}\n", w, words_for(workers_[w].doing));
  return text;
}

}  // namespace paceline
