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

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sim/policy/synchronization/phase.hpp"

namespace paceline {

class Workload {
 public:
  Workload(std::int64_t total_samples, std::int64_t dataset_samples, std::span<const PhaseConfig> phases);

  [[nodiscard]] bool phase_has_work(std::size_t gradients_per_update) const;
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
  void hand_out(std::int64_t samples);
  void apply(std::int64_t samples);
  void give_back(std::int64_t samples);

  void count_update() { ++updates_in_phase_; }
  // Nothing more of this phase is handed out.
  void end_phase() { phase_ended_ = true; }
  void enter_next_phase();
  // Leaves the present phase, unfinished, for another one.
  void begin_detour(std::size_t phase);
  [[nodiscard]] bool is_on_detour() const { return left_.has_value(); }
  // Takes up the phase that was left.
  void resume();

 private:
  struct LeftPhase {
    std::size_t phase = 0;
    std::optional<std::int64_t> samples_left;  // absent when the phase does not end by samples
    std::uint64_t updates = 0;
  };

  void plan_phase_end();

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
