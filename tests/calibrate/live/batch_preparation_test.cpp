#include "calibrate/live/batch_preparation.hpp"

#include <algorithm>

#include <doctest/doctest.h>

using namespace paceline;
using namespace paceline::live;

TEST_CASE("a new batch costs the median of what first iterations take longer than when it comes again") {
  // 3, 1 and 2 ms longer: 2 ms, whatever the batches take.
  const auto first = [](std::int64_t batch, double anew_ms, double again_ms) {
    return FirstIteration{batch, Seconds{1e-3 * anew_ms}, Seconds{1e-3 * again_ms}};
  };
  const Seconds found = preparation_of({first(8, 4.0, 1.0), first(16, 3.0, 2.0), first(32, 6.0, 4.0)});
  CHECK(found.value() == doctest::Approx(2e-3));
  CHECK(preparation_words(found) == "batching: {preparation: 2 ms}");
  // Noise alone is no gain.
  CHECK(preparation_of({first(8, 1.0, 1.5)}) == Seconds{});
}

TEST_CASE("batches to prepare are spread over those that are timed, without the initial one") {
  BatchingConfig batching{
      .controller = "dynamic", .initial_samples = 32, .minimum_samples = 8, .maximum_samples = 128};
  const std::vector<std::int64_t> batches = batches_to_prepare(batching);
  CHECK(batches.front() == 8);
  CHECK(batches.back() == 64);
  CHECK(std::ranges::find(batches, 32) == batches.end());
  CHECK(batches.size() >= 14);
  // Where they do not change, none.
  batching.controller = "uniform";
  CHECK(batches_to_prepare(batching).empty());
}
