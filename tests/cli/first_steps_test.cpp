// What helps a person begin: init, list, help, completion.
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "sim/base/atomic_file.hpp"
#include "tests/cli/throughput_workplace.hpp"
#include "tests/support/text.hpp"

using namespace paceline;
using paceline::test::contains;
using paceline::test::ProgramResult;
using paceline::test::ThroughputWorkplace;

namespace fs = std::filesystem;

TEST_CASE("every command has examples of its own, which `help` prints as `--help` does") {
  const ThroughputWorkplace place;
  for (const char* command : {"run", "study", "compare", "search", "check", "timing", "fit", "validate",
                              "schema", "reference", "init", "list", "completion", "help"}) {
    CAPTURE(command);
    const ProgramResult help = place.paceline({"help", command});
    CHECK(help.exit_code == 0);
    CHECK(contains(help.out, "Example"));
    CHECK(contains(help.out, std::string("paceline ") + command));
    CHECK(help.out == place.paceline({command, "--help"}).out);
  }
  CHECK(place.paceline({"help", "validate", "recorded"}).exit_code == 0);
  CHECK(place.paceline({"help"}).out == place.paceline({"--help"}).out);
  const ProgramResult mistyped = place.paceline({"help", "stduy"});
  CHECK(mistyped.exit_code == 2);
  CHECK(mistyped.err == "error: paceline: there is no command `stduy`\nhint: did you mean `study`?\n");
}

TEST_CASE("init writes a scenario that check accepts, for every network of a shipped profile") {
  const ThroughputWorkplace place;
  for (const char* network :
       {"resnet32", "resnet50-cifar", "small-cnn", "resnet18-cifar", "small-gpt", "vgg11"}) {
    CAPTURE(network);
    const std::string file = std::string(network) + ".yaml";
    const ProgramResult written = place.paceline({"init", file, "--network", network});
    CHECK(written.err == "");
    CHECK(written.out == file + "\n");
    const ProgramResult checked = place.paceline({"check", file});
    INFO(checked.err);
    CHECK(checked.exit_code == 0);
  }
}

TEST_CASE("init takes policies, workers and a target, and every policy with what it asks for") {
  const ThroughputWorkplace place;
  for (const char* policy : {"bsp", "asp", "ssp", "dssp", "k-sync", "backup-workers"}) {
    CAPTURE(policy);
    const ProgramResult written = place.paceline(
        {"init", "own.yaml", "--force", "--policy", policy, "--workers", "2x2,1", "--target", "70 %"});
    INFO(written.err);
    CHECK(written.exit_code == 0);
  }
  const ProgramResult checked = place.paceline({"check", "own.yaml"});
  CHECK(contains(checked.out, "cluster.workers.2.cores"));
  CHECK_FALSE(contains(checked.out, "cluster.workers.3."));
  CHECK(contains(checked.out, "0.7 "));
}

TEST_CASE(
    "init --study writes a study of a scenario, that beside it or another, which stays if it is there") {
  const ThroughputWorkplace place;
  const std::string own = read_file(place.path() / "scenario.yaml");
  CHECK(place.paceline({"init", "first/study.yaml", "--study"}).exit_code == 2);
  fs::create_directory(place.path() / "first");
  CHECK(place.paceline({"init", "first/study.yaml", "--study"}).out ==
        "first/scenario.yaml\nfirst/study.yaml\n");
  CHECK(place.paceline({"check", "first/study.yaml"}).exit_code == 0);
  CHECK(place.paceline({"init", "own.yaml", "--study"}).out == "own.yaml\n");
  CHECK(read_file(place.path() / "scenario.yaml") == own);
  REQUIRE(place.paceline({"init", "six.yaml", "--workers", "6x2"}).exit_code == 0);
  CHECK(place.paceline({"init", "first/six-study.yaml", "--study", "--base", "six.yaml"}).out ==
        "first/six-study.yaml\n");
  CHECK(contains(place.paceline({"check", "first/six-study.yaml"}).out, "cluster.workers.5.cores"));
}

