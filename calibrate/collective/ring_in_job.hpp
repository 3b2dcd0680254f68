// What an all-reduce takes within a live job: as ring_timing.hpp has it, but in the rhythm of a job.
//
// Models:      a synchronous job of worker processes that learn nothing and are busy with memory before each
//              gradient, as one that computes is; protocol, coordinator and ring are those of a live job.
//              Slower members rest before each gradient, so that the quicker ones wait for them.
// Equation:    of each update: wall-clock time = from the sum before until this sum is with all members - the
//              longest computation in between; processor time of a member's process from the end of its
//              computation until it has the sum. The mean of all, warm-up left out, long ones as in
//              ring_timing.hpp; of processor time over the members.
// Units:       seconds; bytes of one gradient.
// Assumptions: what the server is asked in each round belongs to it: before a sum, and after.
// Not modelled: several hosts; the optimizer's step, which a profile has.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <vector>

#include "calibrate/collective/ring_timing.hpp"
#include "sim/cluster/cluster.hpp"

namespace paceline::calibrate {

// One of each size in processes of its own, for about `for_each` in each pass. `iterations`: what one takes
// each member. Throws Interrupted, and std::runtime_error when a process is lost.
[[nodiscard]] std::vector<std::vector<RingTime>> time_rings_in_jobs(
    const std::filesystem::path& program, const std::vector<Seconds>& iterations,
    const std::vector<std::uint64_t>& values, int passes, Seconds for_each,
    const std::optional<NetworkConfig>& links = {}, bool own_ring = false,
    const std::function<void(double share_done)>& progress = [](double) {});

}  // namespace paceline::calibrate
