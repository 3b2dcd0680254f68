// Jobs drawn at random from everything a scenario may ask for, and what they are in words.
//
// Rules kept:  what the scenario reader refuses is not drawn: all-reduces and parameter exchange with the
//              policies they belong to, first gradients of a round and changing members with one server.
//              Worker 0 never leaves, so that no job may stall. Half of the jobs are in round numbers without
//              jitter: many events at one time.
#pragma once

#include <cstdint>
#include <string>

#include "tests/support/test_job.hpp"

namespace paceline::test {

struct RandomJob {
  TestJob job;
  // The learner's accuracy grows by this with each update; its loss is not finite from `diverges_at` on.
  double accuracy_per_update = 0.0;
  std::optional<std::uint64_t> diverges_at;
};

// The `index`-th job of `seed`.
[[nodiscard]] RandomJob random_job(std::uint32_t seed, std::uint32_t index);

// The `index`-th job of `seed` that trains locally, with long stretches: half of them without jitter of
// iterations.
[[nodiscard]] RandomJob random_local_job(std::uint32_t seed, std::uint32_t index);

// One line for each thing that is not as in a job of one phase with equal workers and no costs.
[[nodiscard]] std::string in_words(const RandomJob& random);

}  // namespace paceline::test
