// Collectives under SimGrid: closed forms, and times used again.
#include <limits>

#include <doctest/doctest.h>

#include "sim/base/check.hpp"
#include "sim/engine/simgrid/simgrid_timeline.hpp"
#include "tests/support/test_networks.hpp"

using namespace paceline;
using namespace paceline::test;

namespace {

constexpr Seconds forever{std::numeric_limits<double>::infinity()};

void start(Timeline& t, const Cluster& cluster, Transport algorithm, bool alone, std::uint64_t tag) {
  t.all_reduce(algorithm, all_workers(cluster), Bytes{1000.0}, alone ? forever : t.now(), Script::tag(tag));
}

// Every direction has the same load under both.
void check_same_use(const std::vector<LinkUse>& a, const std::vector<LinkUse>& b, double times) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    CAPTURE(a[i].name);
    CHECK(a[i].bytes.value() == doctest::Approx(times * b[i].bytes.value()).epsilon(1e-9));
    CHECK(a[i].busy.value() == doctest::Approx(times * b[i].busy.value()).epsilon(1e-9));
    CHECK(a[i].saturated.value() == doctest::Approx(times * b[i].saturated.value()).epsilon(1e-9));
  }
}

}  // namespace

TEST_CASE("a ring under SimGrid takes 2(n-1) rounds of one chunk") {
  // 2(n-1)·(L + ceil(B/n)/bw), n = 8
  const Cluster cluster = star(8, link_bandwidth, link_latency);
  const auto timeline = make_simgrid_timeline(cluster);
  const double expected = 14 * (0.5 + 125.0 / 100.0);
  CHECK(all_reduce_time(*timeline, cluster, Transport::ring, Bytes{1000.0}).value() ==
        doctest::Approx(expected).epsilon(1e-12));
}

TEST_CASE(
    "a ring whose first round stands for all takes 2(n-1) rounds, and loads the links as the full one") {
  const Cluster cluster = star(8, link_bandwidth, link_latency);
  const auto timeline = make_simgrid_timeline(cluster);
  Script script;
  std::vector<LinkUse> after_full;
  script.at(Seconds{0.0}, [&](Timeline& t) { start(t, cluster, Transport::ring, false, 1); });
  script.at(Seconds{100.0}, [&](Timeline& t) {
    after_full = t.link_use();
    start(t, cluster, Transport::ring, true, 2);
  });
  const auto over = script.play(*timeline);
  const double expected = 14 * (0.5 + 125.0 / 100.0);
  CHECK(over.at(1).value() == doctest::Approx(expected).epsilon(1e-12));
  CHECK(over.at(2).value() - 100.0 == doctest::Approx(expected).epsilon(1e-12));
  check_same_use(timeline->link_use(), after_full, 2.0);
}

TEST_CASE("a tree and halving-doubling under SimGrid meet their closed forms") {
  // n = 6: tree 2·3·(L + B/bw); halving-doubling with p = 4: 4·L + 2·3/4·B/bw + 2·(L + B/bw)
  const Cluster cluster = star(6, link_bandwidth, link_latency);
  const auto timeline = make_simgrid_timeline(cluster);
  Script script;
  script.at(Seconds{0.0}, [&](Timeline& t) { start(t, cluster, Transport::tree, true, 1); });
  script.at(Seconds{1000.0}, [&](Timeline& t) { start(t, cluster, Transport::halving_doubling, true, 2); });
  const auto over = script.play(*timeline);
  CHECK(over.at(1).value() == doctest::Approx(6 * 10.5).epsilon(1e-12));
  CHECK(over.at(2).value() - 1000.0 == doctest::Approx(4 * 0.5 + 1.5 * 10.0 + 2 * 10.5).epsilon(1e-12));
}

TEST_CASE("a collective that is used again takes bit by bit as long as the first") {
  // Uneven links, so that every message is simulated the first time. 1024 and 4096 do not round what is
  // added.
  const Cluster cluster = two_level(5, 2, link_bandwidth, link_latency, BytesPerSecond{130.0}, Seconds{0.3});
  for (const Transport algorithm : {Transport::halving_doubling}) {
    const auto timeline = make_simgrid_timeline(cluster);
    Script script;
    std::vector<LinkUse> after_first;
    script.at(Seconds{0.0}, [&](Timeline& t) { start(t, cluster, algorithm, true, 1); });
    script.at(Seconds{1024.0}, [&](Timeline& t) {
      after_first = t.link_use();
      start(t, cluster, algorithm, true, 2);
    });
    script.at(Seconds{4096.0}, [&](Timeline& t) { start(t, cluster, algorithm, true, 3); });
    const auto over = script.play(*timeline);
    CHECK(over.at(2).value() == 1024.0 + over.at(1).value());
    CHECK(over.at(3).value() == 4096.0 + over.at(1).value());
    check_same_use(timeline->link_use(), after_first, 3.0);
  }
}