TEST_CASE("what init cannot do is told, and nothing is written") {
  const ThroughputWorkplace place;
  const auto said = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"init", "new.yaml"});
    const ProgramResult result = place.paceline(arguments);
    CHECK(result.exit_code == 2);
    CHECK_FALSE(fs::exists(place.path() / "new.yaml"));
    CHECK_FALSE(fs::exists(place.path() / "new.yaml.draft.yaml"));
    return result.err;
  };
  CHECK(contains(said({"--workers", "2xx"}), "--workers: `2xx` makes no sense"));
  CHECK(contains(said({"--workers", "0x2"}), "--workers: `0x2` makes no sense"));
  CHECK(contains(said({"--workers", ""}), "--workers"));
  CHECK(contains(said({"--policy", "bps"}), "policies: bsp"));
  CHECK(contains(said({"--network", "nothing"}), "no profile of `nothing` is shipped"));
  CHECK(contains(said({"--bandwidth", "10"}), "`10` has no unit"));
  // The file that was asked for is at fault, not one that is gone.
  CHECK(said({"--target", "880 %"}).starts_with("new.yaml:"));
  CHECK(contains(said({"--target", "880 %"}), "out of range"));
  CHECK_FALSE(contains(said({"--target", "880 %"}), ".draft"));
  CHECK(contains(said({"--study", "--base", "nowhere.yaml"}), "--base: there is no file nowhere.yaml"));
  CHECK(contains(said({"--study", "--base", "study.yaml"}), "--base: study.yaml is a study"));
  CHECK(contains(said({"--base", "scenario.yaml"}), "--base is of a study"));
  CHECK(contains(said({"--epochs", "x"}), "--epochs: `x` is not a number from 0.001 to 1e+06"));
  CHECK(contains(place.paceline({"init", "nowhere/x.yaml"}).err, "cannot write nowhere/x.yaml:"));
  CHECK(contains(place.paceline({"init"}).err, "scenario.yaml is already there"));  // its default
  const ProgramResult there = place.paceline({"init", "scenario.yaml"});
  CHECK(there.exit_code == 2);
  CHECK(there.err == "error: scenario.yaml is already there\nhint: --force replaces it\n");
}

TEST_CASE("list prints words of scenarios and shipped files") {
  const ThroughputWorkplace place;
  const auto listed = [&](const char* what) { return place.paceline({"list", what}).out; };
  CHECK(contains(listed("policies"), "bsp"));
  CHECK(contains(listed("controllers"), "proportional-repair"));
  CHECK(contains(listed("topologies"), "two-level  racks under a core switch"));
  CHECK(contains(listed("profiles"), "k80-resnet32.json"));
  CHECK(contains(listed("learners"), "resnet32-cifar10.json"));
#ifdef PACELINE_WITH_KERNELS
  CHECK(contains(listed("networks"), "small-cnn"));
#endif
  const ProgramResult mistyped = place.paceline({"list", "polices"});
  CHECK(mistyped.exit_code == 2);
  CHECK(mistyped.err == "error: there is no list of `polices`\nhint: did you mean `policies`?\n");
  CHECK(place.paceline({"list", "profiles", "nowhere"}).exit_code == 2);
}

TEST_CASE("bash completes commands, their options, and what help and list take") {
  const ThroughputWorkplace place;
  const auto completed = [&](const std::string& words, int at) {
    const std::string script = std::string("source <(") + PACELINE_PROGRAM + " completion); COMP_WORDS=(" +
                               words + "); COMP_CWORD=" + std::to_string(at) +
                               "; _paceline; echo \"${COMPREPLY[*]}\"";
    return test::run_program("/bin/bash", {"-c", script}, place.path()).out;
  };
  CHECK(completed("paceline stu", 1) == "study\n");
  CHECK(completed("paceline study --sha", 2) == "--shard\n");
  CHECK(completed("paceline validate rec", 2) == "recorded\n");
  CHECK(completed("paceline list pol", 2) == "policies\n");
  CHECK(completed("paceline help sea", 2) == "search\n");
  CHECK(completed("paceline run sce", 2) == "\n");  // a file
}

TEST_CASE("work without a terminal says how far it is only when asked, or when it takes long") {
  const ThroughputWorkplace place;
  CHECK_FALSE(contains(place.paceline({"run", "scenario.yaml", "-o", "quiet"}).err, "simulating"));
  const ProgramResult asked = test::run_program(
      "/usr/bin/env", {"PACELINE_PROGRESS=1", PACELINE_PROGRAM, "run", "scenario.yaml", "-o", "told"},
      place.path());
  CHECK(contains(asked.err, "simulating   0 % (0 of "));
  CHECK(contains(asked.err, "simulating 100 %"));
}
