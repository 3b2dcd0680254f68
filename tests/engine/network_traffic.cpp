#include "tests/engine/network_traffic.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/base/check.hpp"
#include "sim/base/random.hpp"
#include "sim/engine/fluid/fluid_timeline.hpp"
#include "sim/engine/simgrid/simgrid_timeline.hpp"
#include "tests/support/test_networks.hpp"

namespace paceline::test {
namespace {

class Draw {
 public:
  explicit Draw(std::uint32_t seed) : stream_({seed, 0}, Purpose::test, 19) {}
  std::uint64_t below(std::uint64_t bound) { return stream_.below(bound); }
  bool chance(double p) { return stream_.uniform() < p; }
  // Within two powers of ten, or one of a few round values.
  double positive(double centre) {
    constexpr std::array<double, 4> round = {0.5, 1.0, 2.0, 5.0};
    if (chance(0.5)) return centre * round[below(round.size())];
    return centre * std::pow(10.0, 2.0 * stream_.uniform() - 1.0);
  }

 private:
  RandomStream stream_;
};

constexpr double bandwidth = 1e8;
constexpr double bytes = 1e6;

Cluster random_graph(Draw& draw, std::size_t hosts, double latency) {
  std::vector<std::string> nodes;
  for (std::size_t n = 0; n < hosts + 3; ++n) nodes.push_back(fmt::format("n{}", n));
  std::vector<EdgeConfig> edges;
  const auto connect = [&](std::size_t a, std::size_t b) {
    const double own = draw.chance(0.3) ? draw.positive(1e-4) : latency;
    edges.push_back({nodes[a], nodes[b], BytesPerSecond{draw.positive(bandwidth)}, Seconds{own}});
  };
  for (std::size_t n = 1; n < nodes.size(); ++n) connect(n, draw.below(n));
  for (std::size_t more = draw.below(4); more > 0; --more) {
    const std::size_t a = draw.below(nodes.size());
    const std::size_t b = draw.below(nodes.size());
    const auto is_same = [&](const EdgeConfig& e) {
      return (e.from == nodes[a] && e.to == nodes[b]) || (e.from == nodes[b] && e.to == nodes[a]);
    };
    if (a != b && std::ranges::none_of(edges, is_same)) connect(a, b);
  }
  const std::vector<std::string> workers(nodes.begin(), nodes.begin() + static_cast<std::ptrdiff_t>(hosts));
  return graph(nodes, edges, workers, {nodes[hosts], nodes[draw.below(nodes.size())]});
}

Cluster random_cluster(Draw& draw) {
  const std::size_t workers = 2 + draw.below(9);
  const Seconds latency{draw.chance(0.25) ? 0.0 : draw.positive(1e-4)};
  const BytesPerSecond speed{draw.positive(bandwidth)};
  const BytesPerSecond uplink{draw.positive(2.0 * bandwidth)};
  Cluster cluster;
  switch (draw.below(4)) {
    case 0:
      cluster = star(workers, speed, latency);
      break;
    case 1:
      cluster = two_level(workers, static_cast<std::uint32_t>(1 + draw.below(3)), speed, latency, uplink,
                          Seconds{latency.value() * draw.positive(1.0)});
      break;
    case 2:
      cluster = tree(workers, static_cast<std::uint32_t>(2 + draw.below(2)), 4, speed, latency);
      cluster.network.uplink_bandwidth = uplink;
      break;
    default:
      cluster = random_graph(draw, workers, latency.value());
      return cluster;
  }
  cluster.network.server_bandwidth =
      BytesPerSecond{draw.chance(0.5) ? speed.value() : draw.positive(bandwidth)};
  cluster.servers.count = static_cast<std::uint32_t>(1 + draw.below(4));
  if (draw.chance(0.25)) cluster.servers.placement = ServerPlacement::with_workers;
  return cluster;
}

NetworkModel random_model(Draw& draw) {
  NetworkModel model;
  if (draw.chance(0.3)) model.latency_factor = draw.chance(0.2) ? 0.0 : draw.positive(3.0);
  if (draw.chance(0.3)) model.bandwidth_factor = 0.8;
  if (draw.chance(0.3)) model.tcp_gamma = Bytes{draw.positive(2e4)};
  if (draw.chance(0.3)) model.segments = {{Bytes{bytes}, 1.5, 0.9}, {Bytes{2.0 * bytes}, 2.0, 1.1}};
  if (model.segments.empty() && draw.chance(0.3)) model.burst = Bytes{draw.positive(2e4)};
  return model;
}

constexpr std::uint64_t collective_tags = 1'000'000;

}  // namespace

NetworkTraffic random_traffic(std::uint32_t seed) {
  Draw draw(seed);
  NetworkTraffic traffic;
  traffic.cluster = random_cluster(draw);
  traffic.cluster.network.model = random_model(draw);
  const std::size_t workers = traffic.cluster.workers.size();
  const std::size_t servers = traffic.cluster.servers.count;
  const auto endpoint = [&]() -> Endpoint {
    if (draw.chance(0.5)) return ServerId{draw.below(servers)};
    return WorkerId{draw.below(workers)};
  };
  const bool all_to_one = draw.chance(0.4);
  const bool alike = draw.chance(0.4);
  const double size = draw.positive(bytes);
  for (std::size_t i = 1 + draw.below(24); i > 0; --i)
    traffic.exchanges.push_back({all_to_one ? Endpoint{WorkerId{draw.below(workers)}} : endpoint(),
                                 all_to_one ? Endpoint{ServerId{0}} : endpoint(),
                                 Seconds{draw.chance(0.3) ? 0.0 : draw.positive(0.02)},
                                 Seconds{draw.chance(0.2) ? 0.0 : draw.positive(0.01)},
                                 Bytes{std::ceil(alike               ? size
                                                 : draw.chance(0.05) ? 0.0
                                                                     : draw.positive(bytes))},
                                 1 + draw.below(8)});
  // Whom a burst serves first among messages of a collective that set out at one date is left open.
  for (std::size_t i = traffic.cluster.network.model.burst > Bytes{} ? 0 : draw.below(3); i > 0; --i)
    traffic.collectives.push_back(
        {static_cast<Transport>(draw.below(3)), Seconds{draw.positive(0.05)}, Bytes{draw.positive(bytes)}});
  // Which of several changes at one date is the last is for the caller to say: there is one.
  if (draw.chance(0.4))
    for (std::size_t i = 1 + draw.below(5); i > 0; --i) {
      const Seconds at{draw.positive(0.03)};
      const WorkerId worker{draw.below(workers)};
      const double factor = draw.positive(0.5);
      if (std::ranges::find(traffic.changes, at, &NetworkTraffic::Change::at) == traffic.changes.end())
        traffic.changes.push_back({worker, at, factor});
    }
  return traffic;
}

std::string to_text(const NetworkTraffic& traffic) {
  const auto name = [](Endpoint end) {
    if (const auto* worker = std::get_if<WorkerId>(&end)) return fmt::format("w{}", worker->value);
    return fmt::format("s{}", std::get<ServerId>(end).value);
  };
  const NetworkConfig& network = traffic.cluster.network;
  std::string text = fmt::format(
      "topology {} workers {} servers {}{} bw {} server {} uplink {} latency {} uplink {}\nmodel {} {} gamma "
      "{} segments {} burst {}\n",
      static_cast<int>(network.topology), traffic.cluster.workers.size(), traffic.cluster.servers.count,
      traffic.cluster.servers.placement == ServerPlacement::with_workers ? " with workers" : "",
      network.bandwidth.value(), network.server_bandwidth.value(), network.uplink_bandwidth.value(),
      network.latency.value(), network.uplink_latency.value(), network.model.latency_factor,
      network.model.bandwidth_factor, network.model.tcp_gamma.value(), network.model.segments.size(),
      network.model.burst.value());
  for (const EdgeConfig& edge : network.edges)
    text +=
        fmt::format("edge {} {} {} {}\n", edge.from, edge.to, edge.bandwidth.value(), edge.latency.value());
  for (std::size_t i = 0; i < traffic.exchanges.size(); ++i) {
    const auto& e = traffic.exchanges[i];
    text += fmt::format("exchange {}: {} {} at {} rest {} size {} times {}\n", i, name(e.a), name(e.b),
                        e.begin.value(), e.rest.value(), e.size.value(), e.times);
  }
  for (const auto& c : traffic.collectives)
    text += fmt::format("collective {} at {} size {}\n", static_cast<int>(c.algorithm), c.begin.value(),
                        c.size.value());
  for (const auto& c : traffic.changes)
    text += fmt::format("worker {} at {}: factor {}\n", c.worker.value, c.at.value(), c.factor);
  return text;
}

Carried carry(const NetworkTraffic& traffic, Timeline& timeline) {
  // Timers are numbered: exchange · 1000 + what is sent; then collectives, then changes.
  const std::uint64_t changes_from = 2 * collective_tags;
  const auto timer = [](std::uint64_t number) { return Occurrence(Event(TimerExpired{number})); };
  for (std::uint64_t i = 0; i < traffic.exchanges.size(); ++i)
    timeline.at(traffic.exchanges[i].begin, timer(1000 * i));
  for (std::uint64_t i = 0; i < traffic.collectives.size(); ++i)
    timeline.at(traffic.collectives[i].begin, timer(collective_tags + i));
  for (std::uint64_t i = 0; i < traffic.changes.size(); ++i)
    timeline.at(traffic.changes[i].at, timer(changes_from + i));
  Carried carried;
  const auto begin = [&](std::uint64_t number) {
    if (number >= changes_from) {
      const NetworkTraffic::Change& change = traffic.changes[number - changes_from];
      return timeline.set_bandwidth_factor(change.worker, change.factor);
    }
    const Occurrence over = Script::tag(number);
    if (number >= collective_tags) {
      const NetworkTraffic::Collective& one = traffic.collectives[number - collective_tags];
      return timeline.all_reduce(one.algorithm, all_workers(traffic.cluster), one.size, timeline.now(), over);
    }
    const NetworkTraffic::Exchange& one = traffic.exchanges[number / 1000];
    const bool there = number % 2 == 0;
    timeline.send(there ? one.a : one.b, there ? one.b : one.a, one.size, over);
  };
  // What is due at one date begins in the order of its numbers, as an executor has its own: a burst serves
  // the first.
  const bool stopped = timeline.run([&](Seconds now, const std::vector<Occurrence>& occurrences) {
    std::vector<std::uint64_t> due_now;
    for (const Occurrence& occurrence : occurrences) {
      const Event& event = std::get<Event>(occurrence);
      if (const auto* due = std::get_if<TimerExpired>(&event)) due_now.push_back(due->phase);
      const auto* over = std::get_if<AllReduceFinished>(&event);
      if (over == nullptr) continue;
      const std::uint64_t number = over->update.value;
      carried.dates[number] = now;
      if (number >= collective_tags) continue;
      const NetworkTraffic::Exchange& one = traffic.exchanges[number / 1000];
      if (number % 1000 + 1 < one.times) timeline.at(now + one.rest, timer(number + 1));
    }
    std::ranges::sort(due_now);
    std::ranges::for_each(due_now, begin);
    return true;
  });
  check(!stopped, "traffic ends when nothing is left to happen");
  carried.use = timeline.link_use();
  return carried;
}

Carried carry_by_fluid(const NetworkTraffic& traffic) {
  FluidTimeline timeline(traffic.cluster);
  return carry(traffic, timeline);
}

Carried carry_by_simgrid(const NetworkTraffic& traffic) {
  std::array<int, 2> ends{};
  check(pipe(ends.data()) == 0, "a pipe can be made");
  const pid_t child = fork();
  check(child >= 0, "a process can be made");
  if (child == 0) {
    FILE* out = fdopen(ends[1], "w");
    const auto timeline = make_simgrid_timeline(traffic.cluster);
    const Carried carried = carry(traffic, *timeline);
    for (const auto& [tag, date] : carried.dates) fmt::print(out, "{} {:a}\n", tag, date.value());
    for (const LinkUse& use : carried.use)
      fmt::print(out, "-1 {:a} {:a} {:a}\n", use.bytes.value(), use.busy.value(), use.saturated.value());
    std::fclose(out);
    _exit(0);
  }
  close(ends[1]);
  FILE* in = fdopen(ends[0], "r");
  Carried carried;
  long long tag = 0;
  while (std::fscanf(in, "%lld", &tag) == 1) {
    std::array<double, 3> values{};
    for (std::size_t i = 0; i < (tag < 0 ? 3U : 1U); ++i)
      check(std::fscanf(in, "%la", &values[i]) == 1, "a number is read");
    if (tag < 0)
      carried.use.push_back({"", Bytes{values[0]}, Seconds{values[1]}, Seconds{values[2]}});
    else
      carried.dates[static_cast<std::uint64_t>(tag)] = Seconds{values[0]};
  }
  std::fclose(in);
  int status = 0;
  check(waitpid(child, &status, 0) == child && status == 0, "SimGrid's process ends well");
  return carried;
}

TrafficComparison compare(const Carried& simgrid, const Carried& fluid) {
  TrafficComparison result;
  if (simgrid.dates.size() != fluid.dates.size() || simgrid.use.size() != fluid.use.size()) {
    result.difference = fmt::format("{} dates and {}", simgrid.dates.size(), fluid.dates.size());
    return result;
  }
  Seconds last;
  for (const auto& [tag, date] : simgrid.dates) {
    const auto found = fluid.dates.find(tag);
    if (found == fluid.dates.end()) {
      result.difference = fmt::format("no message {}", tag);
      return result;
    }
    ++result.dates;
    last = std::max(last, date);
    if (date > Seconds{}) result.worst = std::max(result.worst, std::abs(found->second / date - 1.0));
  }
  for (std::size_t i = 0; i < fluid.use.size(); ++i) {
    if (fluid.use[i].bytes != simgrid.use[i].bytes) result.difference = "bytes of " + fluid.use[i].name;
    for (const auto time : {&LinkUse::busy, &LinkUse::saturated})
      result.worst_use = std::max(
          result.worst_use, std::abs((fluid.use[i].*time - simgrid.use[i].*time).value()) / last.value());
  }
  return result;
}

}  // namespace paceline::test
