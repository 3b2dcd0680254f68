#include "calibrate/live/stepped_loop.hpp"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "calibrate/live/one_core.hpp"

using namespace paceline;

namespace {

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
  if (live::cores_of(0).size() > 1) return false;
  MESSAGE("skipped: there is one core only");
  return true;
}

}  // namespace

TEST_CASE("bug: a loop computed on another core than the process that has its messages") {
  // Where packets are handled on the core of a worker it computes longer; its loop had moved away from there.
  if (has_one_core()) return;
  live::SteppedLoop loop(says_its_core());
  for (const int core : live::cores_of(0)) {
    const live::OnOneCore here(0, core);
    CHECK(loop.step_on_this_core().samples == core + 1);
    CHECK(loop.step().samples == 1000);
  }
}

TEST_CASE("after a step a loop, and who waited for it, may use the cores they might use before") {
  const std::vector<int> before = live::cores_of(0);
  live::SteppedLoop loop(says_its_number);
  const auto number = static_cast<pid_t>(loop.step_on_this_core().samples);
  CHECK(live::cores_of(number) == before);
  CHECK(live::cores_of(0) == before);
}

TEST_CASE("a loop that its user has bound to a core stays there") {
  if (has_one_core()) return;
  const std::vector<int> cores = live::cores_of(0);
  std::vector<std::string> words = says_its_core();
  words.insert(words.begin(), {"taskset", "-c", std::to_string(cores.back())});
  live::SteppedLoop loop(words);
  for (const int core : cores) {
    const live::OnOneCore here(0, core);
    CHECK(loop.step_on_this_core().samples == cores.back() + 1);
  }
}

TEST_CASE("a loop whose steps are so long that a kernel would move it is not bound") {
  if (has_one_core()) return;
  live::SteppedLoop loop(says_its_core("sleep 0.02"));
  CHECK(loop.warm_up().wall > Seconds{0.02});
  CHECK(loop.step_on_this_core().samples == 1000);
}
