// Asynchronous workers that share parameter servers: a closed queue.
//
// Models:      every worker computes, asks all servers at once to apply its gradient and send the parameters
//              back, and goes on when the last of them has; each server serves one request at a time, in
//              order of arrival.
// Equation:    worker i alone takes t_i = Z_i + max_j s_j; end of a request at server j = max(asked, free_j)
//              + s_j. A worker that joins reads the parameters at that moment; of one that leaves, what it
//              had not yet asked a server to apply is lost, and nobody waits for it.
//              Deterministic times and one server: rate = min(n/t, 1/s). Exponential service: exact
//              mean value analysis, R(n) = s (1 + Q(n-1)), X(n) = n / (R(n) + Z), Q(n) = X(n) R(n).
// Units:       seconds, updates/s; staleness in updates of others between reading and application.
// Assumptions: a server's whole service is seen by a worker alone; further servers do not shorten t_i.
//              Compute times are lognormal and independent.
// Not modelled: the wire apart from the service, tensors served in between those of another worker.
// Source:      Reiser and Lavenberg, "Mean-value analysis of closed multichain queuing networks", JACM 1980.
#pragma once

#include <limits>
#include <vector>

#include "sim/base/random.hpp"

namespace paceline {

struct QueueWorker {
  double alone_s = 0.0;
  double joins_s = 0.0;
  double leaves_s = std::numeric_limits<double>::infinity();
};

enum class ServiceVariation { lognormal, exponential };

struct ServerQueue {
  std::vector<QueueWorker> workers;
  std::vector<double> service_s;   // of one update, by server
  double compute_variation = 0.0;  // sd / mean
  double service_variation = 0.0;
  ServiceVariation variation = ServiceVariation::lognormal;
  double updates = 64'000.0;
  double pause_s = 0.0;  // of the first worker, each time `pause_updates` more are done
  double pause_updates = 0.0;
  int evaluations = 1;  // after equal shares of the updates
};

struct QueueResult {
  double seconds = 0.0;
  double rate = 0.0;            // updates / seconds
  double mean_staleness = 0.0;  // over updates
  struct Evaluation {
    double seconds = 0.0;
    double mean_staleness = 0.0;  // until then
  };
  std::vector<Evaluation> evaluations;
};
// Somebody must stay until the end.
[[nodiscard]] QueueResult simulate_queue(const ServerQueue& queue, RandomStream random);

// Updates/s of `workers` equal workers at one server with exponential service.
[[nodiscard]] double mean_value_rate(int workers, double alone_s, double service_s);

}  // namespace paceline
