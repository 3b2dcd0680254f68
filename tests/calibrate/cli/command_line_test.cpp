#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>
#include <sched.h>

#include "sim/cost/profile.hpp"
#include "tests/calibrate/cli/calibrate_program.hpp"

namespace paceline {

TEST_CASE("help speaks of `paceline calibrate`, lists the networks and shows examples") {
  const test::ProgramResult outcome = Workplace().run("--help");
  CHECK(outcome.exit_code == 0);
  for (const char* part :
       {"Usage: paceline calibrate", "small-cnn", "Examples:", "--cores", "--quick", "TIME (ms, s, min, h)"})
    CHECK_MESSAGE(outcome.out.find(part) != std::string::npos, part);
}

TEST_CASE("wrong arguments end with code 2, say what is wrong, and leave nothing behind") {
  check_refused("", "NETWORK is required");
  check_refused("small-cn", "did you mean");
  check_refused("mlp --nonsense", "--nonsense");
  check_refused("mlp --cores 100000", "--cores: 100000 asked for, but this process may use");
  check_refused("mlp --cores 0", "--cores: Value 0 not in range 1 to");
  check_refused("mlp --cores 1,1", "--cores: a number appears twice");
  check_refused("mlp --batches 8,16", "--batches: at least 3");
  check_refused("mlp --batches 8,16,many", "--batches: Value many not in range");
  check_refused("mlp --batches 8,16,-32", "--batches: Value -32 not in range");
  check_refused("mlp --processes 0", "--processes");
  check_refused("mlp --time-per-point 0.3", "--time-per-point");
  check_refused("mlp --time-per-point '0.3 kg'", "--time-per-point");
  check_refused("mlp --time-per-point '0 s'", "--time-per-point");
  check_refused("mlp --time-per-point 'nan s'", "--time-per-point");
  check_refused("mlp -o no/such/folder.json", "cannot write no/such/folder.json");
  check_refused("mlp -o ''", "--output: the file's name is empty");
  check_refused("mlp --cores ''", "--cores: Value  not in range");
  check_refused("mlp -o /", "cannot write /: it is a folder");
}

TEST_CASE("copies of a loop that do not slow each other down have a speed of 1") {
  // Each says 0.05 s for a step whatever runs beside it; where there is one core they take turns.
  const std::string train = "'i=0; while [ $i -lt 40 ]; do echo step $i 0.05 0.05 32; i=$((i+1)); done'";
  const test::ProgramResult outcome =
      Workplace().run("own --copies 2 --passes 2 --json -- sh -c " + train, "2>/dev/null");
  REQUIRE(outcome.exit_code == 0);
  const auto json = nlohmann::json::parse(outcome.out);
  CHECK(json["speeds"][1] == doctest::Approx(std::min(1.0, json["cores"].get<double>() / 2.0)));
  CHECK(json["seconds_per_sample"].size() == 2);
  check_refused("own --copies 2 --log train.log", "--log excludes --copies");
  check_refused("own --rests --log train.log", "--log excludes --rests");
  check_refused("own --rests -- echo step 1 0.1 0.1 8",
                "0 stops of 1 ms with 12 steps after them, and 10 are needed");
  check_refused("own --rests -- true", "0 stops of 1 ms");
  check_refused("own --quota 0.5 -- true", "0 stops of 50 ms");
  check_refused("own --quota 0.5 -- echo step 1 0.001 0.001 8", "0 stops of 50 ms");
  for (const char* way : {"--rests", "--copies 2", "--quota 0.5"})
    check_refused(std::string("own ") + way + " -o x.json -- true", "--profile and --output go together");
  check_refused("own --passes 2 -- true", "--passes goes with --copies or --quota");
  check_refused("own --copies 2 -- echo step 1 0.1 0.1 8", "1 steps are too few");
  check_refused("own --copies 2 --cores 2 -- true", "without --cores");
}

TEST_CASE(
    "what a loop takes longer after a quota's stops is found by stops of its own, shared among its cores") {
  const Workplace workplace;
  // A step takes 1 ms of the processor's time, one in which the loop was stopped 3 ms more.
  std::ofstream(workplace.file("train.py")) << R"(import os, time
for i in range(1500):
    wall, processor, most = time.perf_counter(), time.process_time(), 0.001
    while (used := time.process_time() - processor) < most:
        if time.perf_counter() - wall - used > 0.03:
            most = 0.004
    print("step", i, time.perf_counter() - wall, used, 32)
with open("cores", "a") as file:
    file.write(f"{len(os.sched_getaffinity(0))}\n")
)";
  for (const auto& [options, cores] : {std::pair{"--quota 0.4", 1.0}, {"--quota 0.8 --cores 2", 2.0}}) {
    CAPTURE(options);
    const test::ProgramResult outcome = workplace.run(
        std::string("own ") + options + " --passes 2 --json -- /usr/bin/python3 train.py", "2>/dev/null");
    REQUIRE(outcome.exit_code == 0);
    const auto json = nlohmann::json::parse(outcome.out);
    CHECK(json["method"] == "stops");
    for (const auto& pass : json["passes"])
      CHECK(pass["resume_s"].get<double>() == doctest::Approx(0.003 / cores).epsilon(0.1));
  }
  // A quota lets a loop go on where it stood still; a signal may wake it on another core. So one on one core
  // is kept there. One on two has all that there are.
  cpu_set_t usable;
  REQUIRE(sched_getaffinity(0, sizeof usable, &usable) == 0);
  const std::string all = std::to_string(CPU_COUNT(&usable));
  CHECK(workplace.text("cores") == "1\n1\n" + all + "\n" + all + "\n");
}

