#include "sim/policy/batching/omnilearn_code.hpp"

#include <algorithm>
#include <numeric>

#include <doctest/doctest.h>

#include "tests/policy/driven_controller.hpp"

using namespace paceline;
using namespace paceline::test;

namespace {

using Cores = std::vector<double>;

// t_k = b_k / cores_k, no noise: as in the vectors below, recorded from OmniLearn's code.
std::vector<double> times(const Batches& batches, const Cores& cores) {
  std::vector<double> times_s;
  for (std::size_t k = 0; k < cores.size(); ++k)
    times_s.push_back(static_cast<double>(batches[k]) / cores[k]);
  return times_s;
}

Batches bsp_step(const Batches& batches, const Cores& cores) {
  const OmniLearnCodeRule rule{
      .dead_band = 0.2, .minimum_samples = 16, .maximum_samples = 96, .global_batch = 128};
  return batches_of(omnilearn_code_batches(rule, batches, times(batches, cores)));
}
Batches asp_step(const Batches& batches, const Cores& cores) {
  const OmniLearnCodeRule rule{
      .dead_band = 0.2, .minimum_samples = 16, .maximum_samples = 96, .global_batch = std::nullopt};
  return batches_of(omnilearn_code_batches(rule, batches, times(batches, cores)));
}

double slow_times(const Batches& batches, const Cores& cores) {
  const std::vector<double> times_s = times(batches, cores);
  const double all = std::accumulate(cores.begin(), cores.end(), 0.0);
  return *std::max_element(times_s.begin(), times_s.end()) / (128.0 / all);
}

const Batches start{32, 32, 32, 32};

BatchingConfig code_config() {
  BatchingConfig config;
  config.controller = "omnilearn-code";
  config.initial_samples = 32;
  config.minimum_samples = 16;
  config.maximum_samples = 96;
  return config;
}

const std::vector<WorkerId> everybody{WorkerId{0}, WorkerId{1}, WorkerId{2}, WorkerId{3}};

}  // namespace

TEST_CASE("OmniLearn's code, BSP: the published vectors, exactly") {
  CHECK(bsp_step(start, {12, 12, 12, 12}) == start);

  const Cores hl2{12, 12, 8, 16};
  CHECK(bsp_step(start, hl2) == Batches{31, 31, 22, 45});
  CHECK(bsp_step({31, 31, 22, 45}, hl2) == Batches{31, 31, 22, 45});
  CHECK(slow_times(start, hl2) == doctest::Approx(1.50));
  CHECK(slow_times({31, 31, 22, 45}, hl2) == doctest::Approx(1.055).epsilon(0.0005));

  const Cores hl4{9, 8, 6, 25};
  CHECK(bsp_step(start, hl4) == Batches{21, 21, 11, 78});  // the third lies below the minimum of 16
  CHECK(bsp_step({21, 21, 11, 78}, hl4) == Batches{23, 23, 18, 64});
  CHECK(bsp_step({23, 23, 18, 64}, hl4) == Batches{23, 23, 18, 64});
  CHECK(slow_times(start, hl4) == doctest::Approx(2.0));
  CHECK(slow_times({21, 21, 11, 78}, hl4) == doctest::Approx(1.170).epsilon(0.0005));
  CHECK(slow_times({23, 23, 18, 64}, hl4) == doctest::Approx(1.125).epsilon(0.0005));
}

TEST_CASE("OmniLearn's code, ASP: the published vectors, exactly") {
  CHECK(asp_step(start, {10, 10, 10, 10}) == start);
  CHECK(asp_step(start, {8, 8, 8, 16}) == Batches{32, 32, 32, 56});
  CHECK(asp_step({32, 32, 32, 56}, {8, 8, 8, 16}) == Batches{32, 32, 32, 56});
  CHECK(asp_step(start, {10, 10, 4, 16}) == Batches{41, 41, 17, 66});
  CHECK(asp_step({41, 41, 17, 66}, {10, 10, 4, 16}) == Batches{41, 41, 17, 66});
}

TEST_CASE("OmniLearn's code: times in single precision give the same batches") {
  // Section 2.3: "same result with 32-bit and 64-bit floating point times".
  for (const Cores& cores : {Cores{12, 12, 8, 16}, Cores{9, 8, 6, 25}}) {
    Batches batches = start;
    for (int epoch = 0; epoch < 3; ++epoch) {
      std::vector<double> single;
      for (const double t : times(batches, cores))
        single.push_back(static_cast<double>(static_cast<float>(t)));
      const OmniLearnCodeRule rule{.global_batch = 128};
      const Batches next = bsp_step(batches, cores);
      CHECK(batches_of(omnilearn_code_batches(rule, batches, single)) == next);
      batches = next;
    }
  }
}

