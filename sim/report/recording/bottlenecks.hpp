// Which link or server was used to its full rate, and for how long.
//
// Models:      servers (a FIFO queue works at its full rate whenever it works) and directions of links.
// Equation:    share = saturated time / makespan; over replications: the mean, a run without the resource
//              counting 0.
// Units:       bytes, seconds; share as a fraction of 1.
// Assumptions: a resource that is saturated for half of the makespan or more is worth naming; it need not be
//              on the critical path all that time.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/report/recording/run_result.hpp"

namespace paceline {

struct Bottleneck {
  std::string resource;
  double share = 0.0;
};

// The resource with the highest share, the first of equals; absent when that is below one half.
[[nodiscard]] std::optional<Bottleneck> find_bottleneck(const std::vector<RunResult>& runs);

}  // namespace paceline
