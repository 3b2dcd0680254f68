// How far the measured cores are from each other: decides what parallel loops cost, and changes where a host
// moves the cores of a virtual machine.
//
// Models:      a cache line passed from the first core to another and back.
// Equation:    round trip = seconds of n passes there and back / n, the median of a few repetitions; of
//              several other cores the mean.
// Units:       seconds of the steady clock. Some 50 ns within a shared cache, 300 ns and more between caches
//              or sockets.
// Assumptions: the cores are free: the two threads spin.
// Not modelled: bandwidth between the cores; who shares which cache.
// Source:      measured: on a virtual machine with two cores the round trip changes between 56 and 330 ns,
//              and with it the time of a small network by a factor of 1.5 to 2.1.
#pragma once

#include <vector>

namespace paceline::calibrate {

// System numbers of two cores or more that this process may use.
[[nodiscard]] double core_round_trip_s(const std::vector<int>& cores);

}  // namespace paceline::calibrate
