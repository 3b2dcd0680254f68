// SimGrid's network: the closed forms without contention on every topology, and sharing where there is
// contention.
#include <cmath>
#include <memory>

#include <doctest/doctest.h>

#include "sim/engine/ideal_timeline.hpp"
#include "sim/engine/simgrid/simgrid_timeline.hpp"
#include "tests/support/test_networks.hpp"

using namespace paceline;
using namespace paceline::test;

namespace {

// One message at a time, from every host to every other: 1000 s are enough for each.
Script every_message(const Cluster& cluster) {
  Script script;
  std::vector<Endpoint> hosts;
  for (const WorkerId worker : all_workers(cluster)) hosts.emplace_back(worker);
  for (std::uint64_t k = 0; k < cluster.servers.count; ++k) hosts.emplace_back(ServerId{k});
  std::uint64_t number = 0;
  for (const Endpoint from : hosts)
    for (const Endpoint to : hosts) {
      if (from == to) continue;
      script.at(Seconds{1000.0 * static_cast<double>(number)},
                [=](Timeline& t) { t.send(from, to, Bytes{1234.0}, Script::tag(number)); });
      ++number;
    }
  return script;
}

// |t_simgrid / t_ideal - 1| <= 1e-9 for every message and, alone on the network, every collective
void check_agrees(const Cluster& cluster, bool collectives_meet_nowhere = true) {
  Script script = every_message(cluster);
  double start = 1e6;
  if (collectives_meet_nowhere)
    for (const Transport algorithm : {Transport::ring, Transport::tree, Transport::halving_doubling}) {
      script.at(Seconds{start}, [=, &cluster](Timeline& t) {
        t.all_reduce(algorithm, all_workers(cluster), Bytes{4321.0}, t.now(),
                     Script::tag(10000 + static_cast<std::uint64_t>(algorithm)));
      });
      start += 1e4;
    }
  Script same = script;
  IdealTimeline ideal(cluster);
  const auto timeline = make_simgrid_timeline(cluster);
  const auto expected = same.play(ideal);
  const auto seen = script.play(*timeline);
  REQUIRE(seen.size() == expected.size());
  for (const auto& [tag, time] : expected) {
    CAPTURE(tag);
    CHECK(seen.at(tag).value() == doctest::Approx(time.value()).epsilon(1e-9));
  }
}

const LinkUse& use_of(const std::vector<LinkUse>& all, const std::string& link) {
  for (const LinkUse& use : all)
    if (use.name == link) return use;
  REQUIRE_MESSAGE(false, "no link " << link);
  return all.front();
}

NetworkModel with_segments() {
  NetworkModel model;
  model.latency_factor = 2.0;
  model.bandwidth_factor = 0.5;
  model.segments = {{Bytes{100.0}, 3.0, 1.6}, {Bytes{1234.0}, 0.0, 4.0}};
  return model;
}

EdgeConfig edge(const char* from, const char* to, double bandwidth_per_s, double latency_s) {
  return {from, to, BytesPerSecond{bandwidth_per_s}, Seconds{latency_s}};
}

}  // namespace

TEST_CASE("SimGrid and the ideal timeline agree on a star without contention") {
  Cluster cluster = star(5, link_bandwidth, link_latency);
  cluster.network.server_bandwidth = BytesPerSecond{37.0};
  cluster.servers.count = 2;
  check_agrees(cluster);
}

TEST_CASE("SimGrid and the ideal timeline agree on two levels without contention") {
  // uplinks fast enough for a whole rack
  check_agrees(two_level(6, 2, link_bandwidth, link_latency, BytesPerSecond{1e6}, Seconds{0.125}));
}

TEST_CASE("SimGrid and the ideal timeline agree on a tree without contention") {
  Cluster cluster = tree(7, 3, 2, link_bandwidth, link_latency);
  cluster.network.uplink_bandwidth = BytesPerSecond{1e6};
  check_agrees(cluster);
}

TEST_CASE("SimGrid and the ideal timeline agree on a graph of hosts that forward") {
  // a square of hosts with one slow side; opposite corners go over a neighbour
  const Cluster cluster = graph({"a", "b", "c", "d"},
                                {edge("a", "b", 100, 0.5), edge("b", "c", 60, 0.25), edge("c", "d", 100, 0.5),
                                 edge("d", "a", 100, 0.75)},
                                {"a", "b", "c", "d"}, {"c"});
  check_agrees(cluster, false);
}

TEST_CASE("SimGrid and the ideal timeline agree about the model's factors") {
  Cluster cluster = two_level(3, 2, link_bandwidth, link_latency, BytesPerSecond{1e6}, Seconds{0.125});
  cluster.network.model = {.latency_factor = 13.01, .bandwidth_factor = 0.97, .tcp_gamma = Bytes{100.0}};
  check_agrees(cluster);
}

