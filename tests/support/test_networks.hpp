// Networks in readable units, and a way to see when messages and collectives on them are over.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "sim/cluster/cluster.hpp"
#include "sim/engine/timeline.hpp"

namespace paceline::test {

inline constexpr BytesPerSecond link_bandwidth{100.0};
inline constexpr Seconds link_latency{0.5};

inline Cluster star(std::size_t workers, BytesPerSecond bandwidth, Seconds latency) {
  return {std::vector<Worker>(workers), {bandwidth, latency, bandwidth}};
}

inline Cluster two_level(std::size_t workers, std::uint32_t racks, BytesPerSecond bandwidth, Seconds latency,
                         BytesPerSecond uplink_bandwidth, Seconds uplink_latency) {
  Cluster cluster = star(workers, bandwidth, latency);
  cluster.network.topology = Topology::two_level;
  cluster.network.racks = racks;
  cluster.network.uplink_bandwidth = uplink_bandwidth;
  cluster.network.uplink_latency = uplink_latency;
  return cluster;
}

inline Cluster tree(std::size_t workers, std::uint32_t depth, std::uint32_t fan_out, BytesPerSecond bandwidth,
                    Seconds latency) {
  Cluster cluster = star(workers, bandwidth, latency);
  cluster.network.topology = Topology::tree;
  cluster.network.depth = depth;
  cluster.network.fan_out = fan_out;
  cluster.network.uplink_bandwidth = bandwidth;
  cluster.network.uplink_latency = latency;
  return cluster;
}

inline Cluster graph(std::vector<std::string> nodes, std::vector<EdgeConfig> edges,
                     std::vector<std::string> workers, std::vector<std::string> servers = {}) {
  Cluster cluster;
  cluster.workers.resize(workers.size());
  cluster.network.topology = Topology::graph;
  cluster.network.nodes = std::move(nodes);
  cluster.network.edges = std::move(edges);
  cluster.network.worker_nodes = std::move(workers);
  cluster.network.server_nodes = std::move(servers);
  cluster.servers.count = static_cast<std::uint32_t>(cluster.network.server_nodes.size());
  return cluster;
}

// What happens on a timeline at given times, and when each thing with a tag was over.
class Script {
 public:
  void at(Seconds date, std::function<void(Timeline&)> step) { steps_.emplace_back(date, std::move(step)); }

  [[nodiscard]] static Occurrence tag(std::uint64_t number) {
    return Event(AllReduceFinished{UpdateId{number}});
  }

  // By tag.
  std::map<std::uint64_t, Seconds> play(Timeline& timeline) {
    for (std::size_t i = 0; i < steps_.size(); ++i) timeline.at(steps_[i].first, Event(TimerExpired{i}));
    std::map<std::uint64_t, Seconds> over;
    const bool stopped = timeline.run([&](Seconds now, const std::vector<Occurrence>& occurrences) {
      for (const Occurrence& occurrence : occurrences) {
        const Event& event = std::get<Event>(occurrence);
        if (const auto* finished = std::get_if<AllReduceFinished>(&event)) over[finished->update.value] = now;
        if (const auto* timer = std::get_if<TimerExpired>(&event)) steps_[timer->phase].second(timeline);
      }
      return true;
    });
    if (stopped) over.clear();
    return over;
  }

 private:
  std::vector<std::pair<Seconds, std::function<void(Timeline&)>>> steps_;
};

inline std::vector<WorkerId> all_workers(const Cluster& cluster) {
  std::vector<WorkerId> all;
  for (std::uint64_t w = 0; w < cluster.workers.size(); ++w) all.push_back(WorkerId{w});
  return all;
}

// How long an all-reduce of all workers takes that starts at time 0.
inline Seconds all_reduce_time(Timeline& timeline, const Cluster& cluster, Transport algorithm, Bytes size,
                               Seconds undisturbed_until = {}) {
  Script script;
  script.at(Seconds{0.0}, [&](Timeline& t) {
    t.all_reduce(algorithm, all_workers(cluster), size, undisturbed_until, Script::tag(1));
  });
  return script.play(timeline).at(1);
}

}  // namespace paceline::test