TEST_CASE("a ring whose members are not alike is simulated in full and used again") {
  // One link at half its bandwidth: after the first round the members are no longer in step.
  const Cluster cluster = star(4, link_bandwidth, link_latency);
  const auto timeline = make_simgrid_timeline(cluster);
  Script script;
  script.at(Seconds{0.0}, [&](Timeline& t) {
    t.set_bandwidth_factor(WorkerId{1}, 0.5);
    start(t, cluster, Transport::ring, false, 1);
  });
  script.at(Seconds{1000.0}, [&](Timeline& t) { start(t, cluster, Transport::ring, true, 2); });
  script.at(Seconds{2000.0}, [&](Timeline& t) { start(t, cluster, Transport::ring, true, 3); });
  const auto over = script.play(*timeline);
  // every round waits for the slow link: 6·(L + 250/50)
  CHECK(over.at(1).value() == doctest::Approx(6 * 5.5).epsilon(1e-9));
  CHECK(over.at(2).value() - 1000.0 == doctest::Approx(over.at(1).value()).epsilon(1e-12));
  CHECK(over.at(3).value() - 2000.0 == doctest::Approx(over.at(1).value()).epsilon(1e-12));
}

TEST_CASE("a changed bandwidth is not forgotten when a collective is used again") {
  const Cluster cluster = star(4, link_bandwidth, link_latency);
  const auto timeline = make_simgrid_timeline(cluster);
  Script script;
  const auto once = [&](double date_s, std::optional<double> factor, std::uint64_t tag) {
    script.at(Seconds{date_s}, [&cluster, factor, tag](Timeline& t) {
      if (factor)
        for (const WorkerId worker : all_workers(cluster)) t.set_bandwidth_factor(worker, *factor);
      start(t, cluster, Transport::ring, true, tag);
    });
  };
  once(0.0, std::nullopt, 1);
  once(1000.0, 0.5, 2);
  once(2000.0, std::nullopt, 3);
  once(3000.0, 1.0, 4);
  const auto over = script.play(*timeline);
  // 2(n-1)·(L + B/(n·bw)) with bw = 100, then 50
  CHECK(over.at(1).value() == doctest::Approx(6 * 3.0).epsilon(1e-12));
  CHECK(over.at(2).value() - 1000.0 == doctest::Approx(6 * 5.5).epsilon(1e-12));
  CHECK(over.at(3).value() - 2000.0 == doctest::Approx(6 * 5.5).epsilon(1e-12));
  CHECK(over.at(4).value() - 3000.0 == doctest::Approx(6 * 3.0).epsilon(1e-12));
  // four rings, each 6 chunks of 250 B from every member
  CHECK(timeline->link_use()[0].bytes.value() == doctest::Approx(4 * 1500.0));
}

TEST_CASE("a time from before is used again only if nothing changes meanwhile") {
  // A ring takes 6·(L + 250/100) = 18 s. The third one would end after the bandwidth changes at 2010 s: up to
  // then it has had 3 rounds of 3 s and 1 s of a fourth, 50 B; 200 B at 50 B/s, then 2 rounds of 5.5 s: 2010
  // + 4 + 11.
  const Cluster cluster = star(4, link_bandwidth, link_latency);
  const auto timeline = make_simgrid_timeline(cluster);
  Script script;
  const auto ring = [&](double date_s, double until_s, std::uint64_t number) {
    script.at(Seconds{date_s}, [&cluster, until_s, number](Timeline& t) {
      t.all_reduce(Transport::ring, all_workers(cluster), Bytes{1000.0}, Seconds{until_s},
                   Script::tag(number));
    });
  };
  ring(0.0, 2010.0, 1);
  ring(1000.0, 2010.0, 2);
  ring(2000.0, 2010.0, 3);
  script.at(Seconds{2010.0}, [&](Timeline& t) {
    for (const WorkerId worker : all_workers(cluster)) t.set_bandwidth_factor(worker, 0.5);
  });
  const auto over = script.play(*timeline);
  CHECK(over.at(1).value() == doctest::Approx(18.0).epsilon(1e-12));
  CHECK(over.at(2).value() == 1000.0 + over.at(1).value());
  CHECK(over.at(3).value() == doctest::Approx(2025.0).epsilon(1e-12));
}

TEST_CASE("a message during a collective that should be alone is a defect") {
  const Cluster cluster = star(4, link_bandwidth, link_latency);
  const auto timeline = make_simgrid_timeline(cluster);
  Script script;
  script.at(Seconds{0.0}, [&](Timeline& t) { start(t, cluster, Transport::ring, true, 1); });
  script.at(Seconds{100.0}, [&](Timeline& t) { start(t, cluster, Transport::ring, true, 2); });
  script.at(Seconds{105.0},
            [&](Timeline& t) { t.send(WorkerId{0}, WorkerId{1}, Bytes{1.0}, Script::tag(3)); });
  CHECK_THROWS_AS(script.play(*timeline), ProgrammingError);
}

TEST_CASE("a collective beside messages of before is not remembered") {
  // The message slows the first ring down: 1000 B on the same link. The second one is alone.
  const Cluster cluster = star(4, link_bandwidth, link_latency);
  const auto timeline = make_simgrid_timeline(cluster);
  Script script;
  script.at(Seconds{0.0}, [&](Timeline& t) {
    t.send(WorkerId{0}, WorkerId{1}, Bytes{1000.0}, Script::tag(9));
    start(t, cluster, Transport::ring, true, 1);
  });
  script.at(Seconds{1000.0}, [&](Timeline& t) { start(t, cluster, Transport::ring, true, 2); });
  const auto over = script.play(*timeline);
  CHECK(over.at(1).value() > 6 * 3.0 + 1.0);
  CHECK(over.at(2).value() - 1000.0 == doctest::Approx(6 * 3.0).epsilon(1e-12));
}
