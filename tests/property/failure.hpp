// Which jobs are drawn, and what is printed when one of them fails.
#pragma once

#include <cstdlib>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tests/property/invariants.hpp"
#include "tests/property/shrink.hpp"

namespace paceline::test {

// Fixed, so that every build tries the same jobs; PACELINE_PROPERTY_SEED draws others.
inline std::uint32_t property_seed() {
  const char* text = std::getenv("PACELINE_PROPERTY_SEED");
  return text == nullptr ? 20 : static_cast<std::uint32_t>(std::stoul(text));
}

// Trains locally, with a prime number of bytes: no number of members or servers divides them.
inline RandomJob indivisible_local_job(std::uint32_t seed, std::uint32_t index) {
  RandomJob random = random_local_job(seed, index);
  random.job.parameter_bytes = Bytes{15121.0};
  return random;
}

// Empty when everything holds; otherwise what does not, and the smallest job found that shows it.
inline std::string failure_of(std::uint32_t index, const Fails& fails,
                              RandomJob (*draw)(std::uint32_t, std::uint32_t) = random_job) {
  const RandomJob random = draw(property_seed(), index);
  if (!fails(random)) return "";
  const RandomJob smallest = shrink(random, fails);
  return fmt::format("PACELINE_PROPERTY_SEED={}, job {}, shrunk to:\n{}\n{}\n", property_seed(), index,
                     in_words(smallest), fmt::join(run_and_check(smallest).violations, "\n"));
}

}  // namespace paceline::test
