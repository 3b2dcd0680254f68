// The section `cluster`: the machines, the parameter servers, and the network between them.
#include <array>

#include <fmt/format.h>

#include "sim/scenario/reader.hpp"
#include "sim/scenario/sections/sections.hpp"

namespace paceline {
namespace {

constexpr std::array topologies{
    TopologyWord{"star", Topology::star, "all on one switch"},
    TopologyWord{"two-level", Topology::two_level, "racks under a core switch"},
    TopologyWord{"tree", Topology::tree, "switches below switches"},
    TopologyWord{"graph", Topology::graph, "nodes and edges by name"},
};

}  // namespace

std::span<const TopologyWord> topology_words() {
  return topologies;
}

void describe(Visitor& v, EdgeConfig& c) {
  v.required("from", c.from, Text{}, "name of a node");
  v.required("to", c.to, Text{}, "name of another node");
  v.required("bandwidth", c.bandwidth, rate(above(0)), "in each direction");
  v.required("latency", c.latency, duration(at_least(0)), "one-way");
}

void describe(Visitor& v, MessageSegment& c) {
  v.required("from", c.from, size(at_least(0)), "smallest message it holds for, up to the next segment's");
  v.optional("latency_factor", c.latency_factor, Number{at_least(0)}, "multiplies the model's");
  v.optional("bandwidth_factor", c.bandwidth_factor, Number{above(0)}, "multiplies the model's");
}

void describe(Visitor& v, NetworkModel& c) {
  v.optional("latency_factor", c.latency_factor, Number{above(0)}, "multiplies every route's latency");
  v.optional("bandwidth_factor", c.bandwidth_factor, Number{above_up_to(0, 1)},
             "share of a link's bandwidth that messages get");
  v.optional("tcp_gamma", c.tcp_gamma, size(at_least(0)),
             "window: a message is no faster than this / (2 x its route's latency); 0 B: no such bound");
  v.optional("cross_traffic", c.cross_traffic, Boolean{},
             "a message also takes 5 % of its rate in the other direction");
  v.optional("burst", c.burst, size(at_least(0)),
             "what each link lets pass at once after rest, beyond its bandwidth, as a shaped one does; 0 B: "
             "nothing");
  v.optional("segments", c.segments, ListOf{Section{}, "segment"},
             "factors by message size, as `paceline calibrate network` measures them, ascending");
}

void describe(Visitor& v, NetworkConfig& c) {
  std::vector<Choice::Word> words;
  std::string meanings;
  for (const auto& [word, topology, meaning] : topologies) {
    words.emplace_back(word, topology);
    meanings += fmt::format("{}{}: {}", meanings.empty() ? "" : "; ", word, meaning);
  }
  v.required("topology", c.topology, Choice(std::move(words)), meanings);
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
  v.required("racks", c.racks, Whole{1, 1U << 16U},
             "each with a switch; workers are spread evenly, in order; servers hang on the core switch");
  v.only_if({"topology", {"tree"}, c.topology == Topology::tree});
  v.required("depth", c.depth, Whole{1, 16}, "links from the root to a worker; servers hang on the root");
  v.required("fan_out", c.fan_out, Whole{2, 1U << 16U}, "links below each switch, towards workers");
  v.only_if({"topology", {"graph"}, c.topology == Topology::graph});
  v.required("nodes", c.nodes, ListOf{Text{}, "node", 1, maximum_workers}, "names of hosts and switches");
  v.required("edges", c.edges, ListOf{Section{}, "edge"}, "full-duplex links between nodes");
  v.required("worker_nodes", c.worker_nodes, ListOf{Text{}, "worker", 1, maximum_workers},
             "on which node each worker sits");
  v.optional("server_nodes", c.server_nodes, ListOf{Text{}, "server"},
             "on which node each separate parameter server sits");
  v.always();
  v.optional("model", c.model, Section{}, "corrections of the network simulation");
}

void describe(Visitor& v, CpuQuota& c) {
  v.required("cores", c.cores, Number{above(0)}, "as much processor time as so many cores give, e.g. 0.5");
  v.optional("period", c.period, duration(above(0)), "in which it may be used, all at once if need be");
  v.optional(
      "resume", c.resume, duration(at_least(0)),
      "of each period, what computing takes longer after the worker stood still: `paceline calibrate own "
      "--quota` measures it, of a member of a ring `calibrate collective --quota`",
      Absent{"0 s: not measured"});
}

void describe(Visitor& v, Worker& c) {
  int repeat = 1;
  v.optional(
      "name", c.name, Text{},
      "what it is called, also by stragglers and levels; those of one `repeat` are numbered: `big 1`, `big "
      "2`",
      Absent{"its number, from 0"});
  v.optional("repeat", repeat, repeated_workers, "so many workers alike, that are counted one by one",
             Expanded{});
  v.required("cores", c.cores, Whole{1, 1 << 16},
             "CPU cores; a number that the profile has not measured follows from its law, with a note");
  v.optional("speed", c.speed, Number{above(0)},
             "relative to the profile's machine; 0.5 takes twice as long");
  v.optional("profile", c.profile, Path{}, "calibration file of this machine, for the job's network",
             Absent{"the job's"});
  v.optional("quota", c.quota, Section{}, "limit of processor time, as containers have", Absent{"none"});
  v.optional("memory", c.memory, size(above(0)),
             "what a batch must fit into, by the profile's memory model: larger ones are cut and reported",
             Absent{"no limit"});
  v.optional("flops", c.flops, operation_rate(above(0)), "declared peak, for `batching.shares: flops`",
             Absent{"not declared"});
  v.optional("price", c.price_per_hour, price(at_least(0)),
             "of the machine, in a currency of your own; with one for every worker, cost stands beside time",
             Absent{"no cost is told"});
  v.optional("message_wait", c.message_wait, duration(at_least(0)),
             "mean of a random wait of each message between it and a server, exponentially distributed; "
             "`validate live` measures it",
             Absent{"`jitter.message`"});
  v.optional("random_stream", c.random_stream, Whole{0, maximum_workers - 1},
             "names its random numbers (jitter, stragglers, order of its data), so that a list "
             "in another order keeps them",
             Absent{"its place in the list, from 0"});
}

void describe(Visitor& v, Turns& c) {
  v.required("length", c.length, duration(at_least(1e-6)),
             "of one turn, while others wait: the slice of Linux is 0.7 to 3 ms");
  v.optional("servers_first", c.servers_first, Boolean{},
             "whether a server interrupts a worker instead of waiting for a turn");
}

void describe(Visitor& v, Machine& c) {
  v.required("cores", c.cores, Whole{1, 1 << 16}, "of the whole machine");
  v.optional("workers", c.workers, ListOf{worker_number(), "worker", 1},
             "that run on it, on cores of their own unless it is `shared`", Absent{"all"});
  v.optional("shared", c.is_shared, Boolean{},
             "whether its busy processes slow each other down, and may need more cores than it has");
  v.only_if({"shared", {"true"}, c.is_shared});
  v.optional("speeds", c.speeds, ListOf{Number{above_up_to(0, 1)}, "speed", 1},
             "measured: of each of 1, 2, ... busy processes beside one that is alone, so the first is 1; "
             "more share what the last have together",
             Absent{"1 up to its cores"});
  v.optional("servers", c.hosts_servers, Boolean{},
             "whether the separate parameter servers run on it, too; each is busy while it works");
  v.optional("slow_workers", c.slow_workers,
             Choice{{"compute", SlowWorkers::compute}, {"rest", SlowWorkers::rest}},
             "what a worker does whose speed (its own, a level's, a straggler's) is below 1: compute all the "
             "time, or compute at the machine's speed and then rest, as in `paceline live`");
  v.optional("turns", c.turns, Section{},
             "busy processes take turns when they are more than its cores: as many as it has cores compute, "
             "the others wait in line; only for processes of one core",
             Absent{"all are slowed down alike"});
  v.always();
}

void describe(Visitor& v, ServersConfig& c) {
  v.optional("count", c.count, Whole{1, 1U << 16U}, "parameter servers; each holds a part of the parameters");
  v.optional(
      "split", c.split,
      Choice{{"even", ParameterSplit::even}, {"whole-variables", ParameterSplit::whole_variables}},
      "even: each server holds an equal share; whole-variables: variables are placed whole, one server "
      "after the other in the order in which the profile names them, so some servers hold more");
  v.optional("placement", c.placement,
             Choice{{"separate", ServerPlacement::separate}, {"with-workers", ServerPlacement::with_workers}},
             "separate: machines of their own; with-workers: server k runs on worker k (mod workers)");
  v.optional("sends", c.sends,
             Choice{{"together", ServerSends::together},
                    {"in-turn", ServerSends::in_turn},
                    {"sockets", ServerSends::sockets}},
             "together: messages of a server to several workers share its link; in-turn: each sets out when "
             "the one before has left it; sockets: messages that take up to 5 ms alone in turn, larger ones "
             "together, as TCP of Linux sends them");
}

void describe(Visitor& v, Cluster& c) {
  v.required("workers", c.workers, ListOf{Section{}, "worker", 1, maximum_workers},
             "the machines that train");
  v.required("network", c.network, Section{}, "the network between them");
  v.optional("servers", c.servers, Section{}, "parameter servers, for `transport: server`");
  v.optional("machines", c.machines, ListOf{Section{}, "machine"},
             "hosts of several workers: none may need more cores than they have, unless they share them");
}

}  // namespace paceline
