// From timed all-reduces to what they cost in a scenario.
//
// Models:      what an all-reduce takes of its members' processors, and how long its rounds take besides; how
//              much longer loops compute beside each other and beside all-reduces.
// Equation:    processor = 4 (n - 1) · per_message + 4 (n - 1) / n · bytes / rate
//              rest = 2 (n - 1) · latency + 2 (n - 1) / n · bytes / bandwidth
//              rest = wall - processor, but of loops that say their processor time rest = 2 (n - 1) · r: the
//              time r of a round is the one with which the same job, simulated with the first line, goes from
//              sum to sum in the time that was measured, since members neither come nor end together. Over
//              the sizes of a ring r = latency + bytes / n / bandwidth; of each size the latency is what is
//              left of its own r.
//              Slowdown: processor time of a step beside all-reduces / alone, means over the passes. It
//              includes what going on after a wait costs. What a stop costs: what all stops of all sizes and
//              passes together do, over their number.
// Units:       seconds, bytes.
// Assumptions: a step keeps one core busy as long as it lasts. The second line is only over rings of at most
//              `cores` members; r is for any. Passes as in communication_fit.hpp.
// Not modelled: members end an all-reduce together in the simulation, really up to half a round apart.
// Source:      Patarasuk and Yuan 2009 for rounds and bytes.
#pragma once

#include <optional>
#include <vector>

#include "calibrate/collective/ring_timing.hpp"
#include "calibrate/live/communication_fit.hpp"

namespace paceline::calibrate {

using RingPass = std::vector<RingTime>;  // every size of every ring

// Loops beside each other in a ring, beside their steps alone.
struct RingDisturbance {
  std::size_t members = 2;
  Bytes bytes;
  double slowdown = 1.0;
  std::vector<double> slowdowns;  // by pass
  Seconds round;                  // of the all-reduce
  Seconds carried{};              // that part of it which grows with the bytes; of one size: nothing
};

// What stops cost the processor of the member that is held up, over all sizes.
struct RingResume {
  std::size_t members = 2;
  HeldUp all{};                 // passes together
  std::vector<double> seconds;  // for each stop, by pass; those without stops left out
};

struct CollectiveFit {
  live::FittedTime processor;  // a message, and a byte of it
  // A round, and a byte of it; absent: too few rings to tell, or no time of its own: more than one thread of
  // a member works at once.
  std::optional<live::FittedTime> connection;
  // In the order of the rings; none unless all loops say their processor time.
  std::vector<RingDisturbance> disturbances;
  std::vector<RingResume> resumes;  // of rings with a quota
};
[[nodiscard]] CollectiveFit fit_collectives(const std::vector<RingPass>& passes, std::size_t cores);

// In a scenario; of processes on this machine.
[[nodiscard]] CommunicationCost cost_of(const CollectiveFit& fit);
[[nodiscard]] live::Connection connection_of(const CollectiveFit& fit);
[[nodiscard]] live::Connection connection_of(const RingDisturbance& disturbance);

}  // namespace paceline::calibrate
