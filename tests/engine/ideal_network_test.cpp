// The ideal timeline: each message as if alone on its route.
#include <doctest/doctest.h>

#include "sim/engine/ideal_timeline.hpp"
#include "tests/support/test_networks.hpp"

using namespace paceline;
using namespace paceline::test;

namespace {

constexpr BytesPerSecond bandwidth{100.0};
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
  CHECK(message_time(star(2, bandwidth, Seconds{0.5}), first, second, 1000.0) ==
        doctest::Approx(10.5).epsilon(1e-12));
}

TEST_CASE("a slow server's link decides about a worker's message") {
  Cluster cluster = star(2, bandwidth, Seconds{0.5});
  cluster.network.server_bandwidth = BytesPerSecond{50.0};
  // L + B/min(bw, bw_server) = 0.5 + 1000/50
  CHECK(message_time(cluster, first, ServerId{0}, 1000.0) == doctest::Approx(20.5).epsilon(1e-12));
}

TEST_CASE("model factors change latency and bandwidth") {
  Cluster cluster = star(2, bandwidth, Seconds{0.5});
  cluster.network.model.latency_factor = 13.0;
  cluster.network.model.bandwidth_factor = 0.8;
  // 13·L + B/(0.8·bw) = 6.5 + 12.5
  CHECK(message_time(cluster, first, second, 1000.0) == doctest::Approx(19.0).epsilon(1e-12));
  cluster.network.model.tcp_gamma = Bytes{40.0};
  // the window allows gamma/(2·L) = 40 B/s, below 100 B/s: 6.5 + 1000/(0.8·40)
  CHECK(message_time(cluster, first, second, 1000.0) == doctest::Approx(37.75).epsilon(1e-12));
}

TEST_CASE("a message between a worker and a server on its machine costs nothing") {
  Cluster cluster = star(2, bandwidth, Seconds{0.5});
  cluster.servers.placement = ServerPlacement::with_workers;
  CHECK(message_time(cluster, first, ServerId{0}, 1000.0) == 0.0);
  CHECK(message_time(cluster, second, ServerId{0}, 1000.0) == doctest::Approx(10.5).epsilon(1e-12));
}

TEST_CASE("a message has whole bytes") {
  // ceil(333.3) = 334 bytes
  CHECK(message_time(star(2, bandwidth, Seconds{0.5}), first, second, 333.3) ==
        doctest::Approx(0.5 + 3.34).epsilon(1e-12));
}

TEST_CASE("what is left of a message goes on at a changed bandwidth") {
  const Cluster cluster = star(2, bandwidth, Seconds{0.5});
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
  const Cluster cluster = star(2, bandwidth, Seconds{0.5});
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
