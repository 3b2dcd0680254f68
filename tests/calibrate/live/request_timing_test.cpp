// Requests at the live server, whose worker processes learn nothing.
#include "calibrate/live/request_timing.hpp"

#include <cstdint>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "calibrate/live/one_core.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace paceline;
using namespace paceline::live;

namespace {

// Memory whose reading and writing takes milliseconds on any machine, where all that a request of 1000 values
// takes otherwise are microseconds.
constexpr int requests = 60;
constexpr MemoryWork besides{.pieces = 1000};

}  // namespace

TEST_CASE("a server that does more is imitated: applying a gradient takes it longer than all the rest") {
  RequestWorkers workers(PACELINE_CALIBRATE, {.values = 1000});
  const RequestTime time = workers.time({.values = 1000, .requests = requests, .serving = besides});
  CHECK(time.bytes == Bytes{4000.0});
  CHECK(time.applying > time.server);
  // Each gradient is waited for.
  CHECK(time.cycle.between > time.applying);
}

TEST_CASE("of synchronous workers each gradient is served, and each round lasts for all of them") {
  RequestWorkers workers(PACELINE_CALIBRATE, {.workers = 2, .values = 1000});
  const RequestTime time =
      workers.time({.values = 1000, .workers = 2, .policy = "bsp", .requests = requests, .serving = besides});
  CHECK(time.applying > time.server);
  CHECK(time.cycle.iteration + time.cycle.between > 1.5 * time.applying);
}

TEST_CASE("the same processes carry out jobs of several and of one, of gradients small and large") {
  // A job ends when all its gradients have arrived. One that came late would be refused by the next job, as
  // none it has asked for, and its worker lost. A message of a million values takes the server milliseconds.
  constexpr std::uint64_t most = 1'000'000;
  RequestWorkers workers(PACELINE_CALIBRATE, {.workers = 3, .values = most, .busy = {.pieces = 10}});
  for (const std::string policy : {"asp", "bsp"})
    for (const std::uint32_t many : {3U, 1U, 2U}) {
      CAPTURE(policy);
      CAPTURE(many);
      const auto timed = [&](std::uint64_t values) {
        return workers.time({.values = values, .workers = many, .policy = policy, .requests = requests});
      };
      const RequestTime large = timed(most);
      const RequestTime small = timed(10);
      CHECK(large.server.value() > small.server.value());
      CHECK(small.cycle.iteration > Seconds{});
      CHECK(small.processor > Seconds{});
    }
}

TEST_CASE("a training loop computes for workers: its steps lie in their iterations, not in their messages") {
  // Each step rests for 20 ms, and says 0.25 s of processor time. Two messages of 4 kB are nothing beside it.
  RequestWorkers workers(
      PACELINE_CALIBRATE,
      {.workers = 2,
       .values = 1000,
       .loop = {"sh", "-c",
                "while read line; do echo loss 0.5; sleep 0.02; echo step 0 1 0.25 1; echo saved; done"}});
  for (const std::uint32_t many : {1U, 2U}) {
    const RequestTime time = workers.time({.values = 1000, .workers = many, .requests = 20});
    CHECK(time.cycle.iteration > Seconds{0.02});
    CHECK(time.cycle.between < time.cycle.iteration);
    CHECK(time.processor.value() == doctest::Approx(0.25));
  }
}

TEST_CASE("what it takes to ask a loop for a step is no part of a worker's time") {
  // Each step says 5 ms and comes after 25: the other 20 stand for what it takes to wake the loop.
  RequestWorkers workers(
      PACELINE_CALIBRATE,
      {.workers = 2,
       .values = 1000,
       .loop = {"sh", "-c", "while read line; do sleep 0.025; echo step 0 0.005 0.005 1; done"}});
  for (const std::uint32_t many : {1U, 2U}) {
    const RequestTime time = workers.time({.values = 1000, .workers = many, .requests = 20});
    CHECK(time.cycle.iteration.value() == doctest::Approx(0.005).epsilon(0.2));
    CHECK(time.cycle.between < Seconds{0.015});
  }
}

