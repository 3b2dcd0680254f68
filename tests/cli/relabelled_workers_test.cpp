// Workers in another order, with their random streams: the whole program, under SimGrid, as a person runs it.
#include <sstream>
#include <vector>

#include <doctest/doctest.h>

#include "sim/base/atomic_file.hpp"
#include "tests/cli/round_profile.hpp"
#include "tests/support/program.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace paceline;

namespace {

// Messages of four workers share the server's link; every kind of jitter, random stragglers, adjusted
// batches.
constexpr const char* relabelled_scenario = R"(name: relabelled
job:
  network: small-cnn
  profile: profile.json
  dataset: {train_samples: 4096, partition: whole}
  optimizer: {learning_rate: 0.01}
cluster:
  workers: [{cores: 1}]
  network: {topology: star, bandwidth: 100 Mbit/s, latency: 50 us, server_bandwidth: 50 Mbit/s}
synchronization: [{policy: asp, transport: server}]
batching: {controller: proportional-repair, initial: 32, minimum: 4, maximum: 128}
jitter: {run: 2 %, worker: 5 %, iteration: 10 %}
heterogeneity: {random_stragglers: {probability: 10 %, window: 50 ms, slowdown: 3}}
learner: {kind: none}
evaluation: {every: 1024 samples}
stop: {epochs: 2}
)";

// end_time_s and adjustments of summary.csv.
std::pair<double, double> outcome_of(const std::string& workers) {
  const test::TemporaryFolder place;
  write_file_atomically(place.path() / "profile.json", test::round_profile("small-cnn"));
  write_file_atomically(place.path() / "scenario.yaml", relabelled_scenario);
  const test::ProgramResult result = test::run_program(
      PACELINE_PROGRAM, {"run", "scenario.yaml", "-o", "out", "--set", "cluster.workers=" + workers},
      place.path());
  CAPTURE(result.err);
  REQUIRE(result.exit_code == 0);
  std::istringstream table(read_file(place.path() / "out/summary.csv"));
  std::vector<std::vector<std::string>> rows;
  for (std::string line; std::getline(table, line);) {
    rows.emplace_back();
    std::istringstream cells(line);
    for (std::string cell; std::getline(cells, cell, ',');) rows.back().push_back(cell);
  }
  const auto number = [&](const char* column) {
    for (std::size_t c = 0; c < rows.at(0).size(); ++c)
      if (rows[0][c] == column) return std::stod(rows.at(1)[c]);
    FAIL("no column " << column);
    return 0.0;
  };
  return {number("end_time_s"), number("adjustments")};
}

}  // namespace

TEST_CASE("workers in another order with their random streams take the same time, contention included") {
  // The order in which the solver meets equal flows may change the last digits of a time.
  const auto [time_s, adjustments] = outcome_of(
      "[{cores: 1, random_stream: 0}, {cores: 1, speed: 0.7, random_stream: 1}, {cores: 1, speed: 0.4, "
      "random_stream: 2}, {cores: 1, speed: 0.25, random_stream: 3}]");
  const auto [other_time_s, other_adjustments] = outcome_of(
      "[{cores: 1, speed: 0.4, random_stream: 2}, {cores: 1, random_stream: 0}, {cores: 1, speed: 0.25, "
      "random_stream: 3}, {cores: 1, speed: 0.7, random_stream: 1}]");
  CHECK(adjustments >= 1.0);
  CHECK(other_adjustments == adjustments);
  CHECK(other_time_s == doctest::Approx(time_s).epsilon(1e-9));
  // Noise that stays with the places gives another job.
  const auto [without_s, unused] =
      outcome_of("[{cores: 1, speed: 0.4}, {cores: 1}, {cores: 1, speed: 0.25}, {cores: 1, speed: 0.7}]");
  CHECK(without_s != doctest::Approx(time_s).epsilon(1e-4));
}