TEST_CASE("a loop with steps too long to be stopped is said to run in pairs") {
  const test::ProgramResult outcome = Workplace().run(
      "own --quota 0.5 --passes 1 -- sh -c 'for i in $(seq 40); do echo step $i 0.02 0.02 32; done'");
  CHECK_MESSAGE(outcome.out.find("too long to be stopped in between: it runs with and without a quota") !=
                    std::string::npos,
                outcome.out);
}

TEST_CASE("a loop of one's own is timed by what it prints, and corrects a profile") {
  const Workplace workplace;
  // Steps of batch 32 take 0.05 s, of which a third the processor's, among lines of other kinds.
  const std::string train =
      "'i=0; while [ $i -lt 40 ]; do echo loss 0.3; echo step $i 0.05 0.0167 32; i=$((i+1)); done'";
  const std::string profile = "'" PACELINE_CHECKOUT "/scenarios/profiles/epyc-small-cnn.json'";
  const test::ProgramResult outcome =
      workplace.run("own --profile " + profile + " -o mine.json --json -- sh -c " + train, "2>/dev/null");
  REQUIRE(outcome.exit_code == 0);
  const auto json = nlohmann::json::parse(outcome.out);
  CHECK(json["batches"][0]["steps"] == 30);
  CHECK(json["batches"][0]["wall_s"].get<double>() == doctest::Approx(0.05));
  CHECK(json["offset_s"] > 0.0);
  CHECK(read_profile(workplace.file("mine.json")).correction->offset.value() == json["offset_s"]);
  const test::ProgramResult shown = workplace.run("show mine.json");
  CHECK_MESSAGE(shown.out.find("an iteration, from 30 steps of `sh -c") != std::string::npos, shown.out);
  // What can be known before is said before the loop trains.
  for (const auto& [options, message] :
       {std::pair{std::string("--profile mine.json -o again.json"), "is corrected already"},
        {"--profile " + profile + " -o no-folder/again.json", "create the folder first"},
        {"--profile " + profile + " -o .", "it is a folder"}}) {
    CAPTURE(options);
    const test::ProgramResult refused = workplace.run("own " + options + " -- touch trained");
    CHECK(refused.exit_code == 2);
    CHECK_MESSAGE(refused.out.find(message) != std::string::npos, refused.out);
    CHECK_FALSE(std::filesystem::exists(workplace.file("trained")));
  }
  // What only its times tell comes with them.
  const test::ProgramResult faster =
      workplace.run("own --profile " + profile +
                    " --by offset -o again.json -- "
                    "sh -c 'for i in $(seq 40); do echo step $i 1e-5 1e-5 32; done'");
  CHECK(faster.exit_code == 2);
  CHECK_MESSAGE(faster.out.find("10 us ±") != std::string::npos, faster.out);
  CHECK_MESSAGE(faster.out.find("the loop is faster than the profile") != std::string::npos, faster.out);
  const test::ProgramResult failed = workplace.run("own -- sh -c 'echo nothing to train >&2; exit 3'");
  CHECK(failed.exit_code == 1);
  CHECK_MESSAGE(failed.out.find("exited with code 3:\nnothing to train") != std::string::npos, failed.out);
}

