// How much busy processes of one machine slow each other down.
//
// Models:      a machine of N cores on which m cores' worth of processes are busy: hyper-threads share one,
//              cores share caches and memory, and more processes than cores take turns.
// Equation:    s(m), the speed of each beside one that is alone: with M measured speeds s_1 = 1, s_2 … s_M
//                s(m) = s_min(m, M) · min(1, max(M, N) / m)
//              so without measurements (M = 0) cores are shared proportionally: s(m) = min(1, N / m).
//              A process that keeps c cores busy by itself was measured so: it goes on at s(m) / s(c) of the
//              speed its profile says. Of each of its cores it gets the processor time min(1, N / m): what
//              a quota counts, and not what slower cores cost.
// Units:       cores; speeds and shares without a unit.
// Assumptions: every busy process slows every other one alike, whatever it computes, and nobody has priority.
//              Turns are short beside what is computed; where they are not, few iterations take most of the
//              delay, and their median is too long (sim/engine/shared_machines.hpp models such turns).
// Not modelled: which cores are siblings, or near each other; caches that are cold after a turn; clock rates
//              that fall with every busy core, except as measured; processes of other programs.
// Measured:    docs/validation.md, live jobs.
#pragma once

#include <cstddef>
#include <vector>

#include "sim/cluster/cluster.hpp"

namespace paceline {

class MachineSpeed {
 public:
  MachineSpeed(int cores, std::vector<double> speeds);

  // Of a process that keeps `own` of the `busy` cores busy, relative to its own when it is alone.
  [[nodiscard]] double of(int busy, int own) const { return speed(busy) / speed(own); }
  [[nodiscard]] int cores() const { return cores_; }
  // Of a core's time, that each busy process gets for each of its cores.
  [[nodiscard]] double processor_share(int busy) const;

 private:
  [[nodiscard]] double speed(int busy) const;

  int cores_;
  std::vector<double> speeds_;
};

}  // namespace paceline