TEST_CASE("SimGrid and the ideal timeline agree about factors by message size") {
  Cluster cluster = star(3, link_bandwidth, link_latency);
  cluster.network.model = with_segments();
  check_agrees(cluster);
}

TEST_CASE("factors by message size change at their borders") {
  // L·f + B/(bw·f): 99 bytes 0.5·2 + 99/50; 100 bytes 0.5·6 + 100/80; from 1234 bytes on B/200
  Cluster cluster = star(3, link_bandwidth, link_latency);
  cluster.network.model = with_segments();
  const auto timeline = make_simgrid_timeline(cluster);
  Script script;
  double start = 0.0;
  for (const double bytes : {0.0, 99.0, 100.0, 1233.0, 1234.0}) {
    script.at(Seconds{start}, [=](Timeline& t) {
      t.send(WorkerId{0}, WorkerId{1}, Bytes{bytes}, Script::tag(static_cast<std::uint64_t>(bytes)));
    });
    start += 100.0;
  }
  const auto over = script.play(*timeline);
  CHECK(over.at(0).value() == doctest::Approx(1.0).epsilon(1e-9));
  CHECK(over.at(99).value() == doctest::Approx(100.0 + 1.0 + 1.98).epsilon(1e-9));
  CHECK(over.at(100).value() == doctest::Approx(200.0 + 3.0 + 1.25).epsilon(1e-9));
  CHECK(over.at(1233).value() == doctest::Approx(300.0 + 3.0 + 1233.0 / 80.0).epsilon(1e-9));
  CHECK(over.at(1234).value() == doctest::Approx(400.0 + 1234.0 / 200.0).epsilon(1e-9));
}

TEST_CASE("SimGrid and the ideal timeline agree when bandwidths change under a message") {
  const Cluster cluster = star(2, link_bandwidth, link_latency);
  Script script;
  script.at(Seconds{0.0},
            [](Timeline& t) { t.send(WorkerId{0}, WorkerId{1}, Bytes{1000.0}, Script::tag(1)); });
  script.at(Seconds{0.25}, [](Timeline& t) { t.set_bandwidth_factor(WorkerId{1}, 0.5); });
  script.at(Seconds{4.5}, [](Timeline& t) { t.set_bandwidth_factor(WorkerId{0}, 0.25); });
  script.at(Seconds{6.5}, [](Timeline& t) { t.set_bandwidth_factor(WorkerId{0}, 3.0); });
  // 0.5 s latency, 4 s at 50 B/s, 2 s at 25 B/s; the other 750 B at 50 B/s: 6.5 + 15
  const auto timeline = make_simgrid_timeline(cluster);
  CHECK(script.play(*timeline).at(1).value() == doctest::Approx(21.5).epsilon(1e-9));
}

TEST_CASE("n messages into one link share it") {
  // n·B/bw + L for all of them
  const Cluster cluster = star(5, link_bandwidth, link_latency);
  const auto timeline = make_simgrid_timeline(cluster);
  Script script;
  script.at(Seconds{0.0}, [](Timeline& t) {
    for (std::uint64_t w = 0; w < 5; ++w) t.send(WorkerId{w}, ServerId{0}, Bytes{1000.0}, Script::tag(w));
  });
  const auto over = script.play(*timeline);
  for (std::uint64_t w = 0; w < 5; ++w) CHECK(over.at(w).value() == doctest::Approx(50.5).epsilon(1e-9));

  // the server's link is full for n·B/bw, the workers' are busy as long but never full
  const auto use = timeline->link_use();
  CHECK(use_of(use, "switch -> server-0").bytes.value() == 5000.0);
  CHECK(use_of(use, "switch -> server-0").busy.value() == doctest::Approx(50.0).epsilon(1e-9));
  CHECK(use_of(use, "switch -> server-0").saturated.value() == doctest::Approx(50.0).epsilon(1e-9));
  CHECK(use_of(use, "worker-3 -> switch").bytes.value() == 1000.0);
  CHECK(use_of(use, "worker-3 -> switch").busy.value() == doctest::Approx(50.0).epsilon(1e-9));
  CHECK(use_of(use, "worker-3 -> switch").saturated.value() == 0.0);
  CHECK(use_of(use, "server-0 -> switch").busy.value() == 0.0);
}

