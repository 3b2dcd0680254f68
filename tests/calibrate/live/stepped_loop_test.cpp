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

// This thread, until it goes.
class On {
 public:
  explicit On(int core) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(core), &one);
    CHECK(sched_setaffinity(0, sizeof one, &one) == 0);
  }
  On(const On&) = delete;
  On& operator=(const On&) = delete;
  ~On() { CHECK(sched_setaffinity(0, sizeof before_, &before_) == 0); }

 private:
  cpu_set_t before_ = cores_of(0);
};

// What they print as the number of samples: the one core they may use, counted from 1, or 1000 if there are
// several; their own number.
std::vector<std::string> says_its_core(const std::string& before = "true") {
  return {"sh", "-c",
          "while read line; do " + before +
              "; cores=$(sed -n 's/^Cpus_allowed_list:\\s*//p' /proc/$$/status); "
              "case $cores in *[-,]*) cores=999;; esac; echo step 0 1 1 $((cores + 1)); done"};
}
const std::vector<std::string> says_its_number = {"sh", "-c", "while read line; do echo step 0 1 1 $$; done"};

bool has_one_core() {
  if (numbers_of(cores_of(0)).size() > 1) return false;
  MESSAGE("skipped: there is one core only");
  return true;
}

}  // namespace

TEST_CASE("bug: a loop computed on another core than the process that has its messages") {
  // Where packets are handled on the core of a worker it computes longer; its loop had moved away from there.
  if (has_one_core()) return;
  live::SteppedLoop loop(says_its_core());
  for (const int core : numbers_of(cores_of(0))) {
    const On on(core);
    CHECK(loop.step_on_this_core().samples == core + 1);
    CHECK(loop.step().samples == 1000);
  }
}

TEST_CASE("after a step a loop, and who waited for it, may use the cores they might use before") {
  const cpu_set_t before = cores_of(0);
  live::SteppedLoop loop(says_its_number);
  const cpu_set_t of_loop = cores_of(static_cast<pid_t>(loop.step_on_this_core().samples));
  CHECK(CPU_EQUAL(&of_loop, &before));
  const cpu_set_t after = cores_of(0);
  CHECK(CPU_EQUAL(&after, &before));
}

TEST_CASE("a loop that its user has bound to a core stays there") {
  if (has_one_core()) return;
  const std::vector<int> cores = numbers_of(cores_of(0));
  std::vector<std::string> words = says_its_core();
  words.insert(words.begin(), {"taskset", "-c", std::to_string(cores.back())});
  live::SteppedLoop loop(words);
  for (const int core : cores) {
    const On on(core);
    CHECK(loop.step_on_this_core().samples == cores.back() + 1);
  }
}

TEST_CASE("a loop whose steps are so long that a kernel would move it is not bound") {
  if (has_one_core()) return;
  live::SteppedLoop loop(says_its_core("sleep 0.02"));
  CHECK(loop.warm_up().wall > Seconds{0.02});
  CHECK(loop.step_on_this_core().samples == 1000);
}
