#include "calibrate/collective/ring_fit.hpp"

#include <cmath>
#include <vector>

#include <doctest/doctest.h>

using namespace paceline;
using namespace paceline::calibrate;

namespace {

// Messages of 20 us and 0.5 ns a byte of processor time; rounds of 30 us and 1 ns a byte besides.
std::vector<RingTime> exact_rings() {
  std::vector<RingTime> times;
  for (const std::size_t members : {2U, 4U})
    for (const double bytes : {4e3, 4e5}) {
      const auto n = static_cast<double>(members);
      const Seconds processor{4.0 * (n - 1.0) * 20e-6 + 4.0 * (n - 1.0) / n * bytes * 0.5e-9};
      const Seconds rounds{2.0 * (n - 1.0) * 30e-6 + 2.0 * (n - 1.0) / n * bytes * 1e-9};
      times.push_back({members, Bytes{bytes}, processor + rounds, processor, {}});
    }
  return times;
}

// Members whose steps take 1.25 times as long beside each other as alone, and that go from one sum to the
// next in this time.
std::vector<RingTime> rings_of_loops(std::size_t members, Seconds beside, Seconds processor, Seconds update) {
  std::vector<RingTime> times;
  for (const double bytes : {4e4, 4e5}) {
    times.push_back({members, Bytes{bytes}, update, processor, {}});
    times.back().steps =
        LoopSteps{.alone = beside / 1.25, .variation = 0.0, .beside = beside, .update = update};
  }
  return times;
}

// Searches end within half a percent of all rounds.
void check_round(const RingDisturbance& ring, Seconds round) {
  const Seconds carried = ring.bytes / static_cast<double>(ring.members) / live::Connection{}.bandwidth;
  CHECK((ring.round + carried).value() == doctest::Approx(round.value()).epsilon(0.006));
}

}  // namespace

TEST_CASE("rings on the model's line give messages and rounds back") {
  const CollectiveFit fit = fit_collectives({exact_rings(), exact_rings()}, 4);
  CHECK(fit.processor.fixed_s == doctest::Approx(20e-6));
  CHECK(fit.processor.seconds_per_byte == doctest::Approx(0.5e-9));
  CHECK(fit.processor.error < 1e-9);
  REQUIRE(fit.connection.has_value());
  CHECK(fit.connection->fixed_s == doctest::Approx(30e-6));
  CHECK(fit.connection->seconds_per_byte == doctest::Approx(1e-9));
}

TEST_CASE("what rings cost is said in the words of a scenario") {
  const CollectiveFit fit = fit_collectives({exact_rings(), exact_rings()}, 4);
  const CommunicationCost cost = cost_of(fit);
  CHECK(cost.per_message.value() == doctest::Approx(20e-6));
  REQUIRE(cost.rate.has_value());
  CHECK(cost.rate->value() == doctest::Approx(2e9));
  CHECK(cost.server_request == Seconds{});
  const live::Connection connection = connection_of(fit);
  CHECK(connection.latency.value() == doctest::Approx(30e-6));
  CHECK(connection.bandwidth.value() == doctest::Approx(1e9));
}

TEST_CASE("bug: a round whose bytes take no time of their own was said without a bandwidth") {
  CollectiveFit fit = fit_collectives({exact_rings(), exact_rings()}, 4);
  fit.connection->seconds_per_byte = 0.0;
  CHECK(scenario_words(connection_of(fit)) == "latency: 30 us, bandwidth: 1000 Gbit/s");
}

TEST_CASE("rings of more members than cores say nothing of the connection") {
  std::vector<RingTime> rings = exact_rings();
  for (RingTime& ring : rings)
    if (ring.members == 4) ring.wall = Seconds{1.0};
  CHECK(fit_collectives({rings}, 2).connection->fixed_s == doctest::Approx(30e-6));
  CHECK_FALSE(fit_collectives({rings}, 1).connection.has_value());
}

