// The calibration files of one job: its own, and those of workers that are other machines.
//
// Assumptions: all are of the same network, so that gradients have one size. Servers, jitter and the
//              coordinator's prior of a worker follow the profile named for each: servers and jitter the
//              job's, a worker's times its own.
#pragma once

#include <cstddef>
#include <vector>

#include "sim/cost/profile.hpp"

namespace paceline {

struct Profiles {
  std::vector<Profile> distinct = std::vector<Profile>(1);  // the job's first
  std::vector<std::size_t> of_worker;                       // index into `distinct`

  [[nodiscard]] const Profile& job() const { return distinct.front(); }
  [[nodiscard]] const Profile& of(std::size_t worker) const { return distinct.at(of_worker.at(worker)); }
};

}  // namespace paceline