TEST_CASE("messages share what the model's factor leaves of a link") {
  // L + n·B/(f·bw), and the link is full meanwhile
  Cluster cluster = star(2, link_bandwidth, link_latency);
  cluster.network.model.bandwidth_factor = 0.8;
  const auto timeline = make_simgrid_timeline(cluster);
  Script script;
  script.at(Seconds{0.0}, [](Timeline& t) {
    for (std::uint64_t w = 0; w < 2; ++w) t.send(WorkerId{w}, ServerId{0}, Bytes{1000.0}, Script::tag(w));
  });
  CHECK(script.play(*timeline).at(1).value() == doctest::Approx(25.5).epsilon(1e-9));
  CHECK(use_of(timeline->link_use(), "switch -> server-0").saturated.value() ==
        doctest::Approx(25.0).epsilon(1e-9));
}

TEST_CASE("a server that sends to all its workers at once is held up by their links") {
  // The server's link of 1000 B/s could give each of 4 workers 250 B/s, but theirs take 100: L + B/bw. (The
  // lazy solver of SimGrid 3.32 forgets the second link of messages that start together on one first link.)
  Cluster cluster = star(4, link_bandwidth, link_latency);
  cluster.network.server_bandwidth = BytesPerSecond{1000.0};
  const auto timeline = make_simgrid_timeline(cluster);
  Script script;
  script.at(Seconds{0.0}, [](Timeline& t) {
    for (std::uint64_t w = 0; w < 4; ++w) t.send(ServerId{0}, WorkerId{w}, Bytes{1000.0}, Script::tag(w));
  });
  for (const auto& [tag, time] : script.play(*timeline))
    CHECK(time.value() == doctest::Approx(10.5).epsilon(1e-9));
}

TEST_CASE("a link is saturated only while it is full") {
  // Two messages of 1000 B meet on the server's link of 100 B/s from 0.5 s on. At 20.5 s both are over; a
  // third one of 1000 B comes from a worker at 20 B/s: 50 s in which the server's link is busy but not full.
  Cluster cluster = star(3, link_bandwidth, link_latency);
  const auto timeline = make_simgrid_timeline(cluster);
  Script script;
  script.at(Seconds{0.0}, [](Timeline& t) {
    t.set_bandwidth_factor(WorkerId{2}, 0.2);
    t.send(WorkerId{0}, ServerId{0}, Bytes{1000.0}, Script::tag(0));
    t.send(WorkerId{1}, ServerId{0}, Bytes{1000.0}, Script::tag(1));
  });
  script.at(Seconds{30.0},
            [](Timeline& t) { t.send(WorkerId{2}, ServerId{0}, Bytes{1000.0}, Script::tag(2)); });
  CHECK(script.play(*timeline).at(2).value() == doctest::Approx(80.5).epsilon(1e-9));
  const auto use = timeline->link_use();
  CHECK(use_of(use, "switch -> server-0").busy.value() == doctest::Approx(70.0).epsilon(1e-9));
  CHECK(use_of(use, "switch -> server-0").saturated.value() == doctest::Approx(20.0).epsilon(1e-9));
  CHECK(use_of(use, "worker-2 -> switch").saturated.value() == doctest::Approx(50.0).epsilon(1e-9));
}

TEST_CASE("a sharded server takes each worker's gradient in as many parts") {
  // S servers, each gets B/S from each of n workers. The workers' links carry B each, the servers' n·B/S
  // each: with n = S all links carry B, and all messages are over at L + B/bw.
  Cluster cluster = star(4, link_bandwidth, link_latency);
  cluster.servers.count = 4;
  const auto timeline = make_simgrid_timeline(cluster);
  Script script;
  script.at(Seconds{0.0}, [](Timeline& t) {
    for (std::uint64_t w = 0; w < 4; ++w)
      for (std::uint64_t k = 0; k < 4; ++k)
        t.send(WorkerId{w}, ServerId{k}, Bytes{4000.0 / 4}, Script::tag(4 * w + k));
  });
  for (const auto& [tag, time] : script.play(*timeline))
    CHECK(time.value() == doctest::Approx(40.5).epsilon(1e-9));
}

TEST_CASE("two servers halve the time that one server's link takes") {
  // n = 4 workers, S = 2: each server's link carries n·B/S = 8000 B: L + n·B/(S·bw) = 80.5 s; one server:
  // 160.5 s
  Cluster cluster = star(4, link_bandwidth, link_latency);
  cluster.servers.count = 2;
  const auto timeline = make_simgrid_timeline(cluster);
  Script script;
  script.at(Seconds{0.0}, [](Timeline& t) {
    for (std::uint64_t w = 0; w < 4; ++w)
      for (std::uint64_t k = 0; k < 2; ++k)
        t.send(WorkerId{w}, ServerId{k}, Bytes{4000.0 / 2}, Script::tag(2 * w + k));
  });
  for (const auto& [tag, time] : script.play(*timeline))
    CHECK(time.value() == doctest::Approx(80.5).epsilon(1e-9));
}

