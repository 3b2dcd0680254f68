// Messages that a server sends in turn, on the fluid timeline and in whole jobs.
#include <cstdint>
#include <map>

#include <doctest/doctest.h>

#include "sim/engine/fluid/fluid_timeline.hpp"
#include "tests/support/test_job.hpp"
#include "tests/support/test_networks.hpp"

using namespace paceline;
using namespace paceline::test;

namespace {

Cluster in_turn(Cluster cluster) {
  cluster.servers.sends = ServerSends::in_turn;
  return cluster;
}

// When as many bytes for each worker have arrived, all sent at once.
std::map<std::uint64_t, Seconds> arrivals(const Cluster& cluster, Bytes size = Bytes{1000.0}) {
  FluidTimeline timeline(cluster);
  Script script;
  script.at(Seconds{0.0}, [&](Timeline& t) {
    for (std::uint64_t w = 0; w < cluster.workers.size(); ++w)
      t.send(ServerId{w % cluster.servers.count}, WorkerId{w}, size, Script::tag(w));
  });
  return script.play(timeline);
}

}  // namespace

TEST_CASE(
    "messages sent in turn arrive one after the other, those sent together all at the last one's time") {
  // k-th of n: L + k·B/bw in turn, L + n·B/bw together
  const auto one_by_one = arrivals(in_turn(star(3, link_bandwidth, link_latency)));
  const auto together = arrivals(star(3, link_bandwidth, link_latency));
  for (std::uint64_t w = 0; w < 3; ++w) {
    CHECK(one_by_one.at(w).value() ==
          doctest::Approx(0.5 + 10.0 * static_cast<double>(w + 1)).epsilon(1e-12));
    CHECK(together.at(w).value() == doctest::Approx(30.5).epsilon(1e-12));
  }
}

TEST_CASE("of sockets messages of up to 5 ms arrive one after the other, larger ones together") {
  // 5 ms at 12.5 MB/s are 62,500 B, at 125 MB/s 625,000 B. Of one byte more all are there after 3 · S / bw.
  for (const double rate : {12.5e6, 125e6}) {
    Cluster cluster = star(3, BytesPerSecond{rate}, link_latency);
    cluster.servers.sends = ServerSends::sockets;
    const double size = 0.005 * rate;
    const auto small = arrivals(cluster, Bytes{size});
    const auto large = arrivals(cluster, Bytes{size + 1.0});
    for (std::uint64_t w = 0; w < 3; ++w) {
      CHECK(small.at(w).value() == doctest::Approx(0.5 + 0.005 * static_cast<double>(w + 1)).epsilon(1e-12));
      CHECK(large.at(w).value() == doctest::Approx(0.5 + 3.0 * (size + 1.0) / rate).epsilon(1e-12));
    }
  }
}

TEST_CASE("whether a message of sockets is long is told by the slowest link on its way, as it is now") {
  // 1000 B at 1 MB/s are 1 ms, and 10 ms while the worker that they go to has a tenth of its link: those to
  // the other worker, sent at once, wait until the first is there then, or share the server's link.
  Cluster cluster = star(2, BytesPerSecond{1e6}, Seconds{0.0});
  cluster.servers.sends = ServerSends::sockets;
  const auto slow_first = [&](double factor) {
    FluidTimeline timeline(cluster);
    timeline.set_bandwidth_factor(WorkerId{0}, factor);
    Script script;
    script.at(Seconds{0.0}, [](Timeline& t) {
      for (std::uint64_t w = 0; w < 2; ++w) t.send(ServerId{0}, WorkerId{w}, Bytes{1000.0}, Script::tag(w));
    });
    return script.play(timeline);
  };
  CHECK(slow_first(0.5).at(1).value() == doctest::Approx(0.003).epsilon(1e-9));
  CHECK(slow_first(0.1).at(1).value() == doctest::Approx(1000.0 / 900e3).epsilon(1e-9));
}

TEST_CASE("each server has a turn of its own") {
  Cluster cluster = in_turn(star(2, link_bandwidth, link_latency));
  cluster.servers.count = 2;
  for (const auto& [worker, time] : arrivals(cluster))
    CHECK(time.value() == doctest::Approx(10.5).epsilon(1e-12));
}

