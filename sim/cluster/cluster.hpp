// The machines of a job and the network between them, as a scenario describes them.
//
// Models:      workers with a number of cores, a relative speed and memory, on machines that have so many
//              cores; parameter servers; a network, whose graph is made by network.hpp:
//              star:      every worker and server on one switch by a link of its own.
//              two-level: racks of workers, a switch in each, that hangs on a core switch by an uplink.
//                         Worker w of n is in rack floor(w · racks / n). Servers hang on the core switch.
//              tree:      switches in a complete tree with `fan_out` children each; the workers hang below
//                         its lowest level, `depth` links from the root, in order. Servers hang on the root.
//              graph:     nodes and edges by name; workers and servers sit on nodes, maybe several on one.
// Equation:    a link of a worker or server carries half of `latency`: two hosts under one switch are
//              `latency` apart; each uplink on the way adds `uplink_latency`.
// Units:       see the types; every link is full-duplex: its bandwidth is that of each direction.
// Assumptions: a worker's speed has no effect on its links. Switches forward at any rate.
// Not modelled: packet loss, operating system overhead per message.
// Source:      Degomme et al., TPDS 2017, for factors by message size; RFC 2215, section 3.6, for bursts.
#pragma once

#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/quantity.hpp"

namespace paceline {

enum class Topology { star, two_level, tree, graph };

struct EdgeConfig {
  std::string from;
  std::string to;
  BytesPerSecond bandwidth;
  Seconds latency;
};

// What messages of at least this size meet, on top of the model's factors: protocols change with the size.
struct MessageSegment {
  Bytes from;
  double latency_factor = 1.0;
  double bandwidth_factor = 1.0;
  friend bool operator==(const MessageSegment&, const MessageSegment&) = default;
};

// Corrections of the fluid model. With these defaults a message alone on its route takes latency + bytes /
// bandwidth.
struct NetworkModel {
  double latency_factor = 1.0;    // multiplies every route's latency
  double bandwidth_factor = 1.0;  // share of a link's bandwidth that messages get
  Bytes tcp_gamma{};  // a message is no faster than this / (2 · latency of its route); 0: no such bound
  bool cross_traffic = false;  // a message also takes 5 % of its rate on the way back, for acknowledgements
  Bytes burst{};  // of each direction of each link: what passes at once after rest, beyond its bandwidth
  std::vector<MessageSegment> segments{};  // ascending; below the first, the factors above hold alone
  friend bool operator==(const NetworkModel&, const NetworkModel&) = default;
};

// The model's factors and those of the message's segment together.
[[nodiscard]] inline MessageSegment factors_of(const NetworkModel& model, Bytes message) {
  MessageSegment factors{{}, model.latency_factor, model.bandwidth_factor};
  for (const MessageSegment& segment : model.segments)
    if (message >= segment.from)
      factors = {segment.from, model.latency_factor * segment.latency_factor,
                 model.bandwidth_factor * segment.bandwidth_factor};
  return factors;
}

struct NetworkConfig {
  // star, two-level, tree
  BytesPerSecond bandwidth{};         // of each worker's link
  Seconds latency{};                  // one-way, between two hosts under one switch
  BytesPerSecond server_bandwidth{};  // of each server's link
  Topology topology = Topology::star;
  // two-level, tree
  BytesPerSecond uplink_bandwidth{};  // of a link between switches
  Seconds uplink_latency{};           // one-way
  std::uint32_t racks = 1;
  std::uint32_t depth = 1;
  std::uint32_t fan_out = 2;
  // graph
  std::vector<std::string> nodes{};
  std::vector<EdgeConfig> edges{};
  std::vector<std::string> worker_nodes{};  // where each worker sits
  std::vector<std::string> server_nodes{};  // where each separate server sits
  NetworkModel model{};
};

// Whether servers are machines of their own or run on the workers' (server k on worker k mod workers).
enum class ServerPlacement { separate, with_workers };

// What each server holds: an equal share of the parameters, or whole variables in turn (sim/cost/shards.hpp).
enum class ParameterSplit { even, whole_variables };

// Whether a server's messages travel together, or each sets out when the one before has left; of sockets
// those do that a kernel queues whole before a link (sim/engine/job_network.hpp).
enum class ServerSends { together, in_turn, sockets };

struct ServersConfig {
  std::uint32_t count = 1;
  ParameterSplit split = ParameterSplit::even;
  ServerPlacement placement = ServerPlacement::separate;
  ServerSends sends = ServerSends::together;
};

// Processor time a worker may use: in each period as much as `cores` cores would give, see
// sim/cost/quota_clock.hpp.
struct CpuQuota {
  double cores = 1.0;
  Seconds period{0.1};
  std::optional<Seconds> resume{};  // what going on in a new period takes; absent: not measured, and nothing
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
  std::string name{};                            // empty: it goes by its number
  std::optional<double> price_per_hour{};        // in a currency of the user's own
  std::optional<Seconds> message_wait{};         // mean, random, of each of its messages; absent: the job's
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

// "big 1", or "worker 3" of one without a name.
[[nodiscard]] inline std::string name_of(const std::vector<Worker>& workers, std::size_t worker) {
  const std::string& name = workers.at(worker).name;
  return name.empty() ? "worker " + std::to_string(worker) : name;
}

// What a worker does that is slower than its machine (its own `speed`, a level's or a straggler's below 1).
enum class SlowWorkers { compute, rest };

// How processes share the cores of a machine when more of them are busy than it has cores.
struct Turns {
  Seconds length;  // of one turn, while others wait
  bool servers_first = false;
  friend bool operator==(const Turns&, const Turns&) = default;
};

// A host on which some of the workers run, on cores of their own or shared (sim/cost/machine_speed.hpp).
struct Machine {
  int cores = 1;
  std::vector<std::uint64_t> workers{};  // empty: all
  bool is_shared = false;
  std::vector<double> speeds{};  // of each of 1, 2, … busy processes
  bool hosts_servers = false;
  SlowWorkers slow_workers = SlowWorkers::compute;
  std::optional<Turns> turns{};  // absent: all are slowed down alike instead
};

struct Cluster {
  std::vector<Worker> workers;
  NetworkConfig network;
  ServersConfig servers{};
  std::vector<Machine> machines{};  // a worker that none names has a machine of its own
};

[[nodiscard]] inline std::vector<std::uint64_t> workers_on(const Machine& machine, std::size_t workers) {
  if (!machine.workers.empty()) return machine.workers;
  std::vector<std::uint64_t> all(workers);
  std::iota(all.begin(), all.end(), std::uint64_t{0});
  return all;
}

}  // namespace paceline
