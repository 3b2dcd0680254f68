// What holds on the machines at which time: levels, traces, stragglers, members.
#include "sim/cluster/conditions.hpp"

#include <cmath>

#include <doctest/doctest.h>

using namespace paceline;

namespace {

constexpr WorkerId w0{0};
constexpr WorkerId w1{1};

Conditions two_workers(Heterogeneity plan) {
  return Conditions(std::move(plan), {0, 1}, Seed{1, 0});
}

JobPosition at(double seconds, double epoch = 0.0, double progress = 0.0) {
  return {Seconds{seconds}, epoch, progress};
}

}  // namespace

TEST_CASE("a level by time, epoch or progress holds from when it is reached, and a later one replaces it") {
  Heterogeneity plan;
  plan.schedule = {{.at = Seconds{10.0}, .speeds = {0.5, 0.25}},
                   {.at = AtEpoch{2.0}, .workers = {1}, .bandwidths = {0.1}},
                   {.at = AtProgress{0.5}, .workers = {1}, .speeds = {2.0}},
                   {.at = AtProgress{0.75}, .workers = {0}, .cores = {3}}};
  Conditions conditions = two_workers(plan);
  CHECK(conditions.advance(at(9.9)).empty());
  CHECK(conditions.next_date() == Seconds{10.0});
  CHECK(conditions.advance(at(10.0)) == std::vector{w0, w1});
  CHECK(conditions.of(w0).speed == 0.5);
  CHECK(conditions.of(w1).speed == 0.25);
  CHECK_FALSE(conditions.next_date());
  CHECK_FALSE(conditions.is_due(at(11.0, 1.9, 0.49)));
  CHECK(conditions.is_due(at(11.0, 2.0, 0.49)));
  CHECK(conditions.advance(at(11.0, 2.0, 0.49)) == std::vector{w1});
  CHECK(conditions.of(w1).bandwidth == 0.1);
  CHECK(conditions.of(w1).speed == 0.25);
  CHECK(conditions.advance(at(12.0, 2.0, 0.5)) == std::vector{w1});
  CHECK(conditions.of(w1).speed == 2.0);
  CHECK(conditions.advance(at(13.0, 3.0, 0.75)) == std::vector{w0});
  CHECK(conditions.of(w0).cores == 3);
  CHECK(conditions.of(w0).speed == 0.5);
}

TEST_CASE("speed is level times trace over the slowdowns of the stragglers, latency their sum") {
  // 0.5 · 0.8 / (2 · 4) = 0.05;  latency 3 · 1 + 2 · 0.25 = 3.5 s
  Heterogeneity plan;
  plan.schedule = {{.at = Seconds{0.0}, .workers = {0}, .speeds = {0.5}}};
  plan.trace = {{Seconds{0.0}, 0, 0.8, {}}};
  plan.stragglers = {{.worker = 0,
                      .from = Seconds{5.0},
                      .duration = Seconds{10.0},
                      .slowdown = 2.0,
                      .added_latency = Seconds{1.0},
                      .round_trips = 3.0},
                     {.worker = 0,
                      .from = AtProgress{0.1},
                      .duration = Seconds{10.0},
                      .slowdown = 4.0,
                      .added_latency = Seconds{0.25},
                      .round_trips = 2.0}};
  Conditions conditions = two_workers(plan);
  static_cast<void>(conditions.advance(at(0.0)));
  CHECK(conditions.of(w0).speed == doctest::Approx(0.4));
  static_cast<void>(conditions.advance(at(7.0, 0.1, 0.1)));
  CHECK(conditions.of(w0).speed == doctest::Approx(0.05));
  CHECK(conditions.of(w0).added_latency.value() == doctest::Approx(3.5));
  // The first ends at 15 s on the dot, the second 10 s after the progress was reached.
  CHECK(conditions.next_date() == Seconds{15.0});
  static_cast<void>(conditions.advance(at(15.0, 0.2, 0.2)));
  CHECK(conditions.of(w0).speed == doctest::Approx(0.1));
  CHECK(conditions.next_date() == Seconds{17.0});
  static_cast<void>(conditions.advance(at(17.0, 0.2, 0.2)));
  CHECK(conditions.of(w0).speed == doctest::Approx(0.4));
  CHECK(conditions.of(w0).added_latency == Seconds{});
  CHECK(conditions.of(w1) == WorkerCondition{});
}