TEST_CASE("messages across racks share the uplink, those inside do not") {
  // 3 workers in each of 2 racks; uplinks of 100 B/s like the workers' links, 0.25 s each.
  // Across: 3 flows share the uplink: 0.5 + 2·0.25 + 3·B/bw = 31. Back inside the other rack nothing else is
  // on the way: 0.5 + B/bw = 10.5.
  const Cluster cluster = two_level(6, 2, link_bandwidth, link_latency, link_bandwidth, Seconds{0.25});
  const auto timeline = make_simgrid_timeline(cluster);
  Script script;
  script.at(Seconds{0.0}, [](Timeline& t) {
    for (std::uint64_t w = 0; w < 3; ++w) t.send(WorkerId{w}, WorkerId{w + 3}, Bytes{1000.0}, Script::tag(w));
    t.send(WorkerId{3}, WorkerId{4}, Bytes{1000.0}, Script::tag(3));
  });
  script.at(Seconds{100.0},
            [](Timeline& t) { t.send(WorkerId{3}, WorkerId{4}, Bytes{1000.0}, Script::tag(4)); });
  const auto over = script.play(*timeline);
  for (std::uint64_t w : {0U, 2U}) CHECK(over.at(w).value() == doctest::Approx(31.0).epsilon(1e-9));
  CHECK(over.at(4).value() == doctest::Approx(110.5).epsilon(1e-9));
  const auto use = timeline->link_use();
  CHECK(use_of(use, "rack-0 -> core").saturated.value() == doctest::Approx(30.0).epsilon(1e-9));
  CHECK(use_of(use, "core -> rack-0").busy.value() == 0.0);
}

TEST_CASE("messages that share a link with different latencies share it by their inverse") {
  // Routes of 1 s and 2 s meet on a link of 90 B/s: SimGrid's weights 1/1 and 1/2 give 60 and 30 B/s. Both
  // are transferring from 2 s on; a has sent 90 B before. a: 900 = 90 + 60·(t-2), t = 15.5. Then b has 900 -
  // 405 = 495 B left at 90 B/s: t = 21.
  const Cluster cluster = graph(
      {"a", "b", "hub", "c"},
      {edge("a", "hub", 1000, 0.5), edge("b", "hub", 1000, 1.5), edge("hub", "c", 90, 0.5)}, {"a", "b", "c"});
  const auto timeline = make_simgrid_timeline(cluster);
  Script script;
  script.at(Seconds{0.0}, [](Timeline& t) {
    t.send(WorkerId{0}, WorkerId{2}, Bytes{900.0}, Script::tag(0));
    t.send(WorkerId{1}, WorkerId{2}, Bytes{900.0}, Script::tag(1));
  });
  const auto over = script.play(*timeline);
  CHECK(over.at(0).value() == doctest::Approx(15.5).epsilon(1e-9));
  CHECK(over.at(1).value() == doctest::Approx(21.0).epsilon(1e-9));
}

TEST_CASE("with cross-traffic, messages that meet take a twentieth of their rate from each other") {
  // r + 0.05·r = bw for two messages in opposite directions: L + 1.05·B/bw, across racks as on a star
  Cluster cluster = two_level(2, 2, link_bandwidth, link_latency, link_bandwidth, Seconds{0.25});
  cluster.network.model.cross_traffic = true;
  const auto timeline = make_simgrid_timeline(cluster);
  Script script;
  script.at(Seconds{0.0}, [](Timeline& t) {
    t.send(WorkerId{0}, WorkerId{1}, Bytes{1000.0}, Script::tag(0));
    t.send(WorkerId{1}, WorkerId{0}, Bytes{1000.0}, Script::tag(1));
  });
  for (const auto& [tag, time] : script.play(*timeline))
    CHECK(time.value() == doctest::Approx(11.5).epsilon(1e-9));
}

TEST_CASE("a message between a worker and a server on its machine uses no link") {
  Cluster cluster = star(2, link_bandwidth, link_latency);
  cluster.servers = {.count = 2, .placement = ServerPlacement::with_workers};
  const auto timeline = make_simgrid_timeline(cluster);
  Script script;
  script.at(Seconds{1.0}, [](Timeline& t) {
    t.send(WorkerId{0}, ServerId{0}, Bytes{1000.0}, Script::tag(0));
    t.send(WorkerId{0}, ServerId{1}, Bytes{1000.0}, Script::tag(1));
  });
  const auto over = script.play(*timeline);
  CHECK(over.at(0).value() == 1.0);
  CHECK(over.at(1).value() == doctest::Approx(11.5).epsilon(1e-9));
}
