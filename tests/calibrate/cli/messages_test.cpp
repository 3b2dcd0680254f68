// `calibrate server` and `calibrate collective`, with training loops of a user's own and without.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "tests/calibrate/cli/calibrate_program.hpp"

namespace paceline {

TEST_CASE("requests at a server are timed, and the lines for a scenario printed") {
  const auto json = printed_json("server --parameters 100,10000 --passes 2 --quick --json");
  CHECK(json["format"] == "paceline-server");
  CHECK(json["samples"].size() == 4);
  CHECK(json["machine"]["passes_taken"] >= 2);
  CHECK(json["machine"]["slowness"].size() == 2);
  for (const auto& sample : json["samples"]) {
    CHECK(sample["server_s"] > 0.0);
    CHECK(sample["worker_s"] > 0.0);
  }
  CHECK(json["scenario"].get<std::string>().starts_with("communication: {server_request: "));
  CHECK(json["servers"] == "sends: sockets");
  check_refused("server --parameters 1000", "--parameters: at least 2 different sizes are needed");
  check_refused("server --passes 1", "--passes");
}

TEST_CASE(
    "messages of several workers are timed beside those of one, at a server that takes as long as asked") {
  const auto json = printed_json(
      "server --parameters 100,10000 --passes 2 --quick --computing '1 ms' --workers 2 --policy bsp "
      "--serving '2 ms' --json");
  // Applying so few values takes microseconds otherwise.
  for (const auto& sample : json["samples"]) CHECK(sample["applying_s"] > sample["server_s"]);
  REQUIRE(json["waits"].size() == 2);
  for (const auto& row : json["waits"]) {
    CHECK(row["workers"] == 2);
    CHECK(row["seconds"].size() == 2);
    CHECK(row["median_s"] >= 0.0);
    CHECK(row["worker_s"] > 0.0);
    CHECK(row["server_s"] > 0.0);
    CHECK(row["slowdown"] > 0.0);
    CHECK(row["variations"].size() == 2);
    CHECK(row["variation"] > 0.0);
  }
  check_refused("server --policy bsp", "--policy requires --workers");
  check_refused("server --workers 2 --policy ssp", "--policy");
  check_refused("server --workers 1", "--workers");
  check_refused("server --workers 2,2", "--workers: a number appears twice");
  check_refused("server --serving '1 kg'", "--serving");
}

TEST_CASE("a training loop of one's own computes for workers of a server") {
  const Workplace workplace;
  const test::ProgramResult outcome = workplace.run(
      "server --parameters 100,10000 --passes 2 --quick --workers 2 --json -- "
      "sh -c 'while read line; do echo >> steps; echo step 0 1 1 1; done'",
      "2>/dev/null");
  REQUIRE(outcome.exit_code == 0);
  CHECK(nlohmann::json::parse(outcome.out)["waits"].size() == 2);
  // Ten of each process that takes steps: one before, two workers in two passes. Then at least 20 and 10 for
  // warming up of each worker: of one and of two, of two sizes, in two passes.
  const std::string steps = workplace.text("steps");
  CHECK(std::ranges::count(steps, '\n') >= 10 * (1 + 2 * 2) + 30 * (1 + 2) * 2 * 2);
  const test::ProgramResult failed = Workplace().run("server -- sh -c 'echo no data >&2; exit 3'");
  CHECK(failed.exit_code == 1);
  CHECK(failed.out.find("exited with code 3 instead of a step: no data") != std::string::npos);
}

TEST_CASE("synchronous workers are told apart by how long each computes, in the order of their parameters") {
  // The first one's loop, whose asker ends its arguments with 0, sleeps five times as long as the other's.
  const std::string loop =
      " -- sh -c 'case $(tr \"\\0\" \" \" < /proc/$PPID/cmdline) in *\" 0 \") t=.02;; *) t=.004;; esac;"
      " while read line; do sleep $t; echo step 0 $t $t 1; done'";
  const auto json =
      printed_json("server --parameters 100,10000 --passes 2 --quick --workers 2 --policy bsp --json" + loop);
  for (const auto& row : json["waits"]) {
    const auto slowdowns = row["slowdowns_of_workers"].get<std::vector<double>>();
    REQUIRE(slowdowns.size() == 2);
    CHECK(slowdowns[0] > slowdowns[1]);  // by how much, what starting `sleep` takes has a say in
  }
  const test::ProgramResult said = Workplace().run(
      "server --parameters 100,10000 --passes 2 --quick --workers 2 --policy bsp" + loop, "2>/dev/null");
  CHECK(said.out.find("times as long (in the order in which they are sent parameters ") != std::string::npos);
}

TEST_CASE("several workers that seem to compute faster than one are doubted") {
  // Who finds another one at work says a quarter of the processor time: beside each other one of two does.
  const test::ProgramResult outcome = Workplace().run(
      "server --parameters 100,10000 --passes 2 --quick --workers 2 -- "
      "sh -c 'while read line; do if mkdir at-work 2>/dev/null; then sleep 0.02; rmdir at-work; used=1;"
      " else sleep 0.005; used=0.25; fi; echo step 0 1 $used 1; done'",
      "2>/dev/null");
  REQUIRE(outcome.exit_code == 0);
  CHECK_MESSAGE(outcome.out.find("(faster than one worker alone: measure again") != std::string::npos,
                outcome.out);
  CHECK(outcome.out.find(" %}`; computing takes ") != std::string::npos);
}

TEST_CASE("a training loop has the environment it was started in, wherever it computes") {
  // Workers that learn get one thread; a loop has the seven that its user gave it.
  for (const std::string command : {"server", "collective --with own --members 2"}) {
    const Workplace workplace;
    const test::ProgramResult outcome = workplace.shell(
        "OMP_NUM_THREADS=7 '" PACELINE_CALIBRATE "' " + command +
        " --parameters 100,10000 --passes 2 --quick -- "
        "sh -c 'echo $OMP_NUM_THREADS >> threads; while read line; do echo step 0 1 1 1; done' 2>/dev/null");
    REQUIRE(outcome.exit_code == 0);
    const std::string threads = workplace.text("threads");
    CHECK(std::ranges::count(threads, '7') == std::ranges::count(threads, '\n'));
    CHECK(std::ranges::count(threads, '\n') > 1);
  }
}

TEST_CASE("all members of a ring whose loops fail are named, not only the first") {
  // The loop that is timed before holds the lock; no member's gets it.
  const test::ProgramResult outcome = Workplace().run(
      "collective --with own --members 2 --parameters 100,10000 -- "
      "sh -c 'mkdir lock || exit 3; while read line; do echo step 0 1 1 1; done'");
  CHECK(outcome.exit_code == 1);
  for (const char* part :
       {"member 0 of the ring", "member 1 of the ring", "exited with code 3 instead of a step"})
    CHECK_MESSAGE(outcome.out.find(part) != std::string::npos, outcome.out);
}

TEST_CASE("a training loop that cannot compute for workers is refused, with what it has to do") {
  for (const std::string command : {"server", "collective"}) {
    check_refused(command + " --computing '1 ms' -- sh -c true",
                  "--computing cannot be combined with a loop");
    check_refused(command + " -- no-such-program", "`no-such-program` cannot be started");
    check_refused(command + " -- yes 'step 0 1 1 1'", "does not wait for a line before each step");
    check_refused(command + " -- sh -c 'read line; echo step 0'", "output of `sh -c");
    check_refused(command + " --", "there is no command after `--`");
  }
  check_refused("own --", "there is no command after `--`");
}

TEST_CASE("a training loop of one's own computes for members of a ring, a step before each all-reduce") {
  const Workplace workplace;
  const test::ProgramResult outcome = workplace.run(
      "collective --with own --members 2 --parameters 100,10000 --passes 2 --quick --json -- "
      "sh -c 'while read line; do sleep 0.02; echo $$ >> steps; echo step 0 1 1 1; done'",
      "2>/dev/null");
  REQUIRE(outcome.exit_code == 0);
  const auto json = nlohmann::json::parse(outcome.out);
  CHECK(json["samples"].size() == 4);
  // All of its steps take as long by its own clocks, beside others or alone.
  CHECK(json["loops"].size() == 2);
  for (const auto& ring : json["loops"]) {
    CHECK(ring["slowdown"] == 1.0);
    CHECK(ring["round_s"] >= 0.0);
  }
  // The first loop tells how long a step is, and how fast the cores are. Those of two members take ten steps
  // in each pass; then, of each of two sizes, three for warming up and, of as long ones, the fewest there
  // are: 10; before and after these alone, two for warming up and the fewest: 5.
  std::istringstream steps(workplace.text("steps"));
  std::string first;
  std::getline(steps, first);
  int of_members = 0;
  for (std::string process; std::getline(steps, process);) of_members += process == first ? 0 : 1;
  const int passes = json["machine"]["passes_taken"];
  CHECK(passes >= 2);
  CHECK(of_members == passes * 2 * (10 + 2 * (3 + 10 + 2 * (2 + 5))));
}

TEST_CASE("a loop that ends beside others is a failure of its own, not a mistake in the command") {
  // The one that tells how long a step is goes on.
  const test::ProgramResult outcome = Workplace().run(
      "server --parameters 100,10000 --passes 2 --quick -- "
      "sh -c 'mkdir first || exit 3; while read line; do echo step 0 .001 .001 1; done'");
  CHECK(outcome.exit_code == 1);
  CHECK_MESSAGE(outcome.out.find("error: process 0 of the job: ") != std::string::npos, outcome.out);
  CHECK_MESSAGE(outcome.out.find("exited with code 3") != std::string::npos, outcome.out);
}

TEST_CASE("loops take their steps alone one at a time, and beside each other all at once") {
  // Who finds another one at work says 2 s instead of 1; beside each other two of three do.
  const auto json = printed_json(
      "collective --members 2,3 --parameters 100,10000 --passes 2 --quick --json -- "
      "sh -c 'while read line; do"
      " if mkdir at-work 2>/dev/null; then sleep 0.02; rmdir at-work; echo step 0 1 1 1;"
      " else sleep 0.02; echo step 0 2 2 1; fi; done'");
  CHECK(json["loops"].size() == 4);
  for (const auto& ring : json["loops"]) CHECK(ring["slowdown"] > 1.2);
  for (const auto& sample : json["samples"]) {
    CHECK(sample["step_alone_s"] == 1.0);
    CHECK(sample["step_variation"] == 0.0);
    // Each loop claims 1 s where it takes 0.02: waking it seems to take -0.98, which is taken off.
    CHECK(sample["update_s"] > 0.9);
    // Where each member has a core, an update is as long as the longer claim: 2 s where one of two has found
    // the other at work, else 1 s. Half as large a share of all steps claims 2 s: update = 2 * beside - 1.
    // The first of at least 10 updates is not counted.
    if (sample["members"] == 2 && std::thread::hardware_concurrency() >= 2)
      CHECK(sample["update_s"].get<double>() > 2.0 * sample["step_beside_s"].get<double>() - 1.0 - 0.15);
  }
}

// Where this system sets no quotas.
static bool left_out_without_quotas(const Workplace& workplace) {
  const bool is_left_out = workplace.text("errors").find("no limit of processor time") != std::string::npos;
  if (is_left_out) MESSAGE("left out: ", workplace.text("errors"));
  return is_left_out;
}

TEST_CASE("a member of a ring trains under a quota, too, and what each stop by it costs is told") {
  check_refused("collective --quota 0.3", "--quota stops a loop of your own");
  check_refused("collective --quota 1 -- true", "--quota: Value 1 not in range");
  // 2 ms of a core for each step, and 10 ms more whenever 20 have passed at once, as in a stop of 70 ms: a
  // third of the 30 ms that a quota of 0.3 cores allows in each 100.
  const Workplace workplace;
  workplace.write("loop.py", R"(
import sys, time
then = time.monotonic()
for line in sys.stdin:
    end = time.process_time() + 0.002
    while time.process_time() < end:
        now = time.monotonic()
        if now - then > 0.02:
            end += 0.01
        then = now
    print("step 0 .002 .002 1", flush=True)
)");
  const test::ProgramResult outcome = workplace.run(
      "collective --with own --members 2 --parameters 100,10000 --passes 3 --quick --quota 0.3 --json -- "
      "python3 loop.py",
      "2>errors");
  if (left_out_without_quotas(workplace)) return;
  REQUIRE(outcome.exit_code == 0);
  const auto json = nlohmann::json::parse(outcome.out);
  REQUIRE(json["resumes"].size() == 1);
  CHECK(json["resumes"][0]["stops"] > 0);
  CHECK(json["resumes"][0]["members"] == 2);
  CHECK(json["resumes"][0]["quota_cores"] == 0.3);
  // In a pass in which nothing else held the loop up.
  const auto passes = json["resumes"][0]["resumes_s"].get<std::vector<double>>();
  CHECK(passes.size() == 3);
  CHECK(std::ranges::any_of(passes, [](double resume_s) { return std::abs(resume_s - 0.01) < 0.002; }));
}

TEST_CASE("a quota that never stops a member is reported") {
  // Steps that sleep use up none of it.
  const Workplace workplace;
  const test::ProgramResult outcome = workplace.run(
      "collective --with own --members 2 --parameters 100,10000 --passes 2 --quick --quota 0.9 -- "
      "sh -c 'while read line; do sleep 0.01; echo step 0 .01 .001 1; done'",
      "2>errors");
  if (left_out_without_quotas(workplace)) return;
  CHECK(outcome.exit_code == 0);
  CHECK_MESSAGE(
      outcome.out.find("2 members: a quota of 0.9 cores never stopped the one under it") != std::string::npos,
      outcome.out);
}

TEST_CASE("a loop that says no processor time times all-reduces, and it is said what it does not tell") {
  const test::ProgramResult outcome = Workplace().run(
      "collective --with own --members 2 --parameters 100,10000 --passes 2 --quick -- "
      "sh -c 'while read line; do echo step 0 1 0 1; done'",
      "2>/dev/null");
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.out.find("communication: {per_message: ") != std::string::npos);
  CHECK(outcome.out.find("the loop does not always say its processor time") != std::string::npos);
}

