#include "calibrate/learning/curve_log.hpp"

#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "sim/base/atomic_file.hpp"
#include "sim/base/diagnostic.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace paceline;

namespace {

struct LogFile {
  test::TemporaryFolder folder;
  std::filesystem::path path = folder.path() / "log.csv";
  explicit LogFile(const std::string& text) { write_file_atomically(path, text); }
};

std::vector<double> steps_of(const CurveLog& log) {
  std::vector<double> steps;
  for (const CurveRow& row : log.rows) steps.push_back(row.step);
  return steps;
}

}  // namespace

TEST_CASE("columns are found by their names, in any order") {
  const LogFile file("loss,when,iteration\n2.5,10,0\n1.5,20,100\n");
  const CurveLog log = read_curve(file.path, {.step = "iteration", .value = "loss", .time = "when"});
  REQUIRE(log.rows.size() == 2);
  CHECK(log.rows[1].step == 100.0);
  CHECK(log.rows[1].value == 1.5);
  CHECK(log.rows[1].time_s == 20.0);
  CHECK(log.defects.empty());
}

TEST_CASE("a missing column is an error that lists the columns there are") {
  const LogFile file("step,accuracy\n1,0.5\n");
  try {
    static_cast<void>(read_curve(file.path, {}));
    FAIL("must be refused");
  } catch (const UserError& error) {
    CHECK(std::string(error.what()).find("there is no column `value`") != std::string::npos);
    CHECK(std::string(error.what()).find("step, accuracy") != std::string::npos);
  }
}

TEST_CASE("truncated lines, NaN and text are reported with their lines and left out") {
  const LogFile file("step,value\n1,0.5\n2,nan\n3,abc\n4\n5,0.7\n6,");
  const CurveLog log = read_curve(file.path, {});
  CHECK(steps_of(log) == std::vector<double>{1.0, 5.0});
  REQUIRE(log.defects.size() == 4);
  CHECK(log.defects[0].find(":3:3: the value is nan") != std::string::npos);
  CHECK(log.defects[1].find(":4:3: the value `abc` is not a number") != std::string::npos);
  CHECK(log.defects[2].find(":5: truncated: 1 of 2 cells") != std::string::npos);
  CHECK(log.defects[3].find(":7:3: the value `` is not a number") != std::string::npos);
}

TEST_CASE("after a restart the repeated rows are those of the restart") {
  const LogFile file("step,value\n1,0.1\n2,0.2\n3,0.3\n2,0.25\n3,0.35\n");
  const CurveLog log = read_curve(file.path, {});
  CHECK(steps_of(log) == std::vector<double>{1.0, 2.0, 3.0});
  CHECK(log.rows[1].value == 0.25);
  REQUIRE(log.defects.size() == 1);
  CHECK(log.defects[0].find(":5: restart: step 2 follows 3") != std::string::npos);
}

TEST_CASE("a gap is a spacing above 10 % of the range and 3 times the median") {
  const LogFile file("step,value\n0,0\n10,0\n20,0\n30,0\n80,0\n90,0\n100,0\n");
  const CurveLog log = read_curve(file.path, {});
  const std::vector<std::string> gaps = find_gaps(log, steps_of(log));
  REQUIRE(gaps.size() == 1);
  CHECK(gaps[0].find(":6: gap: no row for 50 % of the range") != std::string::npos);
}

TEST_CASE("defects are refused unless they are to be skipped") {
  CHECK(accept_or_refuse({}, false).empty());
  CHECK(accept_or_refuse({"a.csv:3: x"}, true) == std::vector<std::string>{"a.csv:3: x"});
  CHECK_THROWS_AS(static_cast<void>(accept_or_refuse({"a.csv:3: x"}, false)), UserError);
}
