// paceline as a person at a terminal meets it: commands, help, wrong usage.
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/cli/throughput_workplace.hpp"
#include "tests/support/text.hpp"

using namespace paceline;
using paceline::test::contains;
using paceline::test::ProgramResult;
using paceline::test::ThroughputWorkplace;

TEST_CASE("--version names commit, SimGrid and LibTorch") {
  const ProgramResult result = ThroughputWorkplace().paceline({"--version"});
  CHECK(result.exit_code == 0);
  CHECK(contains(result.out, "commit "));
  CHECK(contains(result.out, "SimGrid 3."));
#ifdef PACELINE_WITH_KERNELS
  CHECK(contains(result.out, "LibTorch 1."));
#else
  CHECK(contains(result.out, "LibTorch not built"));
#endif
}

TEST_CASE("--help shows every command and an example, so does each command") {
  const ThroughputWorkplace place;
  const ProgramResult result = place.paceline({"--help"});
  CHECK(result.exit_code == 0);
  for (const char* command : {"run", "study", "check", "plot", "schema", "calibrate", "Examples"})
    CHECK(contains(result.out, command));
  for (const char* command : {"run", "study", "check", "plot", "schema"})
    CHECK(place.paceline({command, "--help"}).exit_code == 0);
}

TEST_CASE("wrong usage is exit code 2, and says which command, what is wrong, and what to do") {
  const ThroughputWorkplace place;
  const auto said = [&place](const std::vector<std::string>& arguments) {
    const ProgramResult result = place.paceline(arguments);
    CHECK(result.exit_code == 2);
    CHECK(result.out.empty());
    return result.err;
  };
  CHECK(said({}) == "error: paceline: a command is missing\nhint: paceline --help lists the commands\n");
  CHECK(said({"simulate"}) ==
        "error: paceline: there is no command `simulate`\nhint: paceline --help lists the commands\n");
  CHECK(said({"run"}) == "error: paceline run: FILE is required\nhint: paceline run --help\n");
  CHECK(said({"study"}) == "error: paceline study: FILE is required\nhint: paceline study --help\n");
  CHECK(said({"study", "merge"}) ==
        "error: paceline study merge: DIR is required\nhint: paceline study merge --help\n");
  CHECK(said({"run", "scenario.yaml", "--bogus"}) ==
        "error: paceline run: there is no option `--bogus`\nhint: paceline run --help lists the options\n");
  // The mistyped option is what is wrong, not the file that is missing too.
  CHECK(said({"study", "--lits"}) ==
        "error: paceline study: there is no option `--lits`\nhint: did you mean `--list`?\n");
  CHECK(said({"run", "scenario.yaml", "study.yaml"}) ==
        "error: paceline run: `study.yaml` is one argument too many\nhint: paceline run --help\n");
  CHECK(said({"run", "scenario.yaml", "--jobs", "0"}) ==
        "error: paceline run: --jobs: `0` is not a number from 1 to 4096\nhint: paceline run --help\n");
  CHECK(
      said({"validate"}) ==
      "error: paceline validate: a command is missing\nhint: paceline validate --help lists the commands\n");
  CHECK(said({"validate", "recoded", "x"}) ==
        "error: paceline validate: there is no command `recoded`\nhint: did you mean `recorded`?\n");
  CHECK(contains(said({"plot", "x"}), "error: "));
}

TEST_CASE("the wrong command for a file, and a mistyped command, are told what was meant") {
  const ThroughputWorkplace place;
  CHECK(contains(place.paceline({"run", "study.yaml"}).err, "paceline study study.yaml"));
  CHECK(contains(place.paceline({"study", "scenario.yaml"}).err, "paceline run scenario.yaml"));
  const ProgramResult mistyped = place.paceline({"stduy", "study.yaml"});
  CHECK(mistyped.exit_code == 2);
  CHECK(contains(mistyped.err, "did you mean `study`?"));
}

TEST_CASE("output that cannot be written is not a success") {
  const ThroughputWorkplace place;
  CHECK(test::run_program("/bin/sh", {"-c", std::string(PACELINE_PROGRAM) + " schema > /dev/full"},
                          place.path())
            .exit_code != 0);
}

TEST_CASE("an unwritable place is refused before the first simulation") {
  const ThroughputWorkplace place;
  place.write("file", "");
  const ProgramResult result = place.paceline({"run", "scenario.yaml", "-o", "file/below"});
  CHECK(result.exit_code == 2);
  CHECK(contains(result.err, "file"));
}
