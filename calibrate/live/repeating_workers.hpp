// Worker processes that compute gradients nobody wants, for a stretch at a time, and tell what each took.
//
// Assumptions: nothing is sent meanwhile; a stretch has at least one iteration.
// Not modelled: speeds below 1, quotas.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <vector>

#include "calibrate/live/process_crew.hpp"
#include "sim/base/quantity.hpp"
#include "sim/learning/network_learner.hpp"

namespace paceline::live {

class RepeatingWorkers {
 public:
  // As many as `learner` has. Throws what ProcessCrew throws.
  RepeatingWorkers(const std::filesystem::path& program, const NetworkLearnerConfig& learner,
                   Seconds stretch);

  // What each of their iterations took while these computed at once, in seconds, in order. Throws
  // Interrupted, and what throw_if_lost throws.
  [[nodiscard]] std::map<Member, std::vector<double>> stretch_of(const std::vector<Member>& members,
                                                                 std::int64_t batch_samples);

 private:
  [[nodiscard]] Arrived next();

  ProcessCrew crew_;
  std::uint64_t next_gradient_ = 0;
};

}  // namespace paceline::live
