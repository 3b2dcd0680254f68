// How long the kernel lets a process compute while others wait for its core, as the kernel says it.
//
// Models:      the slice of a process of the usual class: one that wakes waits for that of another to end.
// Units:       seconds of wall-clock time.
// Assumptions: all processes of a job have the slice that a new thread of this one has.
// Not modelled: a process that never waits is replaced at the first tick after its slice only, so that turns
//              are longer than stated here where all compute without a break.
// Source:      calibrate/live/scheduling.hpp.
#pragma once

#include <optional>
#include <string>

#include "sim/cluster/cluster.hpp"

namespace paceline::live {

// Nothing where the kernel does not say it. Servers are first if the calling thread, which serves in a live
// job, has the highest of the usual priorities.
[[nodiscard]] std::optional<Turns> processor_turns();
// "turns: {length: 1.4 ms, servers_first: true}"
[[nodiscard]] std::string scenario_words(const Turns& turns);

}  // namespace paceline::live
