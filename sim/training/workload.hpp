// How much of a job has been handed out and done, and where its phases end.
//
// Models:      a job of `total` samples cut into consecutive phases.
// Equation:    work is handed out while handed_out < total and the phase is not over:
//                share, epochs: handed_out < end of the phase. Consecutive shares end at total · Σ share_i,
//                               so that the overshoot of one does not move the next; other lengths count
//                               from the phase's start.
//                updates:       applied updates of the phase + gradients in flight / gradients per update <
//                               updates.
//                time:          until `end_phase` is called.
//              A phase that is left for a detour keeps what is left of it; the detour lasts until the phase
//              is resumed, and what is done on it counts for the shares that follow.
//              A phase is over when it hands out nothing more and everything handed out was applied or given
//              back. So nothing is in flight at a boundary.
// Units:       samples; gradients (mini-batches) and updates as counts.
// Assumptions: a group released together is handed out together: a phase may exceed its end by less than one
//              batch per member of that group. Work given back (dropped gradients, workers that left) is
//              handed out again.
// Source:      Sync-Switch's workload accounting, counted in samples instead of mini-batches.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sim/base/check.hpp"
#include "sim/policy/synchronization/phase.hpp"

namespace paceline {

class Workload {
 public:
  Workload(std::int64_t total_samples, std::int64_t dataset_samples, std::span<const PhaseConfig> phases)
      : total_(total_samples), dataset_samples_(dataset_samples) {
    check(total_samples > 0 && dataset_samples > 0 && !phases.empty(),
          "a job has work, data and at least one phase");
    for (const PhaseConfig& phase : phases) lengths_.push_back(phase.length);
    plan_phase_end();
  }

  [[nodiscard]] bool phase_has_work(std::size_t gradients_per_update) const {
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
  [[nodiscard]] bool nothing_in_flight() const { return gradients_in_flight_ == 0; }
  [[nodiscard]] bool in_last_phase() const { return phase_ + 1 == lengths_.size(); }
  [[nodiscard]] std::size_t phase() const { return phase_; }
  [[nodiscard]] std::int64_t applied_samples() const { return applied_; }
  [[nodiscard]] bool everything_applied() const { return applied_ >= total_; }
  [[nodiscard]] std::int64_t total_samples() const { return total_; }
  // Passes over the data set that so many samples are; how far the job is in these, and as a fraction.
  [[nodiscard]] double epochs(std::int64_t samples) const {
    return static_cast<double>(samples) / static_cast<double>(dataset_samples_);
  }
  [[nodiscard]] double epoch() const { return epochs(applied_); }
  [[nodiscard]] double progress() const {
    return static_cast<double>(applied_) / static_cast<double>(total_);
  }

  // One mini-batch each.
  void hand_out(std::int64_t samples) {
    handed_out_ += samples;
    ++gradients_in_flight_;
  }
  void apply(std::int64_t samples) {
    check(gradients_in_flight_ > 0, "more mini-batches applied than handed out");
    applied_ += samples;
    --gradients_in_flight_;
    check(applied_ <= handed_out_, "more samples applied than handed out");
  }
  void give_back(std::int64_t samples) {
    check(gradients_in_flight_ > 0 && handed_out_ - samples >= applied_, "more given back than handed out");
    handed_out_ -= samples;
    --gradients_in_flight_;
  }

  void count_update() { ++updates_in_phase_; }
  // Nothing more of this phase is handed out.
  void end_phase() { phase_ended_ = true; }
  void enter_next_phase() {
    check(!in_last_phase() && !is_on_detour() && nothing_in_flight(),
          "a phase ends when all its work is applied");
    ++phase_;
    phase_ended_ = false;
    updates_in_phase_ = 0;
    plan_phase_end();
  }
  // Leaves the present phase, unfinished, for another one.
  void begin_detour(std::size_t phase) {
    check(!is_on_detour() && phase < lengths_.size() && nothing_in_flight(),
          "a detour begins from a phase of the job, when its work is applied");
    check(!std::holds_alternative<Seconds>(lengths_[phase_]), "a phase that ends by time cannot be resumed");
    left_ = LeftPhase{phase_, std::nullopt, updates_in_phase_};
    if (phase_end_) left_->samples_left = *phase_end_ - handed_out_;
    phase_ = phase;
    phase_ended_ = false;
    updates_in_phase_ = 0;
  }
  [[nodiscard]] bool is_on_detour() const { return left_.has_value(); }
  // Takes up the phase that was left.
  void resume() {
    check(is_on_detour() && nothing_in_flight(), "a phase is resumed when the detour's work is applied");
    phase_ = left_->phase;
    if (left_->samples_left) phase_end_ = handed_out_ + *left_->samples_left;
    updates_in_phase_ = left_->updates;
    phase_ended_ = false;
    left_.reset();
  }

 private:
  struct LeftPhase {
    std::size_t phase = 0;
    std::optional<std::int64_t> samples_left;  // absent when the phase does not end by samples
    std::uint64_t updates = 0;
  };

  void plan_phase_end() {
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

  std::int64_t total_;
  std::int64_t dataset_samples_;
  std::vector<PhaseLength> lengths_;
  std::size_t phase_ = 0;
  std::optional<LeftPhase> left_;          // while on a detour
  std::optional<std::int64_t> phase_end_;  // samples; absent when the phase does not end by samples
  double shares_so_far_ = 0.0;             // while every phase up to this one is a share
  bool only_shares_ = true;
  bool phase_ended_ = false;
  std::uint64_t updates_in_phase_ = 0;
  std::int64_t handed_out_ = 0;
  std::int64_t applied_ = 0;
  std::uint64_t gradients_in_flight_ = 0;
};

}  // namespace paceline