TEST_CASE("a recurring straggler slows its worker at t, t + E, t + 2 E, …, each time for as long") {
  // From 100 s, every 60 s, for 20 s: slow in [100, 120), [160, 180), [220, 240).
  Heterogeneity plan;
  plan.stragglers = {{.worker = 1,
                      .from = Seconds{100.0},
                      .slowdown = 4.0,
                      .every = Seconds{60.0},
                      .for_long = Seconds{20.0}}};
  Conditions conditions = two_workers(plan);
  for (const double date : {100.0, 120.0, 160.0, 180.0, 220.0, 240.0}) {
    CHECK(conditions.next_date() == Seconds{date});
    CHECK(conditions.advance(at(date)) == std::vector{w1});
    const bool begins = date == 100.0 || date == 160.0 || date == 220.0;
    CHECK(conditions.of(w1).speed == (begins ? 0.25 : 1.0));
  }
  // Several dates caught up with at once: 280 and 340 are over at 365 s, and the next is 400.
  CHECK(conditions.advance(at(365.0)).empty());
  CHECK(conditions.next_date() == Seconds{400.0});
}

TEST_CASE("what first comes at an epoch recurs by time, counted from when the epoch was reached") {
  Heterogeneity plan;
  plan.stragglers = {{.worker = 0,
                      .from = AtEpoch{1.0},
                      .slowdown = 2.0,
                      .every = Seconds{50.0},
                      .for_long = Seconds{50.0}}};
  Conditions conditions = two_workers(plan);
  CHECK_FALSE(conditions.next_date());
  CHECK(conditions.advance(at(7.0, 1.0)) == std::vector{w0});
  CHECK(conditions.next_date() == Seconds{57.0});
  // One that lasts until it begins again never ends.
  CHECK(conditions.advance(at(57.0, 1.5)).empty());
  CHECK(conditions.of(w0).speed == 0.5);
}

TEST_CASE("a level that lasts for a while stands before the others, which hold again when it ends") {
  // From 10 s, every 100 s, for 30 s: speed 0.5 and 2 cores; from 20 s on, without end: speed 0.8.
  Heterogeneity plan;
  plan.schedule = {{.at = Seconds{10.0},
                    .workers = {1},
                    .speeds = {0.5},
                    .cores = {2},
                    .every = Seconds{100.0},
                    .for_long = Seconds{30.0}},
                   {.at = Seconds{20.0}, .speeds = {0.8, 0.8}}};
  Conditions conditions = two_workers(plan);
  CHECK(conditions.advance(at(10.0)) == std::vector{w1});
  CHECK(conditions.of(w1).cores == 2);
  CHECK(conditions.advance(at(20.0)) == std::vector{w0});
  CHECK(conditions.of(w1).speed == 0.5);
  CHECK(conditions.next_date() == Seconds{40.0});
  CHECK(conditions.advance(at(40.0)) == std::vector{w1});
  CHECK(conditions.of(w1).speed == 0.8);
  CHECK_FALSE(conditions.of(w1).cores);
  CHECK(conditions.advance(at(110.0)) == std::vector{w1});
  CHECK(conditions.of(w1).speed == 0.5);
  CHECK(conditions.of(w0).speed == 0.8);
}

TEST_CASE("a row of a trace changes what it names and leaves the rest") {
  Heterogeneity plan;
  plan.trace = {{Seconds{1.0}, 0, 0.5, {}},
                {Seconds{2.0}, 0, {}, 0.25},
                {Seconds{2.0}, 1, 2.0, {}},
                {Seconds{3.0}, 0, 1.0, {}}};
  Conditions conditions = two_workers(plan);
  CHECK(conditions.next_date() == Seconds{1.0});
  CHECK(conditions.advance(at(1.0)) == std::vector{w0});
  CHECK(conditions.advance(at(2.0)) == std::vector{w0, w1});
  CHECK(conditions.of(w0).speed == 0.5);
  CHECK(conditions.of(w0).bandwidth == 0.25);
  CHECK(conditions.of(w1).speed == 2.0);
  CHECK(conditions.advance(at(3.0)) == std::vector{w0});
  CHECK(conditions.of(w0).speed == 1.0);
  CHECK(conditions.of(w0).bandwidth == 0.25);
  CHECK_FALSE(conditions.next_date());
}