TEST_CASE("a loop that says nothing of use is refused at the place of what is wrong") {
  check_refused("own", "either a command or a log is needed");
  check_refused("own --log none.log", "cannot read none.log");
  check_refused("own -- no-such-program", "cannot be started");
  check_refused("own -- echo step 1 2", "output of `echo step 1 2`:1:8: error: ");
  check_refused("own -- echo step 1 0.1 0.1 8", "1 steps, of which 1 warm up");
  check_refused("own --profile none.json -- true", "--profile and --output go together");
  check_refused("own --by guess --profile a -o b -- true", "--by");
}

TEST_CASE("what cannot fit, or contradicts itself, is refused before it is measured") {
  check_refused("mlp --batches 8,16,1000000 --memory '1 GB' --cores 1",
                "--batches: batch 1000000 needs about");
  check_refused("mlp --budget '1 min' --processes 3", "--processes excludes --budget");
  check_refused("mlp --budget '0 s'", "--budget: must be above 0 s");
  check_refused("mlp --budget '25 h'", "--budget: must be above 0 s and at most 24 h");
  check_refused("mlp --input 3,32,32", "--input describes a TorchScript file");
  check_refused("mine.pt", "--input and --classes are needed");
  check_refused("mine.pt --input 3,32,32 --classes 10", "mine.pt: no such file");
  check_refused("show", "PROFILE is required");
  check_refused("show none.json", "none.json: no such profile");
  check_refused("check none.json", "none.json: no such profile");
  check_refused("check '" PACELINE_CHECKOUT "/scenarios/profiles/k80-resnet32.json'",
                "is derived from publications");
  check_refused("from-log --workers 8", "logs of asynchronous and of synchronous runs are needed");
  check_refused("from-log nowhere --workers 8", "there is no asp/run*/loss.csv");
  check_refused("from-log --jobs", "--jobs");
  CHECK(Workplace().run("from-log --jobs --help").out.find("Forms of a log") != std::string::npos);
  check_refused("from-log --jobs none.csv", "cannot read none.csv");
  check_refused("from-log --jobs a.csv --pause 3", "--pause and --pause-every go together");
  check_refused("from-log --jobs a.csv --scenario s.yaml", "--scenario needs a profile");
  check_refused("from-log --jobs a.csv -o p.json", "a profile needs --batch and --parameters");
  check_refused("network", "Exactly 1 option from [HOST:PORT,--listen,--loopback] is required");
  check_refused("network somewhere", "`somewhere` is not HOST:PORT");
}

