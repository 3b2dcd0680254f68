// The machines of a job and the network between them.
//
// Models:      workers with a number of cores and a relative speed; a star: every worker and the parameter
// server
//              hang on one switch by a full-duplex link of their own.
// Equation:    one message of B bytes between two hosts takes latency + B / min(bandwidths of the two links)
// when
//              nothing else uses them.
// Units:       see the types. `latency` is one-way and end to end (each of the two links carries half of it).
// Assumptions: the switch is never the bottleneck; both directions of a link are independent.
// Not modelled: other topologies, packet loss, operating system overhead per message.
// Source:      design section 5 (network).
#pragma once

#include <vector>

#include "sim/base/quantity.hpp"

namespace paceline {

struct Worker {
  int cores = 1;
  double speed = 1.0;  // relative to the machine the profile was measured on; 0.5 takes twice as long
  friend bool operator==(const Worker&, const Worker&) = default;
};

struct StarNetwork {
  BytesPerSecond bandwidth;         // of each worker's link, in each direction
  Seconds latency;                  // one-way, between any two hosts
  BytesPerSecond server_bandwidth;  // of the parameter server's link, in each direction
};

struct Cluster {
  std::vector<Worker> workers;
  StarNetwork network;
};

}  // namespace paceline
