// How much a link carried, and for how long it was the reason that something took longer.
//
// Models:      one direction of one link over a whole job.
// Equation:    saturated: time during which the flows on it together use its full bandwidth; busy: time during which
//              at least one flow is on it.
// Units:       bytes, seconds; 0 <= saturated <= busy <= makespan.
#pragma once

#include <string>

#include "sim/base/quantity.hpp"

namespace paceline {

struct LinkUse {
  std::string name;  // with its direction
  Bytes bytes;
  Seconds busy;
  Seconds saturated;
};

}  // namespace paceline
