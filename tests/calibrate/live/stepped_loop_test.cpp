#include "calibrate/live/stepped_loop.hpp"

#include <cstddef>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <sched.h>

using namespace paceline;

namespace {

cpu_set_t cores_of(pid_t process) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  REQUIRE(sched_getaffinity(process, sizeof cores, &cores) == 0);
  return cores;
}

std::vector<int> numbers_of(const cpu_set_t& cores) {
  std::vector<int> numbers;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(static_cast<std::size_t>(core), &cores)) numbers.push_back(core);
  return numbers;
}

void move_to(int core) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(core), &one);
  REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0);
}

// What it prints as the number of samples: the core that it is on, counted from 1.
constexpr const char* says_its_core =
    "while read line; do read -r stat < /proc/$$/stat; set -- $stat; shift 38; echo step 0 1 1 $(($1 + 1)); "
    "done";
constexpr const char* says_its_number = "while read line; do echo step 0 1 1 $$; done";

}  // namespace

TEST_CASE("bug: a loop computed on another core than the process that has its messages") {
  // Where packets are handled on the core of a worker it computes longer; its loop had moved away from there.
  live::SteppedLoop loop({"sh", "-c", says_its_core});
  const cpu_set_t before = cores_of(0);
  for (const int core : numbers_of(before)) {
    move_to(core);
    CHECK(loop.step_on_this_core().samples == core + 1);
  }
  CHECK(sched_setaffinity(0, sizeof before, &before) == 0);
}

TEST_CASE("after a step a loop, and who waited for it, may use the cores they might use before") {
  const cpu_set_t before = cores_of(0);
  live::SteppedLoop loop({"sh", "-c", says_its_number});
  const cpu_set_t of_loop = cores_of(static_cast<pid_t>(loop.step_on_this_core().samples));
  CHECK(CPU_EQUAL(&of_loop, &before));
  const cpu_set_t after = cores_of(0);
  CHECK(CPU_EQUAL(&after, &before));
}

TEST_CASE("a loop that its user has bound to a core stays there") {
  const cpu_set_t before = cores_of(0);
  const std::vector<int> cores = numbers_of(before);
  live::SteppedLoop loop({"taskset", "-c", std::to_string(cores.back()), "sh", "-c", says_its_core});
  for (const int core : cores) {
    move_to(core);
    CHECK(loop.step_on_this_core().samples == cores.back() + 1);
  }
  CHECK(sched_setaffinity(0, sizeof before, &before) == 0);
}
