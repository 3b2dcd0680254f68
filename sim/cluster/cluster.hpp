// The machines of a job and the network between them, as a scenario describes them.
//
// Models:      workers with a number of cores, a relative speed and memory, on machines that have so many
//              cores; parameter servers; a network (network_config.hpp).
// Units:       see the types.
// Assumptions: a worker's speed has no effect on its links.
// Not modelled: packet loss, operating system overhead per message.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/quantity.hpp"
#include "sim/cluster/network_config.hpp"

namespace paceline {

// Processor time a worker may use: in each period as much as `cores` cores would give, see
// sim/cost/quota_clock.hpp.
struct CpuQuota {
  double cores = 1.0;
  Seconds period{0.1};
  friend bool operator==(const CpuQuota&, const CpuQuota&) = default;
};

struct Worker {
  int cores = 1;
  double speed = 1.0;     // relative to the machine the profile was measured on; 0.5 takes twice as long
  std::string profile{};  // path of its calibration file; empty: the job's
  std::optional<CpuQuota> quota{};
  std::optional<Bytes> memory{};                 // what a batch must fit into; absent: no limit
  std::optional<double> flops{};                 // declared peak, flop/s
  std::optional<std::uint32_t> random_stream{};  // absent: its place among the workers
  friend bool operator==(const Worker&, const Worker&) = default;
};

// What labels each worker's random numbers (jitter, stragglers, the order of its data), so that a list in
// another order can keep those of every worker.
[[nodiscard]] inline std::vector<std::uint32_t> random_streams(const std::vector<Worker>& workers) {
  std::vector<std::uint32_t> streams;
  for (const Worker& worker : workers)
    streams.push_back(worker.random_stream.value_or(static_cast<std::uint32_t>(streams.size())));
  return streams;
}

// A host on which some of the workers run, on cores of their own.
struct Machine {
  int cores = 1;
  std::vector<std::uint64_t> workers;
};

struct Cluster {
  std::vector<Worker> workers;
  NetworkConfig network;
  ServersConfig servers{};
  std::vector<Machine> machines{};  // a worker that none names has a machine of its own
};

}  // namespace paceline
