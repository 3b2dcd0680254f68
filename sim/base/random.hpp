// Keyed random streams: every draw is a pure function of (seed, replication, purpose, entity, index,
// position).
//
// Models:      independent streams of uniform 64-bit words from the counter-based generator Philox4x32-10.
// Equation:    block k of a stream = Philox(key = (seed, replication), counter = (k, purpose·2^24 + entity,
// index)).
//              Every distribution by inversion, none by rejection: one uniform u per sample,
//              x = F^-1(u). Inversion is monotone, so two policies that share a key share the *rank* of the
//              draw (common random numbers).
// Units:       those of the caller's parameters.
// Assumptions: seed and replication below 2^32, entity below 2^24, fewer than 2^33 draws from one stream.
// Not modelled: correlated draws; callers compose components with different keys instead.
// Source:      Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011 (Random123).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace paceline {

// What a stream is for. Values are part of the results: append, never renumber.
enum class Purpose : std::uint8_t {
  test = 0,
  run_jitter = 1,
  worker_jitter = 2,
  iteration_jitter = 3,
  data_order = 4,
  parameter_initialization = 5,
  dataset_generation = 6,
  bootstrap = 7,
  straggler = 8,
  profile_draw = 9,
  quota_phase = 10,
  data_partition = 11,
  cluster = 12,
  message_delay = 13,
  spell = 14,
  learning_curve = 16,
};

// The experiment's identity: replications of one scenario share `seed` and differ in `replication`.
struct Seed {
  std::uint32_t seed = 0;
  std::uint32_t replication = 0;
  friend bool operator==(Seed, Seed) = default;
};

class RandomStream {
 public:
  RandomStream(Seed seed, Purpose purpose, std::uint32_t entity = 0, std::uint64_t index = 0);

  [[nodiscard]] std::uint64_t next_u64();
  // Uniform on the open interval (0, 1): never an endpoint, so that every inverse below is finite.
  [[nodiscard]] double uniform();
  // Uniform integer in [0, bound), unbiased; bound > 0.
  [[nodiscard]] std::uint64_t below(std::uint64_t bound);
  [[nodiscard]] double normal(double mean, double standard_deviation);
  // Log-normal with the given mean and coefficient of variation (sd / mean) of the *result*, not of its
  // logarithm.
  [[nodiscard]] double log_normal(double mean, double coefficient_of_variation);

 private:
  void refill();

  std::array<std::uint32_t, 2> key_;
  std::array<std::uint32_t, 4> counter_;
  std::array<std::uint32_t, 4> block_{};
  unsigned used_ = 4;
};

// A uniformly random order of 0 … size-1 (Fisher-Yates).
[[nodiscard]] std::vector<std::uint32_t> random_permutation(RandomStream stream, std::uint32_t size);

}  // namespace paceline
