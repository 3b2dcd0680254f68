// How much of a job has been handed out and done, and where its phases end.
//
// Models:      a job of `total` samples cut into consecutive phases.
// Equation:    phase p ends at total · Σ_{i≤p} share_i. Work is handed out while handed_out < end of the phase; the
//              phase is over when everything handed out has been applied. So nothing is in flight at a boundary.
// Units:       samples.
// Assumptions: a group released together is handed out together: a phase may exceed its end by less than one batch
//              per member of that group; the next phase's end does not move.
// Not modelled: work lost with a worker that leaves.
// Source:      Sync-Switch's workload accounting, counted in samples instead of mini-batches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/policy/phase.hpp"

namespace paceline {

class Workload {
 public:
  Workload(std::int64_t total_samples, std::span<const PhaseConfig> phases);

  [[nodiscard]] bool phase_has_work() const { return handed_out_ < phase_ends_[phase_]; }
  [[nodiscard]] bool nothing_in_flight() const { return handed_out_ == applied_; }
  [[nodiscard]] bool in_last_phase() const { return phase_ + 1 == phase_ends_.size(); }
  [[nodiscard]] std::size_t phase() const { return phase_; }
  [[nodiscard]] std::int64_t applied_samples() const { return applied_; }

  void hand_out(std::int64_t samples) { handed_out_ += samples; }
  void apply(std::int64_t samples);
  void enter_next_phase();

 private:
  std::vector<std::int64_t> phase_ends_;
  std::size_t phase_ = 0;
  std::int64_t handed_out_ = 0;
  std::int64_t applied_ = 0;
};

}  // namespace paceline
