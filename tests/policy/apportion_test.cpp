#include "sim/policy/batching/apportion.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include <doctest/doctest.h>

#include "tests/policy/allocations.hpp"

using namespace paceline;
using paceline::test::same_bounds;
using paceline::test::sum;

namespace {

const std::vector<double> uneven{0.3, 1.7, 2.9, 0.011, 5.0};

}  // namespace

TEST_CASE("splitting by share always sums to the total, and no part is a sample away from its share") {
  // Bounds that never bind: b_k within 1 of total · w_k / Σ w.
  const double all = std::accumulate(uneven.begin(), uneven.end(), 0.0);
  for (std::int64_t total = 1; total <= 60; ++total) {
    const Allocation parts = apportion(total, uneven, same_bounds(5, 0, 1000));
    CHECK(sum(parts) == total);
    for (std::size_t k = 0; k < uneven.size(); ++k)
      CHECK(std::abs(static_cast<double>(parts[k].samples) - static_cast<double>(total) * uneven[k] / all) <
            1.0);
  }
}

TEST_CASE("what a bound takes from one worker goes to the others, and the sum stays") {
  // Shares 1:1:2 of 100 are 25, 25, 50. At most 40 each: the third has 40, the others share 60 equally.
  const Allocation parts = apportion(100, std::vector<double>{1.0, 1.0, 2.0}, same_bounds(3, 1, 40));
  CHECK(batches_of(parts) == Batches{30, 30, 40});
  CHECK(parts[2].limited_by == BatchLimit::maximum);
  CHECK(parts[2].wanted_samples == doctest::Approx(50.0));
  CHECK(parts[0].limited_by == BatchLimit::none);
}

TEST_CASE("no batch leaves its bounds and the sum is the nearest one the bounds can hold") {
  // Σ b = clamp(total, 5·4, 5·30), whatever the shares.
  for (std::int64_t total = 0; total <= 200; total += 7) {
    const Allocation parts = apportion(total, uneven, same_bounds(5, 4, 30));
    CHECK(sum(parts) == std::clamp<std::int64_t>(total, 20, 150));
    for (const WorkerBatch& part : parts) CHECK((part.samples >= 4 && part.samples <= 30));
  }
}

TEST_CASE("equal shares of a total that divides are equal, and the first workers take what is left over") {
  CHECK(batches_of(apportion(64, std::vector<double>(4, 0.1), same_bounds(4, 1, 99))) ==
        Batches{16, 16, 16, 16});
  CHECK(batches_of(apportion(66, std::vector<double>(4, 0.1), same_bounds(4, 1, 99))) ==
        Batches{17, 17, 16, 16});
}

TEST_CASE("memory cuts a batch below what the scenario allows, and says so") {
  // 10 samples fit where 32 are wanted; the bound of memory holds even below the scenario's minimum of 16.
  BatchingConfig config;
  config.minimum_samples = 16;
  const std::vector<WorkerPrior> workers{{.memory_samples = 10}, {}};
  const std::vector<BatchBounds> bounds = bounds_of(config, workers);
  CHECK(bounds[0].highest == 10);
  CHECK(bounds[0].lowest == 10);
  const Allocation uniform = equal_batches(config, workers);
  CHECK(batches_of(uniform) == Batches{10, 32});
  CHECK(uniform[0].limited_by == BatchLimit::memory);
  CHECK(uniform[0].wanted_samples == 32.0);
  CHECK(uniform[1].limited_by == BatchLimit::none);
}

TEST_CASE("static batches follow throughput, cores or declared flop/s, whichever is asked for") {
  // 64 samples: by throughput 1:3, by cores 1:1, by flop/s 3:1.
  BatchingConfig config;
  config.initial_samples = 32;
  const std::vector<WorkerPrior> workers{{.throughput = 1.0, .cores = 8.0, .flops = 3e12},
                                         {.throughput = 3.0, .cores = 8.0, .flops = 1e12}};
  config.shares = ShareBasis::throughput;
  CHECK(batches_of(shared_batches(config, workers)) == Batches{16, 48});
  config.shares = ShareBasis::cores;
  CHECK(batches_of(shared_batches(config, workers)) == Batches{32, 32});
  config.shares = ShareBasis::flops;
  CHECK(batches_of(shared_batches(config, workers)) == Batches{48, 16});
}

TEST_CASE("a batch is limited by a bound that it has only because it wanted to be beyond it") {
  // Bounds 8 and 64: exactly there, or rounded to there, nothing was taken from it.
  const BatchBounds bounds{8, 64, BatchLimit::maximum};
  for (const double wanted : {8.0, 7.6, 20.0, 64.0, 64.4}) {
    INFO(wanted);
    CHECK(within(wanted, bounds).limited_by == BatchLimit::none);
  }
  CHECK(within(64.6, bounds).limited_by == BatchLimit::maximum);
  CHECK(within(64.6, bounds).samples == 64);
  CHECK(within(7.4, bounds).limited_by == BatchLimit::minimum);
  CHECK(within(7.4, bounds).samples == 8);
  CHECK(within(64.6, {8, 64, BatchLimit::memory}).limited_by == BatchLimit::memory);
}
