// Which random numbers a worker has, as a scenario names them.
#include <doctest/doctest.h>

#include "tests/scenario/good_example.hpp"

namespace paceline::test {
namespace {

std::string with_streams(const char* workers) {
  return replaced(std::string(good_example),
                  "[{cores: 2}, {cores: 1}, {cores: 1, speed: 0.5}, {cores: 1, speed: 0.25}]", workers);
}

TEST_CASE("a worker's random stream is its place in the list, or what is written") {
  const Scenario plain = load_text(std::string(good_example)).scenario;
  CHECK(random_streams(plain.cluster.workers) == std::vector<std::uint32_t>{0, 1, 2, 3});
  const Scenario named =
      load_text(with_streams("[{cores: 1, random_stream: 3}, {cores: 1}, {cores: 2, random_stream: 0}]"))
          .scenario;
  CHECK(random_streams(named.cluster.workers) == std::vector<std::uint32_t>{3, 1, 0});
}

TEST_CASE("two workers with one random stream are refused at the one that states it") {
  const std::string said = complaint(with_streams("[{cores: 1, random_stream: 1}, {cores: 2}]"));
  CHECK(said.find("error: workers 0 and 1 have the same random stream, 1") != said.npos);
  CHECK(said.find("[{cores: 1, random_stream: 1}, {cores: 2}]") != said.npos);
}

}  // namespace
}  // namespace paceline::test
