// What must hold for every job, tried on jobs drawn at random. PACELINE_PROPERTY_SEED draws others.
#include <string>

#include <doctest/doctest.h>

#include "tests/property/failure.hpp"

using namespace paceline;
using namespace paceline::test;

namespace {

constexpr std::uint32_t jobs_per_run = 2000;

bool violates(const RandomJob& random) {
  return !run_and_check(random).violations.empty();
}

}  // namespace

TEST_CASE("random jobs conserve work, bytes, updates and time, and end as they should") {
  for (std::uint32_t index = 0; index < jobs_per_run; ++index) {
    const std::string failure = failure_of(index, violates);
    INFO(failure);
    REQUIRE(failure.empty());
  }
}

TEST_CASE("random jobs that train locally for long conserve steps, samples, bytes and time") {
  // With half precision, fragments, buffers, weights by staleness, workers that leave and join.
  for (std::uint32_t index = 0; index < jobs_per_run; ++index) {
    const std::string failure = failure_of(index, violates, indivisible_local_job);
    INFO(failure);
    REQUIRE(failure.empty());
  }
}

TEST_CASE("the same random job happens the same way twice") {
  for (std::uint32_t index = 0; index < 100; ++index) {
    const auto differs = [](const RandomJob& random) {
      return run_and_check(random).entries != run_and_check(random).entries;
    };
    const std::string failure = failure_of(index, differs);
    INFO(failure);
    REQUIRE(failure.empty());
  }
}
