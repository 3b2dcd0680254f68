// What the proportional controllers must hold on uneven clusters, against the world of the published vectors:
// iteration times t_k = b_k / cores_k.
#include <algorithm>
#include <cmath>
#include <numeric>

#include <doctest/doctest.h>

#include "sim/base/random.hpp"
#include "sim/policy/batching/periodic_controller.hpp"
#include "tests/policy/driven_controller.hpp"

using namespace paceline;
using namespace paceline::test;

namespace {

using Cores = std::vector<double>;

// The core sets of OmniLearn's levels (as in its code), BSP and ASP, and its 32 workers.
const std::vector<Cores> core_levels{
    {12, 12, 12, 12},
    {12, 12, 8, 16},
    {9, 8, 6, 25},
    {6, 6, 4, 32},
    {10, 10, 10, 10},
    {8, 8, 8, 16},
    {10, 10, 4, 16},
    {4, 4, 4, 28},
    {2, 2, 2, 2, 6, 6, 6, 6, 2, 2, 2, 6, 6, 6, 6, 16, 32, 2, 2, 2, 4, 4, 4, 4, 6, 6, 4, 4, 4, 4, 4, 4}};

BatchingConfig config_of(const char* controller, std::int64_t initial,
                         AdjustmentPeriod adjust_every = EveryIterations{3}) {
  BatchingConfig config;
  config.controller = {controller, {{"adjust_every", adjust_every}}};
  config.initial_samples = initial;
  config.minimum_samples = 1;
  config.maximum_samples = 100000;
  return config;
}

double sum_of(const Batches& batches) {
  return static_cast<double>(std::accumulate(batches.begin(), batches.end(), std::int64_t{0}));
}

// Slowest iteration over that of the perfectly balanced split of the same total: max b/c · Σ c / Σ b.
double imbalance(const Batches& batches, const Cores& cores) {
  double slowest = 0.0;
  for (std::size_t k = 0; k < cores.size(); ++k)
    slowest = std::max(slowest, static_cast<double>(batches[k]) / cores[k]);
  return slowest * std::accumulate(cores.begin(), cores.end(), 0.0) / sum_of(batches);
}

Batches after(const char* kind, const Cores& cores, int adjustments, std::int64_t initial = 64) {
  auto controller = make_batch_controller(config_of(kind, initial), machines(cores.size()));
  return drive(
      *controller, [&](std::uint64_t w, std::int64_t b) { return static_cast<double>(b) / cores[w]; },
      adjustments, 60);
}

}  // namespace

TEST_CASE("published rule: the mean over workers of old batch over new batch is 1 at the first adjustment") {
  // b' = b·t̄/t, so mean(b/b') = mean(t)/t̄ = 1; the published run has 1.0006. 1024 samples each, so that
  // rounding to whole samples moves a ratio by less than 1/1000.
  for (const Cores& cores : core_levels) {
    const Batches adjusted = after("dynamic", cores, 1, 1024);
    double mean = 0.0;
    for (const std::int64_t batch : adjusted)
      mean += 1024.0 / static_cast<double>(batch) / static_cast<double>(cores.size());
    CHECK(mean == doctest::Approx(1.0).epsilon(1e-3));
  }
}

TEST_CASE("published rule and proportional-repair are within 10 % of balance after three adjustments") {
  for (const char* kind : {"dynamic", "proportional-repair"})
    for (const Cores& cores : core_levels) CHECK(imbalance(after(kind, cores, 3), cores) <= 1.10);
}

TEST_CASE("proportional-repair and LB-BSP keep the global batch exactly, whatever the level") {
  for (const char* kind : {"proportional-repair", "lb-bsp"})
    for (const Cores& cores : core_levels)
      for (int adjustments = 1; adjustments <= 4; ++adjustments)
        CHECK(sum_of(after(kind, cores, adjustments, 32)) == 32.0 * static_cast<double>(cores.size()));
}

TEST_CASE("proportional-repair never leaves its bounds, also where OmniLearn's code does") {
  // HL4 BSP with bounds 16 to 96, where OmniLearn's code goes down to 11; and a level far beyond the bounds.
  for (const Cores& cores : {Cores{9, 8, 6, 25}, Cores{1, 1, 1, 45}}) {
    BatchingConfig config = config_of("proportional-repair", 32);
    config.minimum_samples = 16;
    config.maximum_samples = 96;
    auto controller = make_batch_controller(config, machines(4));
    const Batches batches = drive(
        *controller, [&](std::uint64_t w, std::int64_t b) { return static_cast<double>(b) / cores[w]; }, 3,
        60);
    CHECK(sum_of(batches) == 128.0);
    for (const std::int64_t batch : batches) CHECK((batch >= 16 && batch <= 96));
  }
}

TEST_CASE(
    "proportional-repair comes to rest where times grow faster than batches and the plain rule would swing") {
  // t = b^3 / c: near balance the plain rule multiplies an error by 1 - 3 = -2 and diverges. Who learns ε = 3
  // stops changing.
  const Cores cores{1, 8, 27, 125};  // balanced at b ∝ c^(1/3): 1, 2, 3, 5
  auto controller = make_batch_controller(config_of("proportional-repair", 110), machines(4));
  const auto time_s = [&](std::uint64_t w, std::int64_t b) {
    return std::pow(static_cast<double>(b), 3.0) / cores[w];
  };
  Batches batches = batches_of(controller->initial());
  int last_change = 0;
  for (int round = 0; round < 1500; ++round) {
    const Batches in_force = batches;
    for (std::uint64_t w = 0; w < 4; ++w)
      if (auto changed =
              controller->on_iteration(WorkerId{w}, in_force[w], Seconds{time_s(w, in_force[w])})) {
        batches = batches_of(*changed);
        last_change = round;
      }
  }
  CHECK(last_change < 150);
  const Batches balanced{40, 80, 120, 200};
  for (std::size_t k = 0; k < 4; ++k)
    CHECK(std::abs(static_cast<double>(batches[k] - balanced[k])) <= 0.1 * static_cast<double>(balanced[k]));
}

