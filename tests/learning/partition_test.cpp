#include "sim/learning/partition.hpp"

#include <initializer_list>

#include <doctest/doctest.h>

using namespace paceline;

TEST_CASE("equal shards cover the data without overlap, and differ by at most one sample") {
  for (const std::int64_t samples : {1, 7, 100, 75750})
    for (const std::uint64_t workers : {1U, 3U, 4U, 32U}) {
      std::int64_t next = 0;
      for (std::uint64_t w = 0; w < workers; ++w) {
        const DataPart part = part_of(DataPartition::equal_shards, samples, w, workers);
        CHECK(part.first == next);
        const std::int64_t share = samples / static_cast<std::int64_t>(workers);
        CHECK((part.size() == share || part.size() == share + 1));
        next = part.end;
      }
      CHECK(next == samples);
    }
}

TEST_CASE("whole data is the same for every worker") {
  CHECK(part_of(DataPartition::whole, 10, 2, 4).first == 0);
  CHECK(part_of(DataPartition::whole, 10, 2, 4).size() == 10);
}
