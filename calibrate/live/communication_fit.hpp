// From timed requests to what messages cost in a scenario.
//
// Models:      each part of a request as a fixed time and a time for each byte of the gradient.
// Equation:    T(n, B) = n·a + s·B (of a request n = 1) by relative least squares, a, s ≥ 0, over the
//              medians of the passes at each size. Interval: ± t(0.975, P − 1) · sd / √P of the fits to each
//              of P passes alone. Error: the mean relative distance of the medians from the line.
//              in a scenario: server_request = a of the server and of applying, server_rate = 1 / s of the
//              server; per_message = a / 2 and rate = 2 / s of the worker, since each of its two messages has
//              B bytes; the connection's latency = a / 2 and bandwidth = 2 / s. The connection has no time of
//              its own where it takes less than 1 us, or 1 % of the request, at any size. What several
//              workers cost one another: message_wait.hpp, from each pass of several beside the same pass of
//              one, since a machine changes its speed between passes.
// Units:       seconds, bytes.
// Assumptions: passes are alike and independent, each of processes of its own; a pass holds every size once.
// Not modelled: where one line does not fit all sizes: the error says so.
// Source:      calibrate/logs/statistics.hpp for the fit.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "calibrate/live/request_timing.hpp"
#include "sim/cost/fixed_costs.hpp"

namespace paceline::live {

struct FittedTime {
  double fixed_s = 0.0;
  double seconds_per_byte = 0.0;
  std::optional<double> fixed_half_width_s{};  // of the 95 % interval; absent below 2 passes
  std::optional<double> per_byte_half_width{};
  double error = 0.0;

  [[nodiscard]] double of(double count, double bytes) const {
    return count * fixed_s + bytes * seconds_per_byte;
  }
};

// What was timed holds the fixed time so often, and so many bytes.
struct TimedWork {
  double count = 1.0;
  double bytes = 0.0;
  std::vector<double> seconds;  // by pass, all above 0
};
// At least two of different sizes.
[[nodiscard]] FittedTime fit_time(const std::vector<TimedWork>& works);

// Of several workers at once, beside what one alone took in the same pass; by size.
struct Disturbances {
  Bytes bytes;
  std::vector<Disturbance> of_pass;
};
// `cores`: that all processes may use.
[[nodiscard]] std::vector<Disturbances> disturbances(const std::vector<RequestPass>& one,
                                                     const std::vector<RequestPass>& several,
                                                     std::uint32_t workers, const RequestPlan& plan,
                                                     int cores);

struct CommunicationFit {
  FittedTime server;
  FittedTime applying;
  FittedTime worker;
  std::optional<FittedTime> connection;  // absent: it has no time of its own, since both ends work at once
};

[[nodiscard]] std::vector<TimedWork> part_of(const std::vector<RequestPass>& passes,
                                             Seconds RequestTime::*part);
[[nodiscard]] CommunicationFit fit_communication(const std::vector<RequestPass>& passes);

[[nodiscard]] CommunicationCost cost_of(const CommunicationFit& fit);
// One way, of processes on this machine.
struct Connection {
  Seconds latency{};
  BytesPerSecond bandwidth{125e9};  // 1000 Gbit/s where bytes take no time of its own
};
[[nodiscard]] Connection connection_of(const CommunicationFit& fit);
// "latency: 20 us, bandwidth: 8 Gbit/s"
[[nodiscard]] std::string scenario_words(const Connection& connection);
// "communication: {server_request: 41 us, per_message: 12 us}"
[[nodiscard]] std::string scenario_words(const CommunicationCost& cost);

}  // namespace paceline::live