TEST_CASE("homogeneous workers without jitter leave every controller's batches unchanged") {
  for (const char* kind : {"dynamic", "proportional-repair", "lb-bsp"}) {
    auto controller = make_batch_controller(config_of(kind, 37), machines(5));
    for (int round = 0; round < 50; ++round)
      for (std::uint64_t w = 0; w < 5; ++w)
        CHECK_FALSE(controller->on_iteration(WorkerId{w}, 37, Seconds{1.7}).has_value());
  }
}

TEST_CASE("relabelling the workers relabels the batches") {
  // With distinct speeds no tie is broken by the label.
  const Cores cores{9, 8, 6, 25};
  const std::vector<std::size_t> order{2, 0, 3, 1};
  Cores relabelled(4);
  for (std::size_t k = 0; k < 4; ++k) relabelled[k] = cores[order[k]];
  for (const char* kind : {"dynamic", "proportional-repair", "lb-bsp"}) {
    const Batches one = after(kind, cores, 2);
    const Batches other = after(kind, relabelled, 2);
    for (std::size_t k = 0; k < 4; ++k) CHECK(other[k] == one[order[k]]);
  }
}

TEST_CASE("a controller that adjusts may begin with the static batches, and at epochs looks once in each") {
  BatchingConfig config = config_of("dynamic", 32, EveryEpochs{1.0});
  config.start = StartBatches::shares;
  config.shares = ShareBasis::cores;
  const std::vector<WorkerPrior> workers{{.cores = 1.0}, {.cores = 3.0}};
  auto controller = make_batch_controller(config, workers);
  CHECK(batches_of(controller->initial()) == Batches{16, 48});
  // Equally fast workers: 16 samples in 1 s, 48 in 3 s; mean 2 s -> 32, 32; but only once the epoch is over.
  const std::vector<WorkerId> both{WorkerId{0}, WorkerId{1}};
  CHECK_FALSE(controller->on_iteration(WorkerId{0}, 16, Seconds{1.0}).has_value());
  CHECK_FALSE(controller->on_iteration(WorkerId{1}, 48, Seconds{3.0}).has_value());
  CHECK_FALSE(controller->on_update(both, 0.9).has_value());
  const auto adjusted = controller->on_update(both, 1.05);
  REQUIRE(adjusted.has_value());
  CHECK(batches_of(*adjusted) == Batches{32, 32});
}

TEST_CASE("LB-BSP follows a moving average of speeds and has no dead-band") {
  // First speeds 100 and 100 samples/s; then worker 0 runs at 110: v_0 = 100 + 0.2·10 = 102, B = 200:
  // 200·102/202 = 100.99 -> 101 and 99, a change of 1 %.
  const BatchingConfig config = config_of("lb-bsp", 100, EveryIterations{1});
  auto controller = make_batch_controller(config, machines(2));
  CHECK_FALSE(controller->on_iteration(WorkerId{0}, 100, Seconds{1.0}).has_value());
  CHECK_FALSE(controller->on_iteration(WorkerId{1}, 100, Seconds{1.0}).has_value());
  CHECK_FALSE(controller->on_iteration(WorkerId{0}, 100, Seconds{100.0 / 110.0}).has_value());
  const auto adjusted = controller->on_iteration(WorkerId{1}, 100, Seconds{1.0});
  REQUIRE(adjusted.has_value());
  CHECK(batches_of(*adjusted) == Batches{101, 99});
}

TEST_CASE("what memory cuts from the equal start comes back with the first adjustment") {
  // 32 each, of which worker 1's memory holds 20: 52 at the start. Equal speeds: 64 in all, 20 and 44.
  const BatchingConfig config = config_of("proportional-repair", 32, EveryIterations{1});
  const std::vector<WorkerPrior> workers{{}, {.memory_samples = 20}};
  auto controller = make_batch_controller(config, workers);
  CHECK(batches_of(controller->initial()) == Batches{32, 20});
  CHECK_FALSE(controller->on_iteration(WorkerId{0}, 32, Seconds{3.2}).has_value());
  const auto adjusted = controller->on_iteration(WorkerId{1}, 20, Seconds{2.0});
  REQUIRE(adjusted.has_value());
  CHECK(batches_of(*adjusted) == Batches{44, 20});
  CHECK((*adjusted)[1].limited_by == BatchLimit::memory);
}

TEST_CASE("a moving average begins with the first time, not with 0") {
  // Weight 1/4: 4, then 4 + (8 - 4) / 4.
  ObservedWorkers workers(Allocation{{.samples = 10}}, 0.25);
  workers.observe(WorkerId{0}, 10, Seconds{4});
  CHECK(workers[0].mean_time_s == 4.0);
  workers.observe(WorkerId{0}, 10, Seconds{8});
  CHECK(workers[0].mean_time_s == 5.0);
}
