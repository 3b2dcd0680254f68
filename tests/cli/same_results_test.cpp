// Ways to simulate that differ only in what they cost: the same results, number by number.
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "sim/base/atomic_file.hpp"
#include "tests/cli/throughput_workplace.hpp"
#include "tests/support/files_below.hpp"

using namespace paceline;
using paceline::test::files_below;
using paceline::test::ProgramResult;
using paceline::test::ThroughputWorkplace;
namespace fs = std::filesystem;

namespace {

// Cell by cell: the same text, or numbers that differ by less than 1e-9 of their size. How many differ at
// all.
std::size_t check_cells_agree(const fs::path& one, const fs::path& other) {
  std::istringstream left(read_file(one));
  std::istringstream right(read_file(other));
  std::size_t differ = 0;
  std::string a;
  std::string b;
  while (std::getline(left, a)) {
    REQUIRE(std::getline(right, b));
    std::istringstream cells(a);
    std::istringstream other_cells(b);
    while (std::getline(cells, a, ',') && std::getline(other_cells, b, ',')) {
      if (a == b) continue;
      ++differ;
      CHECK(std::stod(a) == doctest::Approx(std::stod(b)).epsilon(1e-9));
    }
    CHECK_FALSE(std::getline(other_cells, b, ','));
  }
  CHECK_FALSE(std::getline(right, b));
  return differ;
}

}  // namespace

TEST_CASE("results name the engine that simulated the network, and engines agree") {
  // auto is fluid here; every column of the summary that is a time is the same to 1e-9
  const ThroughputWorkplace place;
  for (const std::string engine : {"auto", "fluid", "simgrid"}) {
    const ProgramResult run =
        place.paceline({"run", "scenario.yaml", "-o", engine, "--set", "engine=" + engine});
    INFO(run.err);
    REQUIRE(run.exit_code == 0);
    const auto manifest = nlohmann::json::parse(read_file(place.path() / engine / "manifest.json"));
    CHECK(manifest["network_model"][0] == (engine == "simgrid" ? "engine:simgrid" : "engine:fluid"));
    CHECK(manifest["scenario"]["engine"] == engine);
  }
  CHECK(read_file(place.path() / "auto/summary.csv") == read_file(place.path() / "fluid/summary.csv"));
  CHECK(check_cells_agree(place.path() / "fluid/summary.csv", place.path() / "simgrid/summary.csv") < 100);
}

TEST_CASE("jobs that train locally have the same files with shortcuts and without") {
  // A stretch is one event, or each of its steps is: all tables agree to 1e-9, with jitter and without, where
  // speeds change, a worker leaves and one comes back in the middle of stretches.
  const ThroughputWorkplace place;
  const std::string changes =
      "heterogeneity={membership: [{at: 900 ms, worker: 1, event: leaves}, {at: 2 s, worker: 1, event: "
      "joins}], "
      "schedule: [{at: 30 %, workers: [0], speed: [0.7]}]}";
  const std::vector<std::string> phases = {
      "[{policy: bsp, transport: ring, share: 20 %}, {policy: bsp, transport: ring, local: {steps: 20}}]",
      "[{policy: bsp, transport: server, local: {steps: 20, by_speed: true, least: 2}}]",
      "[{policy: bsp, transport: ring, local: {steps: 20, fragments: {count: 2, delay: 5, mixing: 0.5}}}]",
      "[{policy: asp, transport: server, window: 20 ms, local: {steps: 10, growth: 0.05}}]"};
  for (const char* jitter : {"0 %", "20 %"})
    for (const std::string& phase : phases) {
      CAPTURE(phase);
      for (const std::string shortcuts : {"on", "off"}) {
        const ProgramResult run = place.paceline(
            {"run",          "scenario.yaml",
             "-o",           shortcuts,
             "--iterations", "--force",
             "--set",        "replications=2",
             "--set",        "engine=fluid",
             "--set",        "stop.epochs=8",
             "--set",        "shortcuts=" + shortcuts,
             "--set",        changes,
             "--set",        std::string("jitter.iteration=") + jitter,
             "--set",        "job.learning_rate_schedule={basis: progress, milestones: [50 %], factor: 0.5}",
             "--set",        "synchronization=" + phase});
        CAPTURE(run.err);
        REQUIRE(run.exit_code == 0);
      }
      std::size_t tables = 0;
      for (const fs::path& file : files_below(place.path() / "on")) {
        if (file.extension() != ".csv") continue;
        CAPTURE(file.string());
        check_cells_agree(place.path() / "on" / file, place.path() / "off" / file);
        ++tables;
      }
      CHECK(tables > 5);
    }
}
