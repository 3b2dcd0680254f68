#include "sim/policy/batching/batch_controller.hpp"

#include <cmath>
#include <cstdlib>
#include <numeric>

#include <doctest/doctest.h>

#include "sim/policy/batching/apportion.hpp"
#include "tests/policy/driven_controller.hpp"

using namespace paceline;
using namespace paceline::test;

namespace {

BatchingConfig dynamic(std::int64_t initial) {
  BatchingConfig config;
  config.controller = {"dynamic", {{"adjust_every", EveryIterations{5}}}};
  config.initial_samples = initial;
  config.minimum_samples = 1;
  config.maximum_samples = 10000;
  return config;
}

}  // namespace

TEST_CASE("uniform gives every worker the initial batch") {
  BatchingConfig config;
  config.initial_samples = 48;
  CHECK(batches_of(make_batch_controller(config, throughputs({1.0, 9.0}))->initial()) == Batches{48, 48});
}

TEST_CASE("under uniform no other batch than the initial one is possible, whatever the bounds") {
  BatchingConfig config;
  config.initial_samples = 48;
  config.minimum_samples = 8;
  config.maximum_samples = 32;
  CHECK(possible_batches(config).smallest == 48);
  CHECK(possible_batches(config).largest == 48);
  config.controller = BatchControllerChoice("static");
  CHECK(possible_batches(config).smallest == 8);
  CHECK(possible_batches(config).largest == 32);
}

TEST_CASE("static splits the global batch by calibrated throughput and keeps its sum") {
  // b_k = K·b_0·X_k / ΣX: 4·32 = 128 over throughputs 6:6:4:32 = 16, 16, 10.67, 85.33 -> 16, 16, 11, 85
  BatchingConfig config;
  config.controller = "static";
  config.initial_samples = 32;
  config.minimum_samples = 1;
  const Batches batches =
      batches_of(make_batch_controller(config, throughputs({6.0, 6.0, 4.0, 32.0}))->initial());
  CHECK(batches == Batches{16, 16, 11, 85});
}

TEST_CASE("the dynamic controller reaches the fixed point of the published figure within two adjustments") {
  // ACSOS 2020, figure 4a: batches settle near (1059, 855, 1252) from 1024 each. At a fixed point all times
  // are equal, so t_k(b) = b / X_k with speeds X_k proportional to those batches has it exactly; the target
  // is 3 %.
  const std::vector<double> speed{1059.0, 855.0, 1252.0};
  auto controller = make_batch_controller(dynamic(1024), throughputs(speed));
  const Batches settled = drive(
      *controller, [&](std::uint64_t w, std::int64_t b) { return static_cast<double>(b) / speed[w]; }, 2, 60);
  const double published[] = {1059.0, 855.0, 1252.0};
  for (std::size_t k = 0; k < 3; ++k)
    CHECK(std::abs(static_cast<double>(settled[k]) / published[k] - 1.0) < 0.03);
}

TEST_CASE("one adjustment is b·mean(t)/t, rounded") {
  // times 2, 1, 1 s at 30 samples each: mean 4/3 -> 30·(4/3)/2 = 20, 30·(4/3)/1 = 40, 40
  auto controller = make_batch_controller(dynamic(30), throughputs({1.0, 1.0, 1.0}));
  CHECK(drive(
            *controller, [](std::uint64_t w, std::int64_t) { return w == 0 ? 2.0 : 1.0; }, 1) ==
        Batches{20, 40, 40});
}

TEST_CASE("equal times never adjust, nor do differences inside the dead-band") {
  // 3 % apart: the largest change would be below 5 %
  auto controller = make_batch_controller(dynamic(100), throughputs({1.0, 1.0}));
  const Batches batches = drive(
      *controller, [](std::uint64_t w, std::int64_t) { return w == 0 ? 1.03 : 1.0; }, 1, 200);
  CHECK(batches == Batches{100, 100});
}

TEST_CASE("the dead-band looks at the largest change, and then everybody moves") {
  // times 1.2, 1, 1 s at 100: changes -11 %, +7 %, +7 %. With dead-band 8 % only the first exceeds it, yet
  // all move.
  BatchingConfig config = dynamic(100);
  CHECK(config.controller.parameters().set("dead_band", 0.08));
  auto controller = make_batch_controller(config, throughputs({1.0, 1.0, 1.0}));
  CHECK(drive(
            *controller, [](std::uint64_t w, std::int64_t) { return w == 0 ? 1.2 : 1.0; }, 1) ==
        Batches{89, 107, 107});
}

TEST_CASE("bounds clamp before the dead-band decides") {
  // The slow worker already sits at the minimum and the fast one at the maximum: nothing can change, so
  // nothing does.
  BatchingConfig config = dynamic(100);
  config.minimum_samples = 100;
  config.maximum_samples = 100;
  auto controller = make_batch_controller(config, throughputs({1.0, 1.0}));
  CHECK(drive(
            *controller, [](std::uint64_t w, std::int64_t) { return w == 0 ? 9.0 : 1.0; }, 1, 200) ==
        Batches{100, 100});
}

TEST_CASE("a batch that lowered the throughput becomes an upper bound that is never passed again") {
  // Worker 1 is twice as fast, but falls to a quarter of its speed above 110 samples: after trying it keeps
  // to 100.
  const auto time_s = [](std::uint64_t w, std::int64_t b) {
    const auto batch = static_cast<double>(b);
    if (w == 0) return batch / 100.0;
    return b > 110 ? batch / 50.0 : batch / 200.0;
  };
  auto controller = make_batch_controller(dynamic(100), throughputs({1.0, 1.0}));
  Batches batches = batches_of(controller->initial());
  bool tried_more = false;
  bool learned = false;
  for (int round = 0; round < 500; ++round) {
    const Batches in_force = batches;
    for (std::uint64_t w = 0; w < 2; ++w)
      if (auto changed =
              controller->on_iteration(WorkerId{w}, in_force[w], Seconds{time_s(w, in_force[w])})) {
        batches = batches_of(*changed);
        if (tried_more) learned = true;
        if (batches[1] > 110) {
          CHECK_FALSE(tried_more);
          tried_more = true;
        }
      }
  }
  CHECK(tried_more);
  CHECK(learned);
  CHECK(batches[1] <= 100);
}

TEST_CASE("an iteration that started under the old batch does not count for the new one") {
  auto controller = make_batch_controller(dynamic(30), throughputs({1.0, 1.0, 1.0}));
  const Batches batches = drive(
      *controller, [](std::uint64_t w, std::int64_t) { return w == 0 ? 2.0 : 1.0; }, 1);
  REQUIRE(batches == Batches{20, 40, 40});
  // Stale reports of 30 samples with absurd times change nothing, however many there are.
  for (int i = 0; i < 100; ++i)
    for (std::uint64_t w = 0; w < 3; ++w)
      CHECK_FALSE(controller->on_iteration(WorkerId{w}, 30, Seconds{100.0}));
}
