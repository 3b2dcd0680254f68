// Latency and bandwidth from measured transfers.
//
// Models:      one line, which is what the simulator's fluid model can do, and up to three segments of the
//              message size (protocols change with it).
// Equation:    T(m) = L + m/B, relative least squares, L ≥ 0, 1/B ≥ 0: for all sizes, and for each segment;
//              borders lie between measured sizes, at least 3 of which are in a segment; the number of
//              segments is the one of least mean relative error when each inner size is left out in turn,
//              more only where that is 10 % better. for a simulation: latency L₀ of the first segment,
//              bandwidth B₀ of the last, and for each segment the factors L / L₀ and B / B₀. Where L₀ would
//              be 0 it is the largest L instead; where a segment's time does not grow with the size, its
//              largest message takes 1/1000 of L longer.
// Units:       bytes, seconds, bytes per second.
// Assumptions: one transfer at a time.
// Source:      SimGrid's calibration of piecewise network factors (Degomme et al., TPDS 2017).
#pragma once

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

struct NetworkFit {
  TransferLine line;                      // over all sizes
  std::vector<TransferSegment> segments;  // ascending, at least one
  double line_error = 0.0;                // mean relative, over all sizes
  double segments_error = 0.0;

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
  std::vector<Segment> segments;
};

// Nothing when not even the largest messages show a bandwidth.
[[nodiscard]] std::optional<SimulatedNetwork> simulated_network(const NetworkFit& fit);

// At least 3 sizes, ascending.
[[nodiscard]] NetworkFit fit_network(std::span<const TransferTime> times);

}  // namespace paceline::calibrate
