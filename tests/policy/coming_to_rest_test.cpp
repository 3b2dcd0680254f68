// proportional-repair comes to rest: with fixed parts up to 0.8 and bends up to four times, and after speeds
// change.
#include <cmath>
#include <numeric>
#include <vector>

#include <doctest/doctest.h>

#include "tests/policy/random_clusters.hpp"

using namespace paceline;
using namespace paceline::test;

namespace {

// Each worker with a fixed part of up to 0.8 of its balanced time and a bend of its own, beyond which a
// sample costs up to four times as much.
std::vector<Laws> all_shapes(int count) {
  RandomStream random(Seed{10, 0}, Purpose::test);
  std::vector<Laws> clusters = random_clusters(count, [](RandomStream& r) { return 0.8 * r.uniform(); });
  for (Laws& laws : clusters)
    for (ComputeFit& law : laws)
      law.knee =
          BatchKnee{.at_samples = static_cast<double>(plenty_of_samples) * (0.5 + 1.5 * random.uniform()),
                    .extra_slope = 3.0 * random.uniform() * law.slope_per_sample};
  return clusters;
}

// A controller and the batches it has in force.
struct Driven {
  std::unique_ptr<BatchController> controller;
  Batches batches = batches_of(controller->initial());

  // How many of so many looks changed the batches.
  int looks(const Laws& laws, int count) {
    int adjustments = 0;
    for (int look = 0; look < count; ++look) {
      const Batches in_force = batches;
      for (std::uint64_t w = 0; w < laws.size(); ++w)
        if (auto changed =
                controller->on_iteration(WorkerId{w}, in_force[w], Seconds{time_s(laws, w, in_force[w])})) {
          batches = batches_of(*changed);
          ++adjustments;
        }
    }
    return adjustments;
  }
};

Driven repairing(std::size_t workers) {
  return {unbounded("proportional-repair", workers)};
}

}  // namespace

TEST_CASE(
    "proportional-repair comes to rest near balance within 20 adjustments, with fixed parts up to 0.8 and "
    "bends up to 4") {
  // It rests where the proportional rule would change no batch by more than the dead-band, 5 %: all times are
  // then between 1/1.05 and 1/0.95 of a common one, which leaves 1.05/0.95 = 1.105, and a little for whole
  // samples.
  for (const Laws& laws : all_shapes(500)) {
    Driven driven = repairing(laws.size());
    CHECK(driven.looks(laws, 40) <= 20);
    CHECK(driven.looks(laws, 20) == 0);
    CHECK(imbalance(laws, driven.batches) <= 1.12);
  }
}

TEST_CASE("proportional-repair keeps the global batch through every adjustment at all these shapes") {
  for (const Laws& laws : all_shapes(100)) {
    Driven driven = repairing(laws.size());
    for (int look = 0; look < 10; ++look) {
      driven.looks(laws, 1);
      CHECK(std::accumulate(driven.batches.begin(), driven.batches.end(), std::int64_t{0}) ==
            plenty_of_samples * static_cast<std::int64_t>(laws.size()));
    }
  }
}

TEST_CASE("a speed that changes at rest is answered as quickly as from equal batches") {
  // The elasticities learned hold at any speed, t → s·t: what was rest stays known.
  const std::vector<double> fast_last{9, 8, 6, 25};
  for (const double share : {0.0, 0.2}) {
    Laws laws = balanced_at_one_second(fast_last, std::vector<double>(4, share));
    Driven driven = repairing(4);
    driven.looks(laws, 10);
    laws[3].intercept = laws[3].intercept * 3.0;  // three times as slow
    laws[3].slope_per_sample = laws[3].slope_per_sample * 3.0;
    driven.looks(laws, 3);
    CHECK(imbalance(laws, driven.batches) <= 1.10);
  }
}

TEST_CASE("a speed that changes together with the batch misleads for a few adjustments, not for good") {
  // After one adjustment, and so between the two batches a chord goes through, one worker becomes `factor`
  // times as fast.
  for (const double factor : {0.25, 0.5, 0.8, 1.25, 2.0, 4.0}) {
    for (Laws laws : random_clusters(100, 0.2)) {
      Driven driven = repairing(laws.size());
      driven.looks(laws, 1);
      laws[0].intercept = laws[0].intercept * (1.0 / factor);
      laws[0].slope_per_sample = laws[0].slope_per_sample * (1.0 / factor);
      driven.looks(laws, 8);
      CHECK(imbalance(laws, driven.batches) <= 1.10);
      driven.looks(laws, 20);
      CHECK(driven.looks(laws, 20) == 0);
    }
  }
}

TEST_CASE("of a worker that comes back nothing is taken for known: it may be another machine") {
  // t = √b/10 and twice that, without noise: 100, 100 → 133, 67 → 160, 40, both 1.265 s. Then the second
  // comes back and takes twice as long. Proportional again, 40·u/2, where the first is known to follow
  // 160·u²: 160·u² + 20·u = 200, u = 1.0573.
  BatchingConfig config;
  config.controller = {"proportional-repair", {{"dead_band", 0.0}, {"adjust_every", EveryIterations{1}}}};
  config.initial_samples = 100;
  const auto controller = make_batch_controller(config, machines(2));
  const auto root_s = [](std::uint64_t w, std::int64_t b) {
    return (w == 0 ? 0.1 : 0.2) * std::sqrt(static_cast<double>(b));
  };
  REQUIRE(drive(*controller, root_s, 2) == Batches{160, 40});
  controller->on_leave(WorkerId{1});
  controller->on_join(WorkerId{1});
  CHECK_FALSE(controller->on_iteration(WorkerId{0}, 160, Seconds{root_s(0, 160)}).has_value());
  const auto adjusted = controller->on_iteration(WorkerId{1}, 40, Seconds{2.0 * root_s(1, 40)});
  REQUIRE(adjusted.has_value());
  CHECK(batches_of(*adjusted) == Batches{179, 21});
}
