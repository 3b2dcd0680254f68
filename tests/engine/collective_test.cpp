// Schedules of all-reduces: they really reduce, and move the bytes that their equations say.
#include "sim/engine/collective.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <doctest/doctest.h>

#include "sim/engine/ideal_timeline.hpp"
#include "tests/support/test_networks.hpp"

using namespace paceline;
using namespace paceline::test;

namespace {

constexpr Seconds quarter_second{0.25};

double ideal_time(Transport algorithm, std::size_t members, double size_bytes) {
  const Cluster cluster = star(members, link_bandwidth, quarter_second);
  IdealTimeline timeline(cluster);
  return all_reduce_time(timeline, cluster, algorithm, Bytes{size_bytes}).value();
}

// Every round's messages match: whoever sends is expected, whoever expects is sent something.
void check_matched(const CollectiveSchedule& schedule) {
  for (std::size_t round = 0; round < schedule.rounds(); ++round)
    for (std::size_t member = 0; member < schedule.members(); ++member) {
      const Turn turn = schedule.turn(member, round);
      if (turn.send_to) CHECK(schedule.turn(*turn.send_to, round).receive_from == member);
      if (turn.receive_from) CHECK(schedule.turn(*turn.receive_from, round).send_to == member);
      CHECK((turn.send_size.value() > 0.0) == turn.send_to.has_value());
    }
}

// Who has contributed to what each member holds, after all rounds, if a message carries all that its sender
// holds.
std::vector<std::vector<bool>> contributions(const CollectiveSchedule& schedule) {
  const std::size_t n = schedule.members();
  std::vector<std::vector<bool>> held(n, std::vector<bool>(n, false));
  for (std::size_t m = 0; m < n; ++m) held[m][m] = true;
  for (std::size_t round = 0; round < schedule.rounds(); ++round) {
    const auto before = held;
    for (std::size_t m = 0; m < n; ++m)
      if (const auto from = schedule.turn(m, round).receive_from)
        for (std::size_t i = 0; i < n; ++i) held[m][i] = held[m][i] || before[*from][i];
  }
  return held;
}

}  // namespace

TEST_CASE("in every all-reduce the gradient of each member reaches every member") {
  for (const Transport algorithm : {Transport::ring, Transport::tree, Transport::halving_doubling})
    for (std::size_t n = 2; n <= 33; ++n) {
      CAPTURE(n);
      const CollectiveSchedule schedule(algorithm, n, Bytes{1000.0});
      check_matched(schedule);
      for (const auto& of_member : contributions(schedule))
        CHECK(std::count(of_member.begin(), of_member.end(), true) == static_cast<std::ptrdiff_t>(n));
    }
}

TEST_CASE("a ring takes 2(n-1) rounds of one chunk") {
  // 2(n-1)·(L + ceil(B/n)/bw)
  for (const double n : {2.0, 3.0, 7.0, 8.0}) {
    const double expected = 2 * (n - 1) * (0.25 + std::ceil(1000.0 / n) / 100.0);
    CHECK(ideal_time(Transport::ring, static_cast<std::size_t>(n), 1000.0) ==
          doctest::Approx(expected).epsilon(1e-12));
  }
}

TEST_CASE("a tree takes as many levels up and down as halving the members gives") {
  // 2·ceil(log2 n)·(L + B/bw); the members of uneven halves wait for the deeper one
  for (const double n : {2.0, 3.0, 4.0, 5.0, 8.0, 9.0}) {
    CAPTURE(n);
    const double expected = 2 * std::ceil(std::log2(n)) * (0.25 + 1000.0 / 100.0);
    CHECK(ideal_time(Transport::tree, static_cast<std::size_t>(n), 1000.0) ==
          doctest::Approx(expected).epsilon(1e-12));
  }
}

TEST_CASE("halving-doubling of a power of two moves each byte (n-1)/n times there and back") {
  // 2·log2(n)·L + 2·(n-1)/n·B/bw, with B divisible by n
  for (const double n : {2.0, 4.0, 16.0}) {
    CAPTURE(n);
    const double expected = 2 * std::log2(n) * 0.25 + 2 * (n - 1) / n * 1600.0 / 100.0;
    CHECK(ideal_time(Transport::halving_doubling, static_cast<std::size_t>(n), 1600.0) ==
          doctest::Approx(expected).epsilon(1e-12));
  }
}

TEST_CASE("halving-doubling of other numbers gives and takes all data once more") {
  // p = 2^floor(log2 n): 2·log2(p)·L + 2·(p-1)/p·B/bw + 2·(L + B/bw)
  for (const auto& [n, p] : {std::pair{3.0, 2.0}, {5.0, 4.0}, {6.0, 4.0}, {7.0, 4.0}, {12.0, 8.0}}) {
    CAPTURE(n);
    const double expected = 2 * std::log2(p) * 0.25 + 2 * (p - 1) / p * 16.0 + 2 * (0.25 + 16.0);
    CHECK(ideal_time(Transport::halving_doubling, static_cast<std::size_t>(n), 1600.0) ==
          doctest::Approx(expected).epsilon(1e-12));
  }
}

TEST_CASE("an all-reduce of one member takes no time") {
  for (const Transport algorithm : {Transport::ring, Transport::tree, Transport::halving_doubling})
    CHECK(ideal_time(algorithm, 1, 1000.0) == 0.0);
}