TEST_CASE("loops in a ring: a round is what is left of an update, its step and its messages taken off") {
  // Two members on two cores: update = slowed step + processor time of the sum + 2 (n - 1) rounds.
  const Seconds processor{800e-6};
  const Seconds round{150e-6};
  for (const double step_s : {2.5e-3, 100e-3}) {
    CAPTURE(step_s);
    const std::vector<RingTime> rings =
        rings_of_loops(2, Seconds{step_s}, processor, Seconds{step_s} + processor + 2.0 * round);
    const CollectiveFit fit = fit_collectives({rings, rings}, 2);
    REQUIRE(fit.disturbances.size() == 2);
    for (const RingDisturbance& ring : fit.disturbances) {
      CHECK(ring.slowdown == doctest::Approx(1.25));
      CHECK(ring.slowdowns.size() == 2);
      check_round(ring, round);
    }
    REQUIRE(fit.connection.has_value());
    // The line over both sizes is as close as the searches were.
    for (const RingDisturbance& ring : fit.disturbances)
      CHECK(fit.connection->of(2.0, ring.bytes.value()) ==
            doctest::Approx(2.0 * ring.round.value()).epsilon(0.012));
  }
}

TEST_CASE(
    "of rings of several sizes a round's bytes are told from its latency, and of each both make its round") {
  // A latency of 1 ms, and B / n bytes at 25 MB/s, for n = 2: 1.8 and 9 ms.
  const auto round_of = [](double bytes) {
    return Seconds{1e-3} + Bytes{bytes} / 2.0 / BytesPerSecond{25e6};
  };
  std::vector<RingTime> rings = rings_of_loops(2, Seconds{0.1}, Seconds{800e-6}, Seconds{});
  for (RingTime& ring : rings)
    ring.steps->update = Seconds{0.1} + Seconds{800e-6} + 2.0 * round_of(ring.bytes.value());
  const CollectiveFit fit = fit_collectives({rings, rings}, 2);
  REQUIRE(fit.disturbances.size() == 2);
  for (const RingDisturbance& ring : fit.disturbances) {
    const live::Connection connection = connection_of(ring);
    CHECK(connection.bandwidth.value() == doctest::Approx(25e6).epsilon(0.02));
    CHECK(connection.latency.value() == doctest::Approx(1e-3).epsilon(0.1));
    // Searches end within half a percent.
    CHECK((connection.latency + ring.bytes / 2.0 / connection.bandwidth).value() ==
          doctest::Approx(round_of(ring.bytes.value()).value()).epsilon(0.006));
  }
}

TEST_CASE("of one size nobody can tell what a round's bytes take: all of it is latency") {
  // Two rings, of two and of three members, that sum one size each.
  std::vector<RingTime> rings = rings_of_loops(2, Seconds{0.1}, Seconds{800e-6}, Seconds{0.11});
  rings.back() = rings_of_loops(3, Seconds{0.1}, Seconds{800e-6}, Seconds{0.11}).front();
  const CollectiveFit fit = fit_collectives({rings, rings}, 3);
  REQUIRE(fit.disturbances.size() == 2);
  CHECK(connection_of(fit.disturbances.front()).latency == fit.disturbances.front().round);
  CHECK(connection_of(fit.disturbances.front()).bandwidth == live::Connection{}.bandwidth);
}

TEST_CASE("loops in a ring of more members than cores wait for a core in fair shares, the rest are rounds") {
  // Three steps on two cores take 3/2 as long as one, and a ring of three has 2 (n - 1) = 4 rounds.
  const Seconds step{2.5e-3};
  const Seconds round{150e-6};
  const std::vector<RingTime> rings = rings_of_loops(3, step, Seconds{1e-9}, 1.5 * step + 4.0 * round);
  const CollectiveFit fit = fit_collectives({rings}, 2);
  REQUIRE(fit.disturbances.size() == 2);
  for (const RingDisturbance& ring : fit.disturbances) check_round(ring, round);
  CHECK_FALSE(fit.connection.has_value());
}