TEST_CASE("workers' messages to one server are not in turn") {
  FluidTimeline timeline(in_turn(star(2, link_bandwidth, link_latency)));
  Script script;
  script.at(Seconds{0.0}, [](Timeline& t) {
    for (std::uint64_t w = 0; w < 2; ++w) t.send(WorkerId{w}, ServerId{0}, Bytes{1000.0}, Script::tag(w));
  });
  for (const auto& [worker, time] : script.play(timeline))
    CHECK(time.value() == doctest::Approx(20.5).epsilon(1e-12));
}

TEST_CASE("a message on a long way holds up nobody before it transfers") {
  // Latencies of 5 and 0.5 s, 10 s of transfer: the near one is there after 10.5 s, and the far one goes on
  // from then.
  const Cluster cluster = in_turn(
      graph({"far", "near", "hub"},
            {{"hub", "far", link_bandwidth, Seconds{5.0}}, {"hub", "near", link_bandwidth, link_latency}},
            {"far", "near"}, {"hub"}));
  FluidTimeline timeline(cluster);
  Script script;
  script.at(Seconds{0.0}, [](Timeline& t) {
    for (std::uint64_t w = 0; w < 2; ++w) t.send(ServerId{0}, WorkerId{w}, Bytes{1000.0}, Script::tag(w));
  });
  const auto ends = script.play(timeline);
  CHECK(ends.at(1).value() == doctest::Approx(10.5).epsilon(1e-12));
  CHECK(ends.at(0).value() == doctest::Approx(20.5).epsilon(1e-12));
}

TEST_CASE("a link's burst is there for the message that begins, not for one that waits its turn") {
  // b = 300 B: the first takes L + (1000 - 300)/100 = 7.5 s, by when the bucket lacks 1000 - 7·100 = b: 10 s
  // more for the second. One sent when the bucket is full again has its burst.
  Cluster cluster = in_turn(star(2, link_bandwidth, link_latency));
  cluster.network.model.burst = Bytes{300.0};
  FluidTimeline timeline(cluster);
  Script script;
  const auto send_at = [&](double seconds, std::uint64_t worker, std::uint64_t tag) {
    script.at(Seconds{seconds},
              [=](Timeline& t) { t.send(ServerId{0}, WorkerId{worker}, Bytes{1000.0}, Script::tag(tag)); });
  };
  send_at(0.0, 0, 1);
  send_at(0.0, 1, 2);
  send_at(100.0, 0, 3);
  const auto ends = script.play(timeline);
  CHECK(ends.at(1).value() == doctest::Approx(7.5).epsilon(1e-9));
  CHECK(ends.at(2).value() == doctest::Approx(17.5).epsilon(1e-9));
  CHECK(ends.at(3).value() == doctest::Approx(107.5).epsilon(1e-9));
}

TEST_CASE("a synchronous round is shorter where the server sends in turn") {
  // Two workers compute for c = 10 s, messages take m = 10 s alone, updates nothing. Together: both have
  // their parameters after 2m and send at once, c + 4m. In turn: the second has them after 2m, and sends
  // when the first has just finished, c + 3m.
  const auto round = [](ServerSends sends) {
    TestJob job;
    job.workers.resize(2);
    job.network = {link_bandwidth, Seconds{0.0}, link_bandwidth};
    Cluster cluster = job.cluster();
    cluster.servers.sends = sends;
    FluidTimeline timeline(cluster);
    NoLearner learner;
    TestJob::Result result;
    job.run_on(timeline, learner, result);
    const auto updates = result.recording.all<Apply>();
    REQUIRE(updates.size() == 20);
    return (updates.back().first - updates.front().first).value() / 19.0;
  };
  CHECK(round(ServerSends::together) == doctest::Approx(10.0 + 4 * 10.0).epsilon(1e-9));
  CHECK(round(ServerSends::in_turn) == doctest::Approx(10.0 + 3 * 10.0).epsilon(1e-9));
}
