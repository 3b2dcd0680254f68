// Pages of docs/ that the program prints are checked in as it prints them.
#include <filesystem>
#include <string>

#include <doctest/doctest.h>

#include "sim/base/atomic_file.hpp"
#include "tests/support/text.hpp"
#include "tests/support/workplace.hpp"

using namespace paceline;

TEST_CASE("docs/results.md is what `paceline reference results` prints") {
  const test::Workplace place(PACELINE_PROGRAM, {});
  const test::ProgramResult printed = place.paceline({"reference", "results"});
  REQUIRE(printed.exit_code == 0);
  for (const char* part :
       {"`staleness.csv`", "| `time_to_accuracy_s` | s |", "## runs.csv", "## comparison.csv"})
    CHECK(test::contains(printed.out, part));
  // Stale: paceline reference results > docs/results.md
  CHECK(printed.out == read_file(std::filesystem::path(PACELINE_DOCS) / "results.md"));
}