TEST_CASE("bug: a loop that computed for one worker changed its core with every step, and took longer") {
  // A worker keeps the core that it is told while it is alone, and its loop computes where it is. Its loop
  // says which cores the worker may use: one, but for the steps before.
  const std::vector<int> cores = cores_of(0);
  for (std::size_t which = 0; which < cores.size(); ++which) {
    const test::TemporaryFolder folder;
    const std::string file = (folder.path() / "cores").string();
    RequestWorkers workers(PACELINE_CALIBRATE,
                           {.workers = 2,
                            .values = 1000,
                            .loop = {"sh", "-c",
                                     "while read line; do sed -n 's/^Cpus_allowed_list:\\s*//p' "
                                     "/proc/$PPID/status >> '" +
                                         file + "'; echo step 0 1 1 1; done"},
                            .keeps_cores = false});
    static_cast<void>(workers.time({.values = 1000, .requests = requests, .core = which}));
    std::ifstream lines(file);
    int kept = 0;
    for (std::string line; std::getline(lines, line);)
      if (line.find_first_of("-,") == std::string::npos) {
        CHECK(line == std::to_string(cores[which]));
        ++kept;
      }
    CHECK(kept >= requests);
  }
}

TEST_CASE("a worker that is alone is timed on one core and on another in each pass, as often on each") {
  const std::vector<int> cores = cores_of(0);
  const test::TemporaryFolder folder;
  const std::string file = (folder.path() / "cores").string();
  RequestPlan plan{.values = {1000}, .passes = 2, .for_each = Seconds{1e-3}, .keeps_cores = false};
  plan.loop = {"sh", "-c",
               "while read line; do sed -n 's/^Cpus_allowed_list:\\s*//p' /proc/$PPID/status >> '" + file +
                   "'; echo step 0 1 1 1; done"};
  const TimedPasses timed = time_passes(PACELINE_CALIBRATE, plan);
  REQUIRE(timed.of_number.front().size() == 2);
  CHECK(timed.of_number.front().front().front().processor.value() == doctest::Approx(1.0));
  std::ifstream lines(file);
  std::map<std::string, int> kept;
  for (std::string line; std::getline(lines, line);)
    if (line.find_first_of("-,") == std::string::npos) ++kept[line];
  // Two passes on cores 0 and 1, then 1 and 2: of two cores both are had equally often.
  if (cores.size() < 2) {
    MESSAGE("skipped: one core only");
    return;
  }
  REQUIRE(kept.contains(std::to_string(cores[0])));
  CHECK(kept[std::to_string(cores[1])] == 2 * kept[std::to_string(cores[0])] / (cores.size() == 2 ? 2 : 1));
}

TEST_CASE("a training loop that ends instead of a step ends the requests, which say why") {
  RequestWorkers workers(
      PACELINE_CALIBRATE,
      {.values = 1000,
       .loop = {"sh", "-c",
                "i=0; while [ $i -lt 15 ]; do read line; echo step $i 1 1 1; i=$((i+1)); done; echo no data "
                ">&2; exit 3"}});
  std::string said;
  try {
    static_cast<void>(workers.time({.values = 1000, .requests = 20}));
  } catch (const std::runtime_error& error) {
    said = error.what();
  }
  CHECK(said.find("exited with code 3 instead of a step: no data") != std::string::npos);
}

TEST_CASE("requests that links carry for long are few, others as many as time allows") {
  // Of 0.2 s, requests that take 150 us and 15 ns a value besides 1 ms: 0.2 / 0.001165 = 171 of 1000 values.
  constexpr Seconds busy{1e-3};
  RequestPlan plan;
  plan.for_each = Seconds{0.2};
  CHECK(request_counts(1000, busy, plan).timed == 171);
  // At least 20, with half of it before: of ten million values each takes 0.15 s.
  CHECK(request_counts(10'000'000, busy, plan).timed == 20);
  CHECK(request_counts(10'000'000, busy, plan).warm_up == 10);
  // Over 100 Mbit/s a million values take 0.64 s there and back: 2 s / 0.64 s are 3, and there are four.
  // 500,000 take half as long: six. Small ones are as many as without links.
  plan.links.emplace().bandwidth = BytesPerSecond{100e6 / 8.0};
  CHECK(request_counts(1'000'000, busy, plan).timed == 4);
  CHECK(request_counts(1'000'000, busy, plan).warm_up == 2);
  CHECK(request_counts(500'000, busy, plan).timed == 6);
  CHECK(request_counts(1000, busy, plan).timed == 171);
}

TEST_CASE("work of memory that takes no time is none") {
  const MemoryWork one = memory_work_of(Seconds{1e-2});
  CHECK(one.pieces > 0);
  CHECK(one.undisturbed == Seconds{1e-2});
  CHECK(memory_work_of({}).pieces == 0);
}
