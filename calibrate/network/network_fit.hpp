// Latency and bandwidth from measured transfers.
//
// Models:      one line, which is what the simulator's fluid model can do; up to three segments of the
//              message size (protocols change with it); a link that is shaped by a token bucket.
// Equation:    T(m) = L + m/B, relative least squares, L ≥ 0, 1/B ≥ 0: for all sizes, and for each segment;
//              borders lie between measured sizes, at least 3 of which are in a segment; the number of
//              segments is the one of least mean relative error when each inner size is left out in turn,
//              more only where that is 10 % better. for a simulation: latency L₀ of the first segment,
//              bandwidth B₀ of the last, and for each segment the factors L / L₀ and B / B₀. Where L₀ would
//              be 0 it is the largest L instead; where a segment's time does not grow with the size, its
//              largest message takes 1/1000 of L longer.
//              T(m) = L + c · min(m, b) + max(0, m - b) / B, the bucket b of least mean relative error among
//              measured and 16 intermediate sizes each; taken where c · B <= 1/5 and it predicts sizes left
//              out beyond b no worse than the segments do: those below may be in two states, where both ends
//              share a core at times. For a simulation: latency L, bandwidth B and a burst of b (1 - c · B),
//              which is right for large messages.
// Units:       bytes, seconds, bytes per second.
// Assumptions: one transfer at a time.
// Source:      SimGrid's calibration of piecewise network factors (Degomme et al., TPDS 2017).
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "calibrate/network/transfer.hpp"

namespace paceline::calibrate {

struct TransferLine {
  double latency_s = 0.0;
  double seconds_per_byte = 0.0;

  [[nodiscard]] double at(double bytes) const { return latency_s + bytes * seconds_per_byte; }
};

struct TransferSegment {
  std::int64_t from_bytes = 1;  // the smallest measured size in it
  TransferLine line;
};

// What passes at once after rest, and the rest of a message.
struct TransferBucket {
  double bytes = 0.0;
  TransferLine at_once;
  double seconds_per_byte = 0.0;  // beyond it

  [[nodiscard]] double at(double size) const {
    return at_once.at(std::min(size, bytes)) + std::max(0.0, size - bytes) * seconds_per_byte;
  }
};

struct NetworkFit {
  TransferLine line;                      // over all sizes
  std::vector<TransferSegment> segments;  // ascending, at least one
  double line_error = 0.0;                // mean relative, over all sizes
  double segments_error = 0.0;
  std::optional<TransferBucket> bucket;  // in place of the segments
  double bucket_error = 0.0;

  [[nodiscard]] const TransferSegment& segment_of(double bytes) const;
};

// A network in the words of a scenario.
struct SimulatedNetwork {
  struct Segment {
    std::int64_t from_bytes = 0;
    double latency_factor = 1.0;
    double bandwidth_factor = 1.0;
  };
  double latency_s = 0.0;
  double bandwidth_bytes_per_s = 0.0;
  std::vector<Segment> segments;  // none: one line, or a burst
  double burst_bytes = 0.0;
};

// Nothing when not even the largest messages show a bandwidth.
[[nodiscard]] std::optional<SimulatedNetwork> simulated_network(const NetworkFit& fit);

// At least 3 sizes, ascending.
[[nodiscard]] NetworkFit fit_network(std::span<const TransferTime> times);

}  // namespace paceline::calibrate
