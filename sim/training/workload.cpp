#include "sim/training/workload.hpp"

#include <cmath>

#include "sim/base/check.hpp"

namespace paceline {

Workload::Workload(std::int64_t total_samples, std::int64_t dataset_samples,
                   std::span<const PhaseConfig> phases)
    : total_(total_samples), dataset_samples_(dataset_samples) {
  check(total_samples > 0 && dataset_samples > 0 && !phases.empty(),
        "a job has work, data and at least one phase");
  for (const PhaseConfig& phase : phases) lengths_.push_back(phase.length);
  plan_phase_end();
}

bool Workload::phase_has_work(std::size_t gradients_per_update) const {
  if (phase_ended_ || handed_out_ >= total_) return false;
  if (is_on_detour()) return true;
  if (phase_end_) return handed_out_ < *phase_end_;
  if (const auto* count = std::get_if<UpdateCount>(&lengths_[phase_])) {
    const double under_way = static_cast<double>(gradients_in_flight_) /
                             static_cast<double>(std::max<std::size_t>(gradients_per_update, 1));
    return static_cast<double>(updates_in_phase_) + under_way < static_cast<double>(count->updates);
  }
  return true;
}

void Workload::hand_out(std::int64_t samples) {
  handed_out_ += samples;
  ++gradients_in_flight_;
}

void Workload::apply(std::int64_t samples) {
  check(gradients_in_flight_ > 0, "more mini-batches applied than handed out");
  applied_ += samples;
  --gradients_in_flight_;
  check(applied_ <= handed_out_, "more samples applied than handed out");
}

void Workload::give_back(std::int64_t samples) {
  check(gradients_in_flight_ > 0 && handed_out_ - samples >= applied_, "more given back than handed out");
  handed_out_ -= samples;
  --gradients_in_flight_;
}

void Workload::enter_next_phase() {
  check(!in_last_phase() && !is_on_detour() && nothing_in_flight(),
        "a phase ends when all its work is applied");
  ++phase_;
  phase_ended_ = false;
  updates_in_phase_ = 0;
  plan_phase_end();
}

void Workload::begin_detour(std::size_t phase) {
  check(!is_on_detour() && phase < lengths_.size() && nothing_in_flight(),
        "a detour begins from a phase of the job, when its work is applied");
  check(!std::holds_alternative<Seconds>(lengths_[phase_]), "a phase that ends by time cannot be resumed");
  left_ = LeftPhase{phase_, std::nullopt, updates_in_phase_};
  if (phase_end_) left_->samples_left = *phase_end_ - handed_out_;
  phase_ = phase;
  phase_ended_ = false;
  updates_in_phase_ = 0;
}

void Workload::resume() {
  check(is_on_detour() && nothing_in_flight(), "a phase is resumed when the detour's work is applied");
  phase_ = left_->phase;
  if (left_->samples_left) phase_end_ = handed_out_ + *left_->samples_left;
  updates_in_phase_ = left_->updates;
  phase_ended_ = false;
  left_.reset();
}

void Workload::plan_phase_end() {
  phase_end_.reset();
  const PhaseLength& length = lengths_[phase_];
  const auto* share = std::get_if<ShareOfJob>(&length);
  only_shares_ = only_shares_ && share != nullptr;
  if (only_shares_) {
    shares_so_far_ += share->fraction;
    phase_end_ = in_last_phase() ? total_ : std::llround(static_cast<double>(total_) * shares_so_far_);
  } else if (share != nullptr) {
    phase_end_ = handed_out_ + std::llround(static_cast<double>(total_) * share->fraction);
  } else if (const auto* count = std::get_if<EpochCount>(&length)) {
    phase_end_ = handed_out_ + std::llround(static_cast<double>(dataset_samples_) * count->epochs);
  }
}

}  // namespace paceline
