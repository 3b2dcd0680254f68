// Seconds a synchronous job waits for one exchange of its parameters or gradients over a shaped network.
//
// Models:      a ring all-reduce over 4 nodes with the overhead that was measured at another rate.
// Equation:    ring = 2 (n - 1) / n · bytes / rate; blocked = ring · f or ring + d, with f = measured / ring
//              and d = measured - ring of the recorded exchanges of the same algorithm; the first exchange
//              of a run pays a fixed time more.
// Units:       seconds, bytes, Mbit/s.
// Assumptions: the overhead is a share of the time on the wire; that it were a fixed time instead is the
//              other end of the interval. `diloco` exchanges the same bytes as `local-sgd`.
// Not modelled: overlap with the backward pass apart from its share in f.
// Source:      Patarasuk and Yuan 2009 (ring); recorded exchanges.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "calibrate/asynchronous/records.hpp"

namespace paceline {

struct ExchangeTime {
  double seconds = 0.0;
  double low_s = 0.0;
  double high_s = 0.0;
};
inline constexpr int exchange_nodes = 4;
// Runs of so many local steps or more exchange once.
inline constexpr int single_exchange_steps = 128;

[[nodiscard]] double ring_seconds(double bytes, int nodes, double rate_mbit);
// From the records without `left_out`. Nothing when no algorithm like it is recorded.
[[nodiscard]] std::optional<ExchangeTime> predict_exchange(const std::vector<ExchangeRecord>& records,
                                                           const Configuration& configuration,
                                                           const std::string& left_out = "");

}  // namespace paceline
