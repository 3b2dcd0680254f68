// When the updates of one worker's gradients happened, beside times worked out by hand.
#pragma once

#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include "tests/support/test_job.hpp"

namespace paceline::test {

[[nodiscard]] inline std::vector<double> updates_of(const TestJob::Result& result, std::uint64_t worker) {
  std::vector<double> times;
  for (const auto& [time, update] : result.recording.all<Apply>())
    if (update.gradients[0].worker.value == worker) times.push_back(time.value());
  return times;
}

inline void check_times(const std::vector<double>& times, const std::vector<double>& expected) {
  REQUIRE(times.size() == expected.size());
  for (std::size_t i = 0; i < times.size(); ++i)
    CHECK(times[i] == doctest::Approx(expected[i]).epsilon(1e-12));
}

}  // namespace paceline::test
