#include "sim/base/random.hpp"

#include <cmath>
#include <numeric>
#include <utility>

#include <Random123/philox.h>
#include <boost/math/distributions/normal.hpp>

#include "sim/base/check.hpp"

namespace paceline {

RandomStream::RandomStream(Seed seed, Purpose purpose, std::uint32_t entity, std::uint64_t index)
    : key_{seed.seed, seed.replication},
      counter_{0, (static_cast<std::uint32_t>(purpose) << 24U) | entity, static_cast<std::uint32_t>(index),
               static_cast<std::uint32_t>(index >> 32U)} {
  check(entity < (1U << 24U), "entity of a random stream needs 24 bits");
}

void RandomStream::refill() {
  const r123::Philox4x32::ctr_type counter{{counter_[0], counter_[1], counter_[2], counter_[3]}};
  const r123::Philox4x32::key_type key{{key_[0], key_[1]}};
  const auto block = r123::Philox4x32{}(counter, key);
  block_ = {block[0], block[1], block[2], block[3]};
  used_ = 0;
  ++counter_[0];
  check(counter_[0] != 0, "a random stream is exhausted after 2^33 draws");
}

std::uint64_t RandomStream::next_u64() {
  if (used_ == 4) refill();
  const std::uint64_t low = block_[used_];
  const std::uint64_t high = block_[used_ + 1];
  used_ += 2;
  return (high << 32U) | low;
}

double RandomStream::uniform() {
  // 53 random bits centred in their cell: the smallest value is 2^-54, the largest 1 - 2^-54 rounded to
  // below 1.
  constexpr double cell = 0x1.0p-53;
  const double u = (static_cast<double>(next_u64() >> 11U) + 0.5) * cell;
  return u < 1.0 ? u : 1.0 - cell;
}

std::uint64_t RandomStream::below(std::uint64_t bound) {
  check(bound > 0, "random integer below zero asked for");
  // Reject the incomplete last stretch of the 64-bit range: what is left divides evenly.
  const std::uint64_t rejected = (0 - bound) % bound;
  std::uint64_t word = next_u64();
  while (word < rejected) word = next_u64();
  return word % bound;
}

double RandomStream::normal(double mean, double standard_deviation) {
  // In double precision throughout: extended precision costs twice the time and moves the last digit only.
  using InDouble = boost::math::policies::policy<boost::math::policies::promote_double<false>>;
  static const boost::math::normal_distribution<double, InDouble> standard;
  return mean + standard_deviation * boost::math::quantile(standard, uniform());
}

double RandomStream::log_normal(double mean, double coefficient_of_variation) {
  const double log_variance = std::log1p(coefficient_of_variation * coefficient_of_variation);
  return mean * std::exp(normal(-0.5 * log_variance, std::sqrt(log_variance)));
}

std::vector<std::uint32_t> random_permutation(RandomStream stream, std::uint32_t size) {
  std::vector<std::uint32_t> order(size);
  std::iota(order.begin(), order.end(), 0U);
  for (std::uint32_t i = size; i > 1; --i) std::swap(order[i - 1], order[stream.below(i)]);
  return order;
}

}  // namespace paceline
