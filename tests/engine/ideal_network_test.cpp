// The ideal timeline: each message as if alone on its route. Bursts of links.
#include <doctest/doctest.h>

#include "sim/engine/fluid/fluid_timeline.hpp"
#include "sim/engine/ideal_timeline.hpp"
#include "tests/support/test_networks.hpp"

using namespace paceline;
using namespace paceline::test;

namespace {

constexpr WorkerId first{0};
constexpr WorkerId second{1};

double message_time(const Cluster& cluster, Endpoint from, Endpoint to, double size_bytes) {
  IdealTimeline timeline(cluster);
  Script script;
  script.at(Seconds{0.0}, [&](Timeline& t) { t.send(from, to, Bytes{size_bytes}, Script::tag(1)); });
  return script.play(timeline).at(1).value();
}

}  // namespace

TEST_CASE("a message over a star takes latency and transfer") {
  // L + B/bw = 0.5 + 1000/100
  CHECK(message_time(star(2, link_bandwidth, Seconds{0.5}), first, second, 1000.0) ==
        doctest::Approx(10.5).epsilon(1e-12));
}

TEST_CASE("a slow server's link decides about a worker's message") {
  Cluster cluster = star(2, link_bandwidth, Seconds{0.5});
  cluster.network.server_bandwidth = BytesPerSecond{50.0};
  // L + B/min(bw, bw_server) = 0.5 + 1000/50
  CHECK(message_time(cluster, first, ServerId{0}, 1000.0) == doctest::Approx(20.5).epsilon(1e-12));
}

TEST_CASE("model factors change latency and bandwidth") {
  Cluster cluster = star(2, link_bandwidth, Seconds{0.5});
  cluster.network.model.latency_factor = 13.0;
  cluster.network.model.bandwidth_factor = 0.8;
  // 13·L + B/(0.8·bw) = 6.5 + 12.5
  CHECK(message_time(cluster, first, second, 1000.0) == doctest::Approx(19.0).epsilon(1e-12));
  cluster.network.model.tcp_gamma = Bytes{40.0};
  // the window allows gamma/(2·L) = 40 B/s, below 100 B/s: 6.5 + 1000/(0.8·40)
  CHECK(message_time(cluster, first, second, 1000.0) == doctest::Approx(37.75).epsilon(1e-12));
}

TEST_CASE("a message between a worker and a server on its machine costs nothing") {
  Cluster cluster = star(2, link_bandwidth, Seconds{0.5});
  cluster.servers.placement = ServerPlacement::with_workers;
  CHECK(message_time(cluster, first, ServerId{0}, 1000.0) == 0.0);
  CHECK(message_time(cluster, second, ServerId{0}, 1000.0) == doctest::Approx(10.5).epsilon(1e-12));
}

TEST_CASE("a message has whole bytes") {
  // ceil(333.3) = 334 bytes
  CHECK(message_time(star(2, link_bandwidth, Seconds{0.5}), first, second, 333.3) ==
        doctest::Approx(0.5 + 3.34).epsilon(1e-12));
}

TEST_CASE("what is left of a message goes on at a changed bandwidth") {
  const Cluster cluster = star(2, link_bandwidth, Seconds{0.5});
  IdealTimeline timeline(cluster);
  Script script;
  script.at(Seconds{0.0}, [](Timeline& t) { t.send(first, second, Bytes{1000.0}, Script::tag(1)); });
  script.at(Seconds{0.25}, [](Timeline& t) { t.set_bandwidth_factor(second, 0.5); });  // during the latency
  script.at(Seconds{4.5}, [](Timeline& t) { t.set_bandwidth_factor(second, 0.25); });
  script.at(Seconds{6.5}, [](Timeline& t) { t.set_bandwidth_factor(second, 2.0); });
  // 0.5 s latency, 4 s at 50 B/s, 2 s at 25 B/s; the other 750 B at 100 B/s (the other worker's link): 6.5 +
  // 7.5
  CHECK(script.play(timeline).at(1).value() == doctest::Approx(14.0).epsilon(1e-12));
}

