// How long an all-reduce takes, and how much processor time, by size and members.
//
// Models:      members that are busy with memory before each all-reduce, for about as long as a gradient
//              takes to compute, or a user's own training loop that takes a step (live/stepped_loop.hpp):
//              after processors slept and caches were used for other things, messages take several times as
//              long as in a ping-pong.
// Equation:    wall-clock time of an all-reduce: from when its last member has come until its last member
//              has the sum; the mean of all. Long ones belong to it: Gloo's thread polls while another one
//              holds the lock of a connection, and where the two share a core that one waits for a turn: 4 ms
//              instead of half a millisecond, in 5 to 15 of 100. Processor time: that of a whole process but
//              for what it was busy with, over its all-reduces; mean over the members.
//              Of loops, by what they say of their steps: the mean processor time of one between two
//              all-reduces, and of one among several of its member alone, which take turns while the others
//              wait; the mean time from one sum to the next, less what it takes to wake a loop and to be
//              woken by it, since in a real job one process does both: where each member has a core, by how
//              much sooner the last one would have come to each sum; else what it takes alone, since others
//              compute while it is waited for.
//              What a stop by a quota costs: the first member and its loop take steps and all-reduces under
//              a quota of the kernel's and as many without, in turn; the processor time that they take
//              longer, and the stops that the kernel counts.
// Units:       seconds; bytes of all values of one member.
// Assumptions: members are processes of this machine, over loopback TCP or emulated links; a loop that is put
//              under a quota is one process.
// Not modelled: several hosts; an all-reduce that overlaps computing; stops of several members at once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/collective/ring.hpp"
#include "sim/base/quantity.hpp"
#include "sim/cluster/cluster.hpp"

namespace paceline::calibrate {

struct RingRequest {
  RingLibrary library = RingLibrary::own;
  std::size_t members = 2;
  std::vector<std::int64_t> values;      // float32, of each size
  double seconds_per_size = 0.3;         // of all-reduces, and as long of steps alone
  Seconds busy{};                        // of each member, before each all-reduce
  std::vector<std::string> loop{};       // that takes a step instead, of about so long; empty: none
  std::optional<CpuQuota> quota{};       // under which the first member's stops are timed, besides; of loops
  std::optional<NetworkConfig> links{};  // to emulate, one for each member; absent: loopback
};

// Means over the members.
struct LoopSteps {
  Seconds alone;           // processor time of a step while the others wait
  double variation = 0.0;  // of those, sd / mean
  Seconds beside;          // processor time of a step between two all-reduces
  Seconds update;          // from one sum to the next
};
// Of the first member under a quota.
struct HeldUp {
  Seconds longer;          // that it and its loop take of a processor
  std::int64_t stops = 0;  // in so many
};
struct RingTime {
  std::size_t members = 2;
  Bytes bytes;
  Seconds wall;
  Seconds processor;                 // of one member
  std::optional<LoopSteps> steps{};  // of loops that say their processor time
  std::optional<HeldUp> held_up{};   // of requests with a quota
};

// One for each size. Starts the processes, and ends them. Throws Interrupted, std::runtime_error; UserError
// where the kernel sets no quota.
[[nodiscard]] std::vector<RingTime> time_rings(const std::string& program, const RingRequest& request);

// The process of one member; its hidden first argument. Writes a line for each size, and before that of what
// it tells the others, which is answered by a line of what all have told.
inline constexpr const char* ring_member_flag = "--ring-member";
inline constexpr const char* told_key = "told";
inline constexpr const char* held_key = "held";  // from now on: processes of the first one under the quota
void run_ring_member(const std::vector<std::string>& words);

}  // namespace paceline::calibrate
