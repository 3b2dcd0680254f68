// What a scenario says about the network. The graph it means: network.hpp.
//
// Models:      star:      every worker and server on one switch by a link of its own.
//              two-level: racks of workers, a switch in each; every rack switch hangs on a core switch by an
//              uplink.
//                         Worker w of n is in rack floor(w · racks / n). Servers hang on the core switch.
//              tree:      switches in a complete tree with `fan_out` children each; the workers hang below
//                         its lowest level, `depth` links from the root, in order. Servers hang on the root.
//              graph:     nodes and edges by name; workers and servers sit on nodes, several on one if so
//                         written.
// Equation:    a link of a worker or server carries half of `latency`: two hosts under one switch are
//              `latency` apart; each uplink on the way adds `uplink_latency`.
// Units:       see the types; every link is full-duplex: its bandwidth is that of each direction.
// Assumptions: switches forward at any rate.
// Source:      Degomme et al., TPDS 2017, for factors by message size.
#pragma once

#include <cstdint>
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
  Bytes tcp_gamma;  // a message is no faster than this / (2 · latency of its route); 0: no such bound
  bool cross_traffic = false;  // a message also takes 5 % of its rate on the way back, for acknowledgements
  std::vector<MessageSegment>
      segments{};  // ascending; a message below the first meets the factors above alone
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

struct ServersConfig {
  std::uint32_t count = 1;  // each holds an equal shard of the parameters
  ServerPlacement placement = ServerPlacement::separate;
};

}  // namespace paceline
