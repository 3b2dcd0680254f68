#include "sim/training/workload.hpp"

#include <cmath>

#include "sim/base/check.hpp"

namespace paceline {

Workload::Workload(std::int64_t total_samples, std::span<const PhaseConfig> phases) {
  check(total_samples > 0 && !phases.empty(), "a job has work and at least one phase");
  double share_so_far = 0.0;
  for (const PhaseConfig& phase : phases) {
    share_so_far += phase.share;
    phase_ends_.push_back(std::llround(static_cast<double>(total_samples) * share_so_far));
  }
  phase_ends_.back() = total_samples;
}

void Workload::apply(std::int64_t samples) {
  applied_ += samples;
  check(applied_ <= handed_out_, "more samples applied than handed out");
}

void Workload::enter_next_phase() {
  check(!in_last_phase() && nothing_in_flight(), "a phase ends when all its work is applied");
  ++phase_;
}

}  // namespace paceline