TEST_CASE("OmniLearn's code: an additive repair that would leave no sample leaves one, and says so") {
  // One worker a thousand times faster: b = 6 and 5000, 9 and 5003 with what was handed back, G = 5012, and
  // 9 - (5012 - 20)/2 is far below one sample.
  const OmniLearnCodeRule rule{
      .dead_band = 0.0, .minimum_samples = 1, .maximum_samples = 5000, .global_batch = 20};
  const Allocation batches = omnilearn_code_batches(rule, Batches{10, 10}, std::vector<double>{10.0, 0.01});
  CHECK(batches[0].samples == 1);
  CHECK(batches[0].limited_by == BatchLimit::minimum);
}

TEST_CASE("omnilearn-code under BSP adjusts with the update that completes an epoch, by plain means") {
  // Worker 2 takes 3 s and then 5 s (mean 4), the others as their cores say: the HL2 vector needs means 2.67,
  // 2.67, 4, 2.
  auto controller = make_batch_controller(code_config(), machines(4));
  controller->begin_phase(true);
  const Cores cores{12, 12, 8, 16};
  for (int step = 0; step < 2; ++step) {
    for (std::uint64_t w = 0; w < 4; ++w) {
      const double extra = w == 2 ? (step == 0 ? -1.0 : 1.0) : 0.0;
      CHECK_FALSE(controller->on_iteration(WorkerId{w}, 32, Seconds{32.0 / cores[w] + extra}));
      CHECK_FALSE(controller->holds(WorkerId{w}));
    }
    const auto adjusted = controller->on_update(everybody, step == 0 ? 0.99 : 1.0);
    CHECK(adjusted.has_value() == (step == 1));
    if (adjusted) CHECK(batches_of(*adjusted) == Batches{31, 31, 22, 45});
  }
}

TEST_CASE("omnilearn-code under ASP adjusts after everybody's first step, and holds who has reported") {
  // ceil(samples / training set) is 1 from the first push on. Cores 8, 8, 8, 16: the fast worker reports
  // first.
  auto controller = make_batch_controller(code_config(), machines(4));
  controller->begin_phase(false);
  const Cores cores{8, 8, 8, 16};
  std::optional<Allocation> adjusted;
  for (const std::uint64_t w : {3U, 0U, 1U, 2U}) {
    CHECK_FALSE(adjusted.has_value());
    controller->on_iteration(WorkerId{w}, 32, Seconds{32.0 / cores[w]});
    CHECK_FALSE(controller->holds(WorkerId{w}));
    adjusted = controller->on_update(std::vector{WorkerId{w}}, 0.01);
    CHECK(controller->holds(WorkerId{w}) == (w != 2));  // the last one's report lets everybody go
  }
  REQUIRE(adjusted.has_value());
  CHECK(batches_of(*adjusted) == Batches{32, 32, 32, 56});
  for (const WorkerId worker : everybody) CHECK_FALSE(controller->holds(worker));
  // Within the same epoch nothing more is reported.
  controller->on_iteration(WorkerId{3}, 56, Seconds{3.5});
  CHECK_FALSE(controller->on_update(std::vector{WorkerId{3}}, 0.5).has_value());
  CHECK_FALSE(controller->holds(WorkerId{3}));
}

TEST_CASE("omnilearn-code under ASP does not wait for a worker that left") {
  auto controller = make_batch_controller(code_config(), machines(2));
  controller->begin_phase(false);
  controller->on_iteration(WorkerId{0}, 32, Seconds{1.0});
  controller->on_update(std::vector{WorkerId{0}}, 0.01);
  CHECK(controller->holds(WorkerId{0}));
  static_cast<void>(controller->on_leave(WorkerId{1}));
  CHECK_FALSE(controller->holds(WorkerId{0}));
}

TEST_CASE("OmniLearn's code: the dead-band is relative to the new batch") {
  // Times 1 and 1.44 s, mean 1.22: worker 0 wants 39.04 of 32 samples, 18 % of the new and 22 % of the
  // old batch.
  const OmniLearnCodeRule rule{
      .dead_band = 0.2, .minimum_samples = 16, .maximum_samples = 96, .global_batch = std::nullopt};
  CHECK(batches_of(omnilearn_code_batches(rule, Batches{32, 32}, std::vector{1.0, 1.44})) == Batches{32, 32});
  // Times 1 and 0.64 s, mean 0.82: it wants 26.24, 22 % of the new and 18 % of the old; the other 41, 22
  // % and 28 %.
  CHECK(batches_of(omnilearn_code_batches(rule, Batches{32, 32}, std::vector{1.0, 0.64})) == Batches{27, 41});
}
