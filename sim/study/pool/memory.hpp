// Whether memory holds one more simulation.
//
// Equation:    another one fits if  (1 - spare) · available - Σ max(0, peak - used_i) >= peak: what the
//              running ones may still grow to is taken as given away.
// Units:       MiB.
// Assumptions: simulations of one study need about as much as the largest one so far.
// Not modelled: other programs that are about to grow.
// Source:      Linux: MemAvailable of /proc/meminfo, memory.max of the control group.
#pragma once

#include <vector>

#include <sys/types.h>

namespace paceline {

[[nodiscard]] bool another_fits(double available_mib, const std::vector<double>& used_mib, double peak_mib);

// What programs may still take without swapping; infinite where the system does not tell.
[[nodiscard]] double available_memory_mib();
// Resident memory of a process; 0 when it is gone.
[[nodiscard]] double memory_of_process_mib(pid_t pid);

}  // namespace paceline
