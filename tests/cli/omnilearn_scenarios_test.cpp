// The published order of OmniLearn's times, from the shipped scenarios as a user runs them, shortened to one
// epoch.
#include <algorithm>
#include <map>
#include <sstream>

#include <doctest/doctest.h>

#include "sim/base/atomic_file.hpp"
#include "tests/support/program.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace paceline;

namespace {

// End times by variant, read from comparison.csv; the variants' names hold at most one comma, inside quotes.
std::map<std::string, double> end_times(const char* study) {
  const test::TemporaryFolder place;
  const test::ProgramResult result = test::run_program(
      PACELINE_PROGRAM,
      {"study", std::string(PACELINE_SCENARIOS) + "/omnilearn/" + study, "--set", "stop.epochs=1", "--set",
       "replications=1", "--set", "jitter={run: 0 %, worker: 0 %, iteration: 0 %}", "-o", "out"},
      place.path());
  CAPTURE(result.err);
  REQUIRE(result.exit_code == 0);
  std::istringstream rows(read_file(place.path() / "out/comparison.csv"));
  std::string header;
  std::getline(rows, header);
  const std::string before = header.substr(0, header.find("end_time_median_s"));
  const auto column = std::count(before.begin(), before.end(), ',');
  std::map<std::string, double> times;
  for (std::string row; std::getline(rows, row);) {
    const bool quoted = row.front() == '"';
    const std::size_t name_end = quoted ? row.find('"', 1) : row.find(',');
    std::istringstream cells(row.substr(quoted ? name_end + 1 : name_end));
    std::string cell;
    for (std::ptrdiff_t i = 0; i <= column; ++i) std::getline(cells, cell, ',');
    times[row.substr(quoted ? 1 : 0, name_end - (quoted ? 1 : 0))] = std::stod(cell);
  }
  return times;
}

}  // namespace

TEST_CASE("figure 6: uneven cores cost time, and dynamic batches win most of it back") {
  // Published for ResNet-50: 220 < 425 < 1290 min uniform; variable 267 < 425 and 668 < 1290, and no gain at
  // H1.
  const std::map<std::string, double> times = end_times("figure-6-study.yaml");
  CHECK(times.at("H1, uniform") < times.at("H2, uniform"));
  CHECK(times.at("H2, uniform") < times.at("H10, uniform"));
  CHECK(times.at("H2, dynamic") < times.at("H2, uniform"));
  CHECK(times.at("H10, dynamic") < times.at("H10, uniform"));
  CHECK(times.at("H1, dynamic") == doctest::Approx(times.at("H1, uniform")).epsilon(0.01));
  // The gain grows with the level: 1.59 and 1.93.
  CHECK(times.at("H10, uniform") / times.at("H10, dynamic") >
        times.at("H2, uniform") / times.at("H2, dynamic"));
}

TEST_CASE("figure 7a: on a GPU and a CPU, dynamic is no slower than static, and static beats uniform") {
  // Published: 376, 104, 104 min.
  const std::map<std::string, double> times = end_times("figure-7a.yaml");
  CHECK(times.at("static") < times.at("uniform"));
  CHECK(times.at("dynamic") <= times.at("static"));
}