TEST_CASE("who first joins is absent at the start, and presence follows the plan") {
  const std::vector<MembershipChange> membership{{Seconds{5.0}, 0, MembershipEvent::leaves},
                                                 {Seconds{7.0}, 1, MembershipEvent::joins},
                                                 {Seconds{9.0}, 0, MembershipEvent::joins}};
  CHECK(present_at_start(membership, 3) == std::vector{true, false, true});
  Heterogeneity plan;
  plan.membership = membership;
  Conditions conditions = two_workers(plan);
  CHECK(conditions.of(w0).is_present);
  CHECK_FALSE(conditions.of(w1).is_present);
  CHECK(conditions.awaits_workers());
  CHECK(conditions.advance(at(5.0)) == std::vector{w0});
  CHECK_FALSE(conditions.of(w0).is_present);
  CHECK(conditions.advance(at(7.0)) == std::vector{w1});
  CHECK(conditions.awaits_workers());
  CHECK(conditions.advance(at(9.0)) == std::vector{w0});
  CHECK(conditions.of(w0).is_present);
  CHECK_FALSE(conditions.awaits_workers());
}

TEST_CASE("a random straggler is drawn by seed, worker and window alone, however one looks") {
  // In window k worker w straggles if the first uniform of the stream (seed, straggler, w, k) is below p.
  constexpr double probability = 0.3;
  Heterogeneity plan;
  plan.random_stragglers = RandomStragglers{.probability = probability,
                                            .window = Seconds{10.0},
                                            .slowdown = 4.0,
                                            .added_latency = Seconds{0.5},
                                            .round_trips = 2.0};
  const Seed seed{17, 3};
  Conditions at_each_window(plan, {0, 1, 2, 3}, seed);
  Conditions skipping(plan, {0, 1, 2, 3}, seed);
  std::size_t straggling = 0;
  for (std::uint64_t window = 0; window < 400; ++window) {
    const JobPosition position = at(10.0 * static_cast<double>(window) + 3.0);
    static_cast<void>(at_each_window.advance(position));
    if (window % 7 == 0) static_cast<void>(skipping.advance(position));
    CHECK(at_each_window.next_date() == Seconds{10.0 * static_cast<double>(window + 1)});
    for (std::uint32_t w = 0; w < 4; ++w) {
      RandomStream stream(seed, Purpose::straggler, w, window);
      const bool straggles = stream.uniform() < probability;
      straggling += straggles ? 1 : 0;
      const WorkerCondition& condition = at_each_window.of(WorkerId{w});
      CHECK(condition.speed == (straggles ? 0.25 : 1.0));
      CHECK(condition.added_latency == Seconds{straggles ? 1.0 : 0.0});
      if (window % 7 == 0) CHECK(skipping.of(WorkerId{w}) == condition);
    }
  }
  // 1600 draws with p = 0.3: 480 ± 18
  CHECK(straggling > 480 - 4 * 18);
  CHECK(straggling < 480 + 4 * 18);
}

TEST_CASE("spells: a factor on computing in each window, with mean 1, each worker's own") {
  // Window k of worker w: log-normal from the stream (seed, spell, w, k); speed and bandwidth stay 1. Mean of
  // 4 · 2,500 factors with cv 0.3: 1 ± 0.003.
  Heterogeneity plan;
  plan.spells = Spells{0.3, Seconds{2.0}};
  const Seed seed{17, 3};
  Conditions at_each_window(plan, {0, 1, 2, 3}, seed);
  Conditions skipping(plan, {0, 1, 2, 3}, seed);
  double sum = 0.0;
  for (std::uint64_t window = 0; window < 2500; ++window) {
    const JobPosition position = at(2.0 * static_cast<double>(window) + 0.5);
    const std::vector<WorkerId> changed = at_each_window.advance(position);
    CHECK(changed.size() == (window == 0 ? 0 : 4));
    if (window % 7 == 0) static_cast<void>(skipping.advance(position));
    CHECK(at_each_window.next_date() == Seconds{2.0 * static_cast<double>(window + 1)});
    for (std::uint32_t w = 0; w < 4; ++w) {
      const WorkerCondition& condition = at_each_window.of(WorkerId{w});
      CHECK(condition.spell == RandomStream(seed, Purpose::spell, w, window).log_normal(1.0, 0.3));
      CHECK(condition.speed == 1.0);
      if (window % 7 == 0) CHECK(skipping.of(WorkerId{w}) == condition);
      sum += condition.spell;
    }
  }
  CHECK(std::abs(sum / 10'000.0 - 1.0) < 4.0 * 0.003);
}