TEST_CASE("the load of a link counts its messages and their transfer times") {
  const Cluster cluster = star(2, link_bandwidth, Seconds{0.5});
  IdealTimeline timeline(cluster);
  Script script;
  script.at(Seconds{0.0}, [](Timeline& t) { t.send(first, second, Bytes{1000.0}, Script::tag(1)); });
  script.play(timeline);
  const auto use = timeline.link_use();
  REQUIRE(use[0].name == "worker-0 -> switch");
  CHECK(use[0].bytes.value() == 1000.0);
  // B/bw, without the latency
  CHECK(use[0].busy.value() == doctest::Approx(10.0).epsilon(1e-12));
  CHECK(use[0].saturated.value() == doctest::Approx(10.0).epsilon(1e-12));
  REQUIRE(use[1].name == "switch -> worker-0");
  CHECK(use[1].bytes.value() == 0.0);
  CHECK(use[1].busy.value() == 0.0);
}

TEST_CASE("a shaped link lets its burst pass at once, and no more than its bandwidth for long") {
  // burst b = 300 B, bandwidth 100 B/s, L = 0.5 s. Alone, after rest: L + (B - b)/bw = 0.5 + 700/100.
  Cluster cluster = star(3, link_bandwidth, Seconds{0.5});
  cluster.network.model.burst = Bytes{300.0};
  CHECK(message_time(cluster, first, second, 1000.0) == doctest::Approx(7.5).epsilon(1e-12));
  // A byte is left where all could pass: L + 1/bw.
  CHECK(message_time(cluster, first, second, 200.0) == doctest::Approx(0.51).epsilon(1e-12));

  IdealTimeline timeline(cluster);
  Script script;
  const auto send_at = [&](double seconds, Endpoint to, double bytes, std::uint64_t tag) {
    script.at(Seconds{seconds}, [=](Timeline& t) { t.send(first, to, Bytes{bytes}, Script::tag(tag)); });
  };
  send_at(0.0, second, 200.0, 1);       // 100 B are left in the bucket of the first worker's link
  send_at(0.0, WorkerId{2}, 400.0, 2);  // of which this one takes them: L + 300/100
  send_at(5.0, second, 400.0, 3);       // lacks 600 - 5·100 = 100 B: L + (400 - 200)/100
  send_at(100.0, second, 1000.0, 4);    // full again: L + 700/100
  const auto ends = script.play(timeline);
  CHECK(ends.at(1).value() == doctest::Approx(0.51).epsilon(1e-12));
  CHECK(ends.at(2).value() == doctest::Approx(3.5).epsilon(1e-12));
  CHECK(ends.at(3).value() == doctest::Approx(7.5).epsilon(1e-12));
  CHECK(ends.at(4).value() == doctest::Approx(107.5).epsilon(1e-12));
}

TEST_CASE("each round of a ring over shaped links takes what the buckets have regained") {
  // Two members, 400 B each in 2 rounds, b = 300 B, 100 B/s, L = 0.5 s. First 0.5 + (400 - 300)/100 = 1.5 s.
  // By then 250 B are lacking: 0.5 + (400 - 50)/100 = 4 s.
  Cluster cluster = star(2, link_bandwidth, Seconds{0.5});
  cluster.network.model.burst = Bytes{300.0};
  const auto ring_time = [](Timeline& timeline) {
    Script script;
    script.at(Seconds{0.0}, [](Timeline& t) {
      const std::vector<WorkerId> members{first, second};
      t.all_reduce(Transport::ring, members, Bytes{800.0}, t.now(), Script::tag(1));
    });
    return script.play(timeline).at(1).value();
  };
  IdealTimeline ideal(cluster);
  FluidTimeline fluid(cluster);
  CHECK(ring_time(ideal) == doctest::Approx(5.5).epsilon(1e-12));
  CHECK(ring_time(fluid) == doctest::Approx(5.5).epsilon(1e-12));
}
