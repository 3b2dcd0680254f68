#include "calibrate/live/cpu_budget.hpp"

#include <fstream>
#include <iterator>
#include <string>

#include <doctest/doctest.h>

#include "sim/base/diagnostic.hpp"
#include "sim/base/process.hpp"

using namespace paceline;
using namespace paceline::live;

namespace {

std::string first_line(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return line;
}

}  // namespace

TEST_CASE("a budget is a group of quota and period that takes a process in, and goes with its object") {
  if (const std::string reason = why_no_cpu_budget(); !reason.empty()) {
    MESSAGE("left out: ", reason);
    return;
  }
  std::filesystem::path folder;
  {
    const CpuBudget budget({.cores = 0.25, .period = Seconds{0.02}}, 7);
    folder = budget.folder();
    // A quarter of a core in 20 ms: 5000 of 20000 us.
    if (std::filesystem::exists(folder / "cpu.max")) {
      CHECK(first_line(folder / "cpu.max") == "5000 20000");
    } else {
      CHECK(first_line(folder / "cpu.cfs_quota_us") == "5000");
      CHECK(first_line(folder / "cpu.cfs_period_us") == "20000");
    }
    const Process process({.words = {"sleep", "60"}});
    budget.add(process.id());
    CHECK(first_line(folder / "cgroup.procs") == std::to_string(process.id()));
  }
  CHECK_FALSE(std::filesystem::exists(folder));
}

TEST_CASE("what a process has started on a budget is released with it") {
  if (!why_no_cpu_budget().empty()) return;
  const CpuBudget budget({.cores = 0.5}, 10);
  Process process(
      {.words = {"sh", "-c", "read line; sleep 2 & echo started; wait"}, .keeps_input_open = true});
  budget.add(process.id());
  REQUIRE(process.write_line("go"));
  REQUIRE(process.read_line() == "started");
  std::ifstream living(budget.folder() / "cgroup.procs");
  CHECK(std::distance(std::istream_iterator<std::string>(living), {}) == 2);
  budget.release();
  CHECK(first_line(budget.folder() / "cgroup.procs").empty());
  CHECK(process.wait() == 0);
}

TEST_CASE("a budget counts the periods in which it holds somebody up") {
  if (!why_no_cpu_budget().empty()) return;
  const CpuBudget budget({.cores = 0.2, .period = Seconds{0.05}}, 9);
  CHECK(budget.stops() == 0);
  // It computes for 0.1 s, of which each period allows 10 ms.
  Process process(
      {.words =
           {"python3", "-c",
            "import time; input(); end = time.process_time() + 0.1\nwhile time.process_time() < end: pass"},
       .keeps_input_open = true});
  budget.add(process.id());
  CHECK(process.write_line("go"));
  CHECK(process.wait() == 0);
  CHECK(budget.stops() >= 3);
}

TEST_CASE("a budget the kernel refuses is a mistake of the user's, and leaves no group behind") {
  if (!why_no_cpu_budget().empty()) return;
  // The least period is 1 ms.
  CHECK_THROWS_AS(CpuBudget({.cores = 0.25, .period = Seconds{1e-5}}, 8), UserError);
}