TEST_CASE("all-reduces among processes are timed, and the lines for a scenario printed") {
  const auto json =
      printed_json("collective --with own --members 2,3 --parameters 100,10000 --passes 2 --quick --json");
  CHECK(json["format"] == "paceline-collective");
  CHECK(json["library"] == "own");
  CHECK(json["samples"].size() == 8);
  for (const auto& sample : json["samples"]) CHECK(sample["processor_s"] > 0.0);
  CHECK(json["scenario"].get<std::string>().starts_with("communication: {per_message: "));
  check_refused("collective --parameters 1000", "--parameters: at least 2 different sizes are needed");
  check_refused("collective --with mpi", "--with");
  check_refused("collective --members 1", "--members");
  check_refused("collective --parameters 10000,20000,10000", "--parameters: a number appears twice");
  check_refused("collective --members 2,2", "--members: a number appears twice");
  check_refused("collective --bandwidth 200", "--bandwidth: `200` has no unit");
  check_refused("collective --bandwidth '0 Mbit/s'", "--bandwidth: must be above 0");
  check_refused("collective --burst '32 KiB'", "--burst requires --bandwidth");
}

TEST_CASE("bug: all-reduces that were killed left a folder behind") {
  const Workplace workplace;
  static_cast<void>(workplace.shell("TMPDIR=. '" PACELINE_CALIBRATE
                                    "' collective --with own --parameters 100,10000 >/dev/null & "
                                    "sleep 0.3; kill -9 $!; wait"));
  CHECK(std::filesystem::is_empty(workplace.path()));
}

TEST_CASE("values that do not fit into memory are said to be that") {
  // 2^30 of 4 bytes for each member, which may have 3 GB.
  const test::ProgramResult outcome = Workplace().shell(
      "ulimit -v 3000000; '" PACELINE_CALIBRATE
      "' collective --with own --members 2 --parameters 1000000000,1073741824 --passes 2 --quick 2>&1");
  CHECK(outcome.exit_code == 1);
  CHECK_MESSAGE(outcome.out.find("exited with code 1: error: not enough memory") != std::string::npos,
                outcome.out);
}

}  // namespace paceline
