// Random streams: the generator itself, the independence of keys, and what is built from integers.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include <Random123/philox.h>
#include <doctest/doctest.h>

#include "sim/base/check.hpp"
#include "sim/base/random.hpp"

namespace paceline {
namespace {

using Block = std::array<std::uint32_t, 4>;

Block philox(Block counter, std::array<std::uint32_t, 2> key) {
  const r123::Philox4x32::ctr_type c{{counter[0], counter[1], counter[2], counter[3]}};
  const auto out = r123::Philox4x32{}(c, r123::Philox4x32::key_type{{key[0], key[1]}});
  return {out[0], out[1], out[2], out[3]};
}

std::uint64_t word(std::uint32_t low, std::uint32_t high) {
  return (static_cast<std::uint64_t>(high) << 32U) | low;
}

// The three published vectors of Random123 1.14 (kat_vectors, philox4x32 with 10 rounds).
TEST_CASE("the generator is Philox4x32-10: known answers") {
  constexpr std::uint32_t ones = 0xffffffff;
  CHECK(philox({0, 0, 0, 0}, {0, 0}) == Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(philox({ones, ones, ones, ones}, {ones, ones}) ==
        Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
        Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("the stream of the all-zero key starts with the published answer") {
  RandomStream stream({0, 0}, Purpose::test);
  CHECK(stream.next_u64() == word(0x6627e8d5, 0xe169c58d));
  CHECK(stream.next_u64() == word(0xbc57ac4c, 0x9b00dbd8));
}

// block k = Philox(key = (seed, replication), counter = (k, purpose·2^24 + entity, index low, index high))
TEST_CASE("a stream is the documented function of its key and position") {
  const std::uint64_t index = 0x0123456789abcdef;
  RandomStream stream({11, 22}, Purpose::data_order, 33, index);
  for (std::uint32_t k = 0; k < 6; ++k) {
    const std::uint32_t purpose_and_entity = (4U << 24U) + 33U;
    const Block block = philox({k, purpose_and_entity, 0x89abcdef, 0x01234567}, {11, 22});
    CHECK(stream.next_u64() == word(block[0], block[1]));
    CHECK(stream.next_u64() == word(block[2], block[3]));
  }
}

TEST_CASE("streams of different keys are uncorrelated: |r| < 5/sqrt(n)") {
  constexpr int n = 50'000;
  const std::vector<RandomStream> streams{
      {{1, 0}, Purpose::test, 0, 0},          {{2, 0}, Purpose::test, 0, 0}, {{1, 1}, Purpose::test, 0, 0},
      {{1, 0}, Purpose::run_jitter, 0, 0},    {{1, 0}, Purpose::test, 1, 0}, {{1, 0}, Purpose::test, 0, 1},
      {{1, 0}, Purpose::test, 0, 1ULL << 32U}};
  for (std::size_t a = 0; a < streams.size(); ++a)
    for (std::size_t b = 0; b < a; ++b) {
      RandomStream first = streams[a];
      RandomStream second = streams[b];
      double covariance = 0.0;
      for (int i = 0; i < n; ++i) covariance += (first.uniform() - 0.5) * (second.uniform() - 0.5);
      CAPTURE(a);
      CAPTURE(b);
      CHECK(std::abs(12.0 * covariance / n) < 5.0 / std::sqrt(n));
    }
}

TEST_CASE("first draws over a grid of keys are all different, and equal keys repeat them") {
  std::set<std::uint64_t> seen;
  std::size_t keys = 0;
  for (std::uint32_t seed = 0; seed < 5; ++seed)
    for (std::uint32_t replication = 0; replication < 5; ++replication)
      for (const Purpose purpose : {Purpose::test, Purpose::run_jitter, Purpose::bootstrap})
        for (std::uint32_t entity = 0; entity < 5; ++entity)
          for (std::uint64_t index = 0; index < 5; ++index) {
            const std::uint64_t first = RandomStream({seed, replication}, purpose, entity, index).next_u64();
            CHECK(first == RandomStream({seed, replication}, purpose, entity, index).next_u64());
            seen.insert(first);
            ++keys;
          }
  CHECK(seen.size() == keys);
}

TEST_CASE("uniform draws stay inside the open interval and fill it") {
  RandomStream stream({3, 0}, Purpose::test);
  double smallest = 1.0;
  double largest = 0.0;
  for (int i = 0; i < 200'000; ++i) {
    const double u = stream.uniform();
    smallest = std::min(smallest, u);
    largest = std::max(largest, u);
  }
  CHECK(smallest > 0.0);
  CHECK(largest < 1.0);
  CHECK(smallest < 1e-4);
  CHECK(largest > 1.0 - 1e-4);
}

// For bound 3·2^62 a plain remainder would put half of the draws, not a third, below 2^62.
TEST_CASE("integers below a bound that does not divide 2^64 are unbiased") {
  constexpr int n = 30'000;
  constexpr std::uint64_t quarter = 1ULL << 62U;
  RandomStream stream({4, 0}, Purpose::test);
  int low = 0;
  for (int i = 0; i < n; ++i) {
    const std::uint64_t x = stream.below(3 * quarter);
    REQUIRE(x < 3 * quarter);
    low += x < quarter ? 1 : 0;
  }
  const double standard_error = std::sqrt(n * (1.0 / 3.0) * (2.0 / 3.0));
  CHECK(std::abs(low - n / 3.0) < 5.0 * standard_error);
}

TEST_CASE("misuse of a stream is a programming error") {
  RandomStream stream({0, 0}, Purpose::test);
  CHECK_THROWS_AS((void)stream.below(0), ProgrammingError);
  CHECK_THROWS_AS(RandomStream({0, 0}, Purpose::test, 1U << 24U), ProgrammingError);
  CHECK_NOTHROW(RandomStream({0, 0}, Purpose::test, (1U << 24U) - 1));
}

TEST_CASE("a permutation holds every number once, whatever its size") {
  for (const std::uint32_t size : {0U, 1U, 2U, 1000U}) {
    std::vector<std::uint32_t> order = random_permutation(RandomStream({6, 0}, Purpose::test), size);
    std::sort(order.begin(), order.end());
    std::vector<std::uint32_t> expected(size);
    std::iota(expected.begin(), expected.end(), 0U);
    CHECK(order == expected);
  }
}

// Chi-squared over the 24 orders of 4: mean 23, sd sqrt(46) under uniformity; 23 + 5·sd = 57.
TEST_CASE("all orders of four are equally likely") {
  constexpr std::uint64_t n = 24'000;
  std::map<std::vector<std::uint32_t>, int> counts;
  for (std::uint64_t i = 0; i < n; ++i)
    ++counts[random_permutation(RandomStream({8, 0}, Purpose::test, 0, i), 4)];
  CHECK(counts.size() == 24);
  double chi_squared = 0.0;
  for (const auto& [order, count] : counts) chi_squared += (count - 1000.0) * (count - 1000.0) / 1000.0;
  CHECK(chi_squared < 57.0);
  CHECK(chi_squared > 23.0 - 4.0 * std::sqrt(46.0) / 2.0);  // nor suspiciously even
}

}  // namespace
}  // namespace paceline
