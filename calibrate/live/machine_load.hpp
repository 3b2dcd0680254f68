// How much of this machine's processor time goes to others while a job's own processes wait: the gate before
// a live run.
//
// Equation:    share = busy / (busy + idle) over a stretch, of all cores together, from /proc/stat; time that
//              the host takes from a virtual machine (steal) counts as busy.
// Assumptions: the job's processes are ready and idle.
// Not modelled: memory bandwidth and caches that others use.
#pragma once

#include "sim/base/quantity.hpp"

namespace paceline::live {

// Above this share times say more about the others than about the job.
inline constexpr double most_other_load = 0.10;

// 0 to 1; takes as long as it says.
[[nodiscard]] double other_load(Seconds stretch);

}  // namespace paceline::live
