#include "calibrate/live/stepped_loop.hpp"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "calibrate/live/one_core.hpp"

using namespace paceline;

namespace {

// What they print as the number of samples: the core they are on, counted from 1; their own number.
const std::vector<std::string> says_its_core = {"sh", "-c",
                                                "while read line; do read stat < /proc/$$/stat; set -- "
                                                "${stat##*) }; echo step 0 1 1 $((${37} + 1)); done"};
const std::vector<std::string> says_its_number = {"sh", "-c", "while read line; do echo step 0 1 1 $$; done"};

bool has_one_core() {
  if (live::cores_of(0).size() > 1) return false;
  MESSAGE("skipped: there is one core only");
  return true;
}

}  // namespace

TEST_CASE("bug: a loop computed on another core than the process that has its messages") {
  // Where packets are handled on the core of a worker it computes longer; its loop had moved away from there
  // in nearly all steps. It may be moved from a busy core, as a worker may be.
  if (has_one_core()) return;
  constexpr int steps = 100;
  live::SteppedLoop loop(says_its_core);
  for (const int core : live::cores_of(0)) {
    const live::OnOneCore here(0, core);
    int begun_here = 0;
    for (int i = 0; i < steps; ++i)
      if (loop.step_on_this_core().samples == core + 1) ++begun_here;
    CHECK(begun_here > steps / 2);
  }
}

TEST_CASE("bug: who waited for a loop's step was kept on a core where another worker may compute meanwhile") {
  // While it takes its step the loop sees how many cores its parent, this process, may use: 1 sample for all.
  if (has_one_core()) return;
  live::SteppedLoop loop(
      {"sh", "-c",
       "while read line; do case $(sed -n 's/^Cpus_allowed_list://p' /proc/$PPID/status) in "
       "*[-,]*) n=1;; *) n=2;; esac; echo step 0 1 1 $n; done"});
  for (int i = 0; i < 5; ++i) CHECK(loop.step_on_this_core().samples == 1);
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
  std::vector<std::string> words = says_its_core;
  words.insert(words.begin(), {"taskset", "-c", std::to_string(cores.back())});
  live::SteppedLoop loop(words);
  for (const int core : cores) {
    const live::OnOneCore here(0, core);
    CHECK(loop.step_on_this_core().samples == cores.back() + 1);
  }
}