TEST_CASE("an interrupted calibration keeps whole processes, and the same command goes on from them") {
  const Workplace workplace;
  const std::string command =
      "mlp --batches 2,4,8 --cores 1 --processes 1000 --time-per-point '1 ms' -o profile.json";
  // Ended as soon as two processes are on disk. A shell gives its background commands no SIGINT; SIGTERM is
  // alike.
  const test::ProgramResult interrupted = workplace.shell("'" PACELINE_CALIBRATE "' " + command + R"( 2>&1 &
tries=0
until grep -c '^{"processes' profile.json.partial 2>/dev/null | grep -q '[2-9]' || [ $tries -ge 600 ]; do
  tries=$((tries + 1))
  sleep 0.1
done
kill -TERM $!
wait $!
echo code $?)");
  CHECK_MESSAGE(interrupted.out.find("code 143") != std::string::npos, interrupted.out);
  CHECK(interrupted.out.find("the same command goes on from there") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(workplace.file("profile.json")));
  const test::ProgramResult other = workplace.run("mlp --batches 2,4,8,16 --cores 1 -o profile.json");
  CHECK(other.exit_code == 2);
  CHECK(other.out.find("holds an interrupted calibration of something else") != std::string::npos);
  // As if 4 processes had been asked for: the test need not wait for 1000.
  CHECK(std::system(("sed -i '1s/\"processes\":1000/\"processes\":4/' '" +
                     workplace.file("profile.json.partial").string() + "'")
                        .c_str()) == 0);
  const test::ProgramResult finished = workplace.run(command);
  CHECK_MESSAGE(finished.exit_code == 0, finished.out);
  CHECK(finished.out.find("going on with") == 0);
  CHECK_FALSE(std::filesystem::exists(workplace.file("profile.json.partial")));
  CHECK(read_profile(workplace.file("profile.json")).jitter.processes == 4);
}

TEST_CASE("an existing profile is kept unless --force is given") {
  const Workplace workplace;
  workplace.write("kept.json", "precious");
  const test::ProgramResult outcome = workplace.run("mlp -o kept.json");
  CHECK(outcome.exit_code == 2);
  CHECK(outcome.out.find("error: kept.json exists") == 0);
  CHECK(outcome.out.find("--force") != std::string::npos);
  CHECK(workplace.text("kept.json") == "precious");
}

TEST_CASE("a short real measurement writes a profile that is read back, over an old file with --force") {
  const Workplace workplace;
  workplace.write("profile.json", "old");
  const test::ProgramResult outcome = workplace.run(
      "mlp --batches 2,4,8 --cores 1 --processes 2 --time-per-point '1 ms' --json --force -o profile.json",
      "2>/dev/null");
  REQUIRE_MESSAGE(outcome.exit_code == 0, outcome.out);
  const Profile profile = read_profile(workplace.file("profile.json"));
  CHECK(profile.network == "mlp");
  REQUIRE(profile.compute.size() == 1);
  CHECK(profile.compute[0].batch_min_samples == 2);
  CHECK(profile.compute[0].batch_max_samples == 8);
  CHECK(profile.jitter.processes == 2);
  CHECK_FALSE(profile.jitter.run_cv.has_value());
  CHECK(profile.memory.has_value());
  const test::ProgramResult shown = workplace.run("show profile.json");
  CHECK(shown.exit_code == 0);
  for (const char* part : {"iteration (forward and backward)", "memory: ", "residuals (not held out)"})
    CHECK_MESSAGE(shown.out.find(part) != std::string::npos, shown.out);
  CHECK(nlohmann::json::parse(workplace.run("show profile.json --json").out).at("points").size() == 3);
  // Whether it holds depends on what else runs; that it is judged does not.
  const test::ProgramResult checked = workplace.run("check profile.json --processes 1 --json", "2>/dev/null");
  CHECK((checked.exit_code == 0 || checked.exit_code == 3));
  CHECK(nlohmann::json::parse(checked.out).at("points").size() == 2);  // batches 3 and 6
  const auto summary = nlohmann::json::parse(outcome.out);
  CHECK(summary.at("profile") == "profile.json");
  CHECK(summary.at("fits").at("compute").at(0).at("intercept_s") == profile.compute[0].intercept.value());
}

}  // namespace paceline
