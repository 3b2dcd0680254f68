// Which phase of a job runs, by which policy and strategy, and what comes after it.
//
// Models:      a phase is planned when its workers are released towards it and pause before it, and entered
//              when the first of them goes on. The phases follow in the order of the scenario; a switch
//              policy may leave one early for another, a detour that lasts until the phase that was left is
//              resumed.
// Assumptions: nothing is in flight between two phases. Each server that decides has a policy of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "sim/learning/optimizer.hpp"
#include "sim/policy/synchronization/synchronization.hpp"
#include "sim/training/action.hpp"
#include "sim/training/evaluations.hpp"
#include "sim/training/update_strategy.hpp"
#include "sim/training/workload.hpp"

namespace paceline {

class Phases {
 public:
  Phases(std::vector<PhaseConfig> phases, std::int64_t total_samples, std::int64_t dataset_samples,
         std::size_t servers)
      : phases_(std::move(phases)), servers_(servers), workload_(total_samples, dataset_samples, phases_) {}

  [[nodiscard]] std::size_t index() const { return workload_.phase(); }
  [[nodiscard]] Workload& workload() { return workload_; }
  [[nodiscard]] const Workload& workload() const { return workload_; }

  // Of the phase planned last.
  [[nodiscard]] SynchronizationPolicy& policy(ServerId server = {}) { return *policies_.at(server.value); }
  [[nodiscard]] const UpdateStrategy& strategy() const { return *strategy_; }
  [[nodiscard]] const PhaseConfig& config() const { return phases_[workload_.phase()]; }
  [[nodiscard]] bool is_synchronous() const { return policies_.front()->is_synchronous(); }
  // Whether the phase goes on with another update.
  [[nodiscard]] bool has_work() const {
    return workload_.phase_has_work(policies_.front()->gradients_per_update());
  }

  // The phase the workload is at comes next, after this pause of its members.
  void plan(std::optional<PauseKind> pause, std::span<const WorkerId> members, const Done& done) {
    strategy_.emplace(config(), servers_);
    policies_.clear();
    for (std::size_t s = 0; s < strategy_->deciders(); ++s)
      policies_.push_back(make_synchronization(config().policy));
    begin_round(members);
    switched_at_.reset();
    if (pause == PauseKind::switching && !is_synchronous()) switched_at_ = done;
    planned_pause_ = pause;
    is_planned_ = true;
  }
  [[nodiscard]] bool is_planned() const { return is_planned_; }
  // What everybody does before the planned phase, also who joins before it begins.
  [[nodiscard]] std::optional<PauseKind> planned_pause() const {
    return is_planned_ ? planned_pause_ : std::nullopt;
  }
  void enter(Actions& actions) {
    is_planned_ = false;
    actions.emplace_back(EnterPhase{index()});
    // A detour lasts until the phase that was left is resumed.
    const auto* time = std::get_if<Seconds>(&config().length);
    if (time != nullptr && !workload_.is_on_detour()) actions.emplace_back(SetTimer{index(), *time});
  }
  // A round begins with these.
  void begin_round(std::span<const WorkerId> members) {
    for (const auto& policy : policies_) policy->begin(members);
  }

  void on_timer(std::size_t phase) {
    if (phase == index() && !is_planned_) end();
  }
  // The present phase hands out nothing more ...
  void end() { workload_.end_phase(); }
  // ... and the next is this one, or else the one whose turn it is.
  void leave_for(std::optional<std::size_t> detour) {
    detour_ = detour;
    end();
  }
  // To the following phase; false when there is none.
  [[nodiscard]] bool advance() {
    if (workload_.everything_applied()) return false;
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
  // What was done since the last switch to an asynchronous phase, if that is the present one.
  [[nodiscard]] std::optional<SinceSwitch> since_switch(const Done& done, std::size_t workers) const {
    if (!switched_at_) return std::nullopt;
    const std::int64_t samples = done.samples - switched_at_->samples;
    return SinceSwitch{.workers = workers,
                       .updates = done.updates - switched_at_->updates,
                       .samples = samples,
                       .epochs = workload_.epochs(samples)};
  }

 private:
  std::vector<PhaseConfig> phases_;
  std::size_t servers_;
  Workload workload_;
  std::optional<UpdateStrategy> strategy_;
  std::vector<std::unique_ptr<SynchronizationPolicy>> policies_;  // by server
  std::optional<std::size_t> detour_;                             // to go to when the present phase is over
  std::optional<Done> switched_at_;  // to the present phase, if it is asynchronous
  std::optional<PauseKind> planned_pause_;
  bool is_planned_ = false;
};

}  // namespace paceline
