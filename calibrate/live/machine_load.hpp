// How much of this machine's processor time goes to others while a job's own processes wait: the gate before
// a live run.
//
// Equation:    share = busy / (busy + idle) over a stretch, of all cores together, from /proc/stat; time that
//              the host takes from a virtual machine (steal) counts as busy.
// Assumptions: the job's processes are ready and idle.
//              A program that was just begun may soon be done: the first look that finds little load
//              counts, and a load that lasts through all of them is refused.
// Not modelled: memory bandwidth and caches that others use; how the machine's speed changes meanwhile.
#pragma once

#include <functional>
#include <stdexcept>

#include "sim/base/quantity.hpp"

namespace paceline::live {

// Above this share times say more about the others than about the job.
inline constexpr double most_other_load = 0.10;

// 0 to 1; takes as long as it says.
[[nodiscard]] double other_load(Seconds stretch);

// Other programs use so much of the machine that times would mean little.
class LoadedMachine : public std::runtime_error {
 public:
  explicit LoadedMachine(double load);
};

struct LoadProbe {
  std::function<double()> look;
  std::function<void()> rest;
};
inline constexpr int most_load_looks = 7;
// The first of these looks that is no more than `most_other_load`; throws LoadedMachine after the last one.
[[nodiscard]] double first_free(const LoadProbe& probe);
// Of this machine, just before a job: as above, for some 15 s at most; where any is accepted, of one look.
[[nodiscard]] double load_to_begin_with(bool accepts_any);

}  // namespace paceline::live
