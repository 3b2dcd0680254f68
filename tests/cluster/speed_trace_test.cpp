// Trace files: what is read, and what is refused with its place.
#include <doctest/doctest.h>

#include "sim/base/atomic_file.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/cluster/conditions.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace paceline;

namespace {

std::vector<TraceRow> read(const std::string& text) {
  const test::TemporaryFolder folder;
  write_file_atomically(folder.path() / "trace.csv", text);
  return read_trace(folder.path() / "trace.csv", 3);
}

void check_refused(const std::string& text, const std::string& message) {
  CAPTURE(text);
  try {
    static_cast<void>(read(text));
    FAIL_CHECK("this trace was accepted");
  } catch (const UserError& error) {
    CAPTURE(error.what());
    CHECK(std::string(error.what()).find(message) != std::string::npos);
  }
}

}  // namespace

TEST_CASE("a trace gives speeds and bandwidths by time and worker, in columns of any order") {
  const std::vector<TraceRow> rows = read(
      "# recorded\nworker, time_s, bandwidth, speed\n0, 0, 0.5, 1.5  # a comment\n\n2, 1.5, , 0.25\n1, 1.5, "
      "2,\n");
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].time == Seconds{0.0});
  CHECK(rows[0].worker == 0);
  CHECK(rows[0].speed == 1.5);
  CHECK(rows[0].bandwidth == 0.5);
  CHECK(rows[1].worker == 2);
  CHECK(rows[1].speed == 0.25);
  CHECK_FALSE(rows[1].bandwidth);
  CHECK(rows[2].time == Seconds{1.5});
  CHECK_FALSE(rows[2].speed);
  CHECK(rows[2].bandwidth == 2.0);
}

TEST_CASE("speed or bandwidth may be left out altogether") {
  const std::vector<TraceRow> rows = read("time_s,worker,speed\n4,1,0.5\n");
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].speed == 0.5);
  CHECK_FALSE(rows[0].bandwidth);
}

TEST_CASE("a trace that makes no sense is refused with its line") {
  check_refused("time_s,speed\n1,1\n", "trace.csv:1: there is no column `worker`");
  check_refused("time_s,worker,pace\n1,1,1\n", "trace.csv:1: unknown column `pace`");
  check_refused("time_s,worker,speed\n1,1\n", "trace.csv:2: 2 cells, but 3 columns");
  check_refused("time_s,worker,speed\n1,3,1\n", "trace.csv:2:3: there is no worker `3`: they are 0 to 2");
  check_refused("time_s,worker,speed\n1,0.5,1\n",
                "trace.csv:2:3: `0.5` in column `worker` is not a whole number");
  check_refused("time_s,worker,speed\n1,0,fast\n",
                "trace.csv:2:5: `fast` in column `speed` is not a finite number");
  check_refused("time_s,worker,speed\n1,0,nan\n",
                "trace.csv:2:5: `nan` in column `speed` is not a finite number");
  check_refused("time_s,worker,speed\n1,0,0\n", "trace.csv:2:5: `speed` must be above 0");
  check_refused("time_s,worker,speed\n-1,0,1\n", "trace.csv:2:1: a time before the start of the job");
  check_refused("time_s,worker,speed\n2,0,1\n1,0,1\n", "trace.csv:3:1: rows must ascend in time");
  check_refused("time_s,worker,speed\n", "has no rows");
}

TEST_CASE("a trace that is not there is a user's mistake") {
  CHECK_THROWS_AS(static_cast<void>(read_trace("/nowhere/trace.csv", 3)), UserError);
}
