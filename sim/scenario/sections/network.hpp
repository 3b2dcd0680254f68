// The section `cluster.network`: what connects the machines, and how the simulation of it is corrected.
#pragma once

#include <cstdint>

#include "sim/scenario/scenario.hpp"
#include "sim/scenario/schema/value_kinds.hpp"
#include "sim/scenario/sections/terms.hpp"

namespace paceline {

template <class Visitor>
void describe(Visitor& v, EdgeConfig& c) {
  v.required("from", c.from, Text{}, "name of a node");
  v.required("to", c.to, Text{}, "name of another node");
  v.required("bandwidth", c.bandwidth, rate(above(0)), "in each direction");
  v.required("latency", c.latency, duration(at_least(0)), "one-way");
}

template <class Visitor>
void describe(Visitor& v, MessageSegment& c) {
  v.required("from", c.from, size(at_least(0)), "smallest message it holds for, up to the next segment's");
  v.optional("latency_factor", c.latency_factor, Number{at_least(0)}, "multiplies the model's");
  v.optional("bandwidth_factor", c.bandwidth_factor, Number{above(0)}, "multiplies the model's");
}

template <class Visitor>
void describe(Visitor& v, NetworkModel& c) {
  v.optional("latency_factor", c.latency_factor, Number{above(0)}, "multiplies every route's latency");
  v.optional("bandwidth_factor", c.bandwidth_factor, Number{above_up_to(0, 1)},
             "share of a link's bandwidth that messages get");
  v.optional("tcp_gamma", c.tcp_gamma, size(at_least(0)),
             "window: a message is no faster than this / (2 x its route's latency); 0 B: no such bound");
  v.optional("cross_traffic", c.cross_traffic, Boolean{},
             "a message also takes 5 % of its rate in the other direction");
  v.optional("segments", c.segments, ListOf<Section>{{}, "segment"},
             "factors by message size, as `paceline calibrate network` measures them, ascending");
}

template <class Visitor>
void describe(Visitor& v, NetworkConfig& c) {
  v.required("topology", c.topology,
             Choice<Topology>{{{"star", Topology::star},
                               {"two-level", Topology::two_level},
                               {"tree", Topology::tree},
                               {"graph", Topology::graph}}},
             "star: all on one switch; two-level: racks under a core switch; tree: switches below switches; "
             "graph: nodes and edges by name");
  v.only_if({"topology", {"star", "two-level", "tree"}, c.topology != Topology::graph});
  v.required("bandwidth", c.bandwidth, rate(above(0)), "of each worker's link, in each direction");
  v.required("latency", c.latency, duration(at_least(0)), "one-way, between two hosts under one switch");
  v.optional("server_bandwidth", c.server_bandwidth, rate(above(0)),
             "of each parameter server's link, in each direction",
             SameAs<BytesPerSecond>{"bandwidth", c.bandwidth});
  const bool has_uplinks = c.topology == Topology::two_level || c.topology == Topology::tree;
  v.only_if({"topology", {"two-level", "tree"}, has_uplinks});
  v.required("uplink_bandwidth", c.uplink_bandwidth, rate(above(0)),
             "of each link between switches, in each direction");
  v.required("uplink_latency", c.uplink_latency, duration(at_least(0)),
             "one-way, added by each link between switches");
  v.only_if({"topology", {"two-level"}, c.topology == Topology::two_level});
  v.required("racks", c.racks, Whole<std::uint32_t>{1, 1U << 16U},
             "each with a switch; workers are spread evenly, in order; servers hang on the core switch");
  v.only_if({"topology", {"tree"}, c.topology == Topology::tree});
  v.required("depth", c.depth, Whole<std::uint32_t>{1, 16},
             "links from the root to a worker; servers hang on the root");
  v.required("fan_out", c.fan_out, Whole<std::uint32_t>{2, 1U << 16U},
             "links below each switch, towards workers");
  v.only_if({"topology", {"graph"}, c.topology == Topology::graph});
  v.required("nodes", c.nodes, ListOf<Text>{{}, "node", 1, maximum_workers}, "names of hosts and switches");
  v.required("edges", c.edges, ListOf<Section>{{}, "edge"}, "full-duplex links between nodes");
  v.required("worker_nodes", c.worker_nodes, ListOf<Text>{{}, "worker", 1, maximum_workers},
             "on which node each worker sits");
  v.optional("server_nodes", c.server_nodes, ListOf<Text>{{}, "server"},
             "on which node each separate parameter server sits");
  v.always();
  v.optional("model", c.model, Section{}, "corrections of the network simulation");
}

}  // namespace paceline
