#include "sim/training/phases.hpp"

#include <utility>

namespace paceline {

Phases::Phases(std::vector<PhaseConfig> phases, std::int64_t total_samples, std::int64_t dataset_samples,
               std::size_t servers)
    : phases_(std::move(phases)), servers_(servers), workload_(total_samples, dataset_samples, phases_) {}

void Phases::plan(std::optional<PauseKind> pause, std::span<const WorkerId> members, const Done& done) {
  strategy_ = make_update_strategy(current(), servers_);
  policies_.clear();
  for (std::size_t s = 0; s < strategy_->deciders(); ++s)
    policies_.push_back(make_synchronization(current()));
  begin_round(members);
  switched_at_.reset();
  if (pause == PauseKind::switching && !is_synchronous()) switched_at_ = done;
  planned_pause_ = pause;
  is_planned_ = true;
}

void Phases::enter(Actions& actions) {
  is_planned_ = false;
  actions.emplace_back(EnterPhase{index()});
  // A detour lasts until the phase that was left is resumed.
  const auto* time = std::get_if<Seconds>(&current().length);
  if (time != nullptr && !workload_.is_on_detour()) actions.emplace_back(SetTimer{index(), *time});
}

void Phases::begin_round(std::span<const WorkerId> members) {
  for (const auto& policy : policies_) policy->begin(members);
}

void Phases::on_timer(std::size_t phase) {
  if (phase == index() && !is_planned_) end();
}

void Phases::leave_for(std::optional<std::size_t> detour) {
  detour_ = detour;
  end();
}

bool Phases::advance() {
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

std::optional<SinceSwitch> Phases::since_switch(const Done& done, std::size_t workers) const {
  if (!switched_at_) return std::nullopt;
  const std::int64_t samples = done.samples - switched_at_->samples;
  return SinceSwitch{.workers = workers,
                     .updates = done.updates - switched_at_->updates,
                     .samples = samples,
                     .epochs = workload_.epochs(samples)};
}

}  // namespace paceline