TEST_CASE("in a ring of loops whose steps vary the last one decides, and rounds are shorter for it") {
  const Seconds step{2.5e-3};
  std::vector<RingTime> rings = rings_of_loops(2, step, Seconds{800e-6}, step + Seconds{1.5e-3});
  const Seconds steady = fit_collectives({rings}, 2).disturbances.at(0).round;
  for (RingTime& ring : rings) ring.steps->variation = 0.1;
  // The later one of two normal times: mean + deviation / sqrt(pi); that is shared by two rounds.
  const Seconds waited = 0.1 * step / std::sqrt(std::acos(-1.0));
  const Seconds shorter = steady - fit_collectives({rings}, 2).disturbances.at(0).round;
  CHECK((2.0 * shorter).value() == doctest::Approx(waited.value()).epsilon(0.1));
}

TEST_CASE(
    "loops in a ring that go from sum to sum sooner than simulated ones have rounds that take no time") {
  const std::vector<RingTime> rings = rings_of_loops(2, Seconds{2.5e-3}, Seconds{800e-6}, Seconds{2.4e-3});
  const CollectiveFit fit = fit_collectives({rings}, 2);
  REQUIRE(fit.disturbances.size() == 2);
  CHECK(fit.disturbances.front().round == Seconds{});
  CHECK_FALSE(fit.connection.has_value());
}

TEST_CASE("the slowdown of a ring is a ratio of means over passes, not a mean of ratios") {
  // A machine half as fast in the second pass: (2.5 + 6) / (2 + 4).
  const std::vector<RingTime> rings = rings_of_loops(2, Seconds{2.5e-3}, Seconds{800e-6}, Seconds{4e-3});
  std::vector<RingTime> slow = rings;
  for (RingTime& ring : slow) {
    ring.steps->alone = Seconds{4e-3};
    ring.steps->beside = Seconds{6e-3};
  }
  const CollectiveFit fit = fit_collectives({rings, slow}, 2);
  CHECK(fit.disturbances.at(0).slowdown == doctest::Approx(8.5 / 6.0));
  CHECK(fit.disturbances.at(0).slowdowns.at(1) == doctest::Approx(1.5));
}

TEST_CASE("what a stop costs a member is what all of them cost over their number, of all sizes of a ring") {
  std::vector<RingTime> rings = rings_of_loops(2, Seconds{2e-3}, Seconds{1e-4}, Seconds{2.5e-3});
  for (const RingTime& ring : rings_of_loops(3, Seconds{2e-3}, Seconds{1e-4}, Seconds{3e-3}))
    rings.push_back(ring);
  CHECK(fit_collectives({rings}, 4).resumes.empty());
  const auto held_up = [&](const HeldUp& first, const HeldUp& second) {
    rings.at(2).held_up = first;
    rings.at(3).held_up = second;
    return rings;
  };
  // One stop that seems to cost 9 ms counts for no more than one among ten.
  const CollectiveFit fit = fit_collectives(
      {held_up({Seconds{9e-3}, 1}, {Seconds{27e-3}, 9}), held_up({Seconds{16e-3}, 4}, {Seconds{32e-3}, 4}),
       held_up({Seconds{1e-3}, 0}, {Seconds{-1e-3}, 0})},
      4);
  REQUIRE(fit.resumes.size() == 1);
  CHECK(fit.resumes[0].members == 3);
  CHECK(fit.resumes[0].all.stops == 18);
  CHECK(fit.resumes[0].all.longer.value() == doctest::Approx(84e-3));
  REQUIRE(fit.resumes[0].seconds.size() == 2);
  CHECK(fit.resumes[0].seconds[0] == doctest::Approx(3.6e-3));
  CHECK(fit.resumes[0].seconds[1] == doctest::Approx(6e-3));
}

TEST_CASE("loops that say no processor time tell nothing of how they slow each other") {
  std::vector<RingTime> rings = exact_rings();
  rings.front().steps =
      LoopSteps{.alone = Seconds{2e-3}, .variation = 0.0, .beside = Seconds{2.5e-3}, .update = Seconds{3e-3}};
  const CollectiveFit fit = fit_collectives({rings}, 4);
  CHECK(fit.disturbances.empty());
  CHECK(fit.connection->fixed_s == doctest::Approx(30e-6));
}
