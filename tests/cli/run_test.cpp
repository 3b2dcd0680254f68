// Runs as a person at a terminal meets them: their files, interrupted, killed, repeated.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <optional>
#include <regex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "sim/base/atomic_file.hpp"
#include "tests/cli/throughput_workplace.hpp"
#include "tests/support/files_below.hpp"
#include "tests/support/text.hpp"

using namespace paceline;
using paceline::test::contains;
using paceline::test::files_below;
using paceline::test::ProgramResult;
using paceline::test::throughput_profile;
using paceline::test::throughput_scenario;
using paceline::test::ThroughputWorkplace;
namespace fs = std::filesystem;

namespace {

std::ptrdiff_t hidden_folders(const fs::path& folder) {
  const fs::directory_iterator entries(folder);
  return std::count_if(begin(entries), end(entries), [](const fs::directory_entry& entry) {
    return entry.path().filename().string().starts_with(".out.");
  });
}

struct Ended {
  int status = 0;
  std::string output;
};

// paceline and its children, sent a signal as by a terminal once a line of its progress has these words.
Ended end_when(const ThroughputWorkplace& place, const std::vector<std::string>& arguments,
               const std::string& words, int signal) {
  // One output for both, so that lines of progress can be waited for; a process group of its own.
  Command command{{"/bin/sh", "-c", R"(exec setsid "$0" "$@" 2>&1)", PACELINE_PROGRAM}, place.path()};
  command.environment = {"PACELINE_PROGRESS=1"};
  command.words.insert(command.words.end(), arguments.begin(), arguments.end());
  Process program(command);
  Ended ended;
  for (bool is_sent = false; const std::optional<std::string> line = program.read_line();) {
    ended.output += *line + "\n";
    if (!is_sent && contains(*line, words)) is_sent = kill(-program.id(), signal) == 0;
  }
  ended.status = program.wait();
  return ended;
}

// All files but run-info.json, which tells when and where.
void check_identical(const fs::path& a, const fs::path& b) {
  const std::vector<fs::path> files = files_below(a);
  REQUIRE(files == files_below(b));
  REQUIRE(files.size() >= 7);
  for (const fs::path& file : files) {
    if (file.filename() == "run-info.json") continue;
    INFO(file.string());
    CHECK(read_file(a / file) == read_file(b / file));
  }
}

}  // namespace

TEST_CASE("a run writes its folder, refuses to replace it, and replaces it with --force") {
  const ThroughputWorkplace place;
  const ProgramResult first = place.paceline({"run", "scenario.yaml", "-o", "out"});
  INFO(first.err);
  CHECK(first.exit_code == 0);
  CHECK(contains(first.out, "results: out"));
  for (const char* file : {"manifest.json", "run-info.json", "summary.json", "summary.csv", "curve.csv",
                           "batches.csv", "staleness.csv"})
    CHECK(fs::exists(place.path() / "out" / file));
  const ProgramResult second = place.paceline({"run", "scenario.yaml", "-o", "out"});
  CHECK(second.exit_code == 2);
  CHECK(contains(second.err, "--force"));
  CHECK(place.paceline({"run", "scenario.yaml", "-o", "out", "--force"}).exit_code == 0);
}

TEST_CASE("results are byte-identical in another process, whatever the number of jobs") {
  const ThroughputWorkplace place;
  REQUIRE(place.paceline({"study", "study.yaml", "-o", "one", "-j", "1"}).exit_code == 0);
  REQUIRE(place.paceline({"study", "study.yaml", "-o", "three", "-j", "3"}).exit_code == 0);
  check_identical(place.path() / "one", place.path() / "three");
}

TEST_CASE("--self-profile says where the time of the program went, and changes no result") {
  const ThroughputWorkplace place;
  REQUIRE(place.paceline({"run", "scenario.yaml", "-o", "plain"}).exit_code == 0);
  REQUIRE(place.paceline({"run", "scenario.yaml", "-o", "profiled", "--self-profile"}).exit_code == 0);
  check_identical(place.path() / "plain", place.path() / "profiled");
  const auto info_of = [&](const char* folder) {
    return nlohmann::json::parse(read_file(place.path() / folder / "run-info.json"));
  };
  CHECK(!info_of("plain").contains("self_profile_s"));
  const nlohmann::json parts = info_of("profiled").at("self_profile_s");
  for (const char* part :
       {"reading", "preparation", "engine", "coordinator", "learner", "recorder", "results"}) {
    INFO(part);
    CHECK(parts.at(part).get<double>() > 0.0);
  }
}

TEST_CASE("another seed gives another result") {
  const ThroughputWorkplace place;
  REQUIRE(place.paceline({"run", "scenario.yaml", "-o", "a"}).exit_code == 0);
  REQUIRE(place.paceline({"run", "scenario.yaml", "-o", "b", "--set", "seed=2"}).exit_code == 0);
  CHECK(read_file(place.path() / "a/summary.csv") != read_file(place.path() / "b/summary.csv"));
}

TEST_CASE("--profile-uncertainty draws the machine anew for each replication, or says why it cannot") {
  const ThroughputWorkplace place;
  const ProgramResult refused =
      place.paceline({"run", "scenario.yaml", "--profile-uncertainty", "-o", "out"});
  CHECK(refused.exit_code == 2);
  CHECK(contains(refused.err, "the uncertainty of its fits is unknown"));
  CHECK_FALSE(fs::exists(place.path() / "out"));
  // Two equally likely machines, one twice as slow as the other.
  auto profile = nlohmann::json::parse(throughput_profile);
  profile["version"] = 2;
  profile["origin"] = "measured";
  profile["sources"] = nlohmann::json::array();
  profile["fits"]["compute"][0].update({{"knee", nullptr}, {"relative_half_width", 0.5}});
  profile["fits"].update({{"core_scaling", nullptr},
                          {"memory", nullptr},
                          {"ensemble", {{{1, 0.001, 0.0001, 0, 0}}, {{1, 0.002, 0.0002, 0, 0}}}}});
  profile["jitter"].update({{"process_cv", nullptr},
                            {"run_cv_upper", nullptr},
                            {"iteration_law", "log_normal"},
                            {"iteration_quantiles", nullptr}});
  place.write("profile.json", profile.dump());
  const std::vector<std::string> run = {"run", "scenario.yaml", "--set", "replications=12", "-o"};
  const auto outcome = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments = run;
    arguments.insert(arguments.end(), more.begin(), more.end());
    const ProgramResult result = place.paceline(arguments);
    CHECK_MESSAGE(result.exit_code == 0, result.err);
    return result;
  };
  static_cast<void>(outcome({"fixed"}));
  CHECK(contains(outcome({"drawn", "--profile-uncertainty"}).err, "2 equally likely calibrations"));
  const std::string manifest = read_file(place.path() / "drawn/manifest.json");
  CHECK(contains(manifest, "--profile-uncertainty"));
  CHECK(read_file(place.path() / "fixed/summary.csv") != read_file(place.path() / "drawn/summary.csv"));
  static_cast<void>(outcome({"again", "--profile-uncertainty", "--jobs", "2"}));
  check_identical(place.path() / "drawn", place.path() / "again");
}

TEST_CASE("a derived profile cannot be calibrated again, so that is not the advice") {
  const ThroughputWorkplace place;
  const std::string profile = (fs::path(PACELINE_SCENARIOS) / "profiles/k80-resnet32.json").string();
  const ProgramResult refused = place.paceline({"run", "scenario.yaml", "--profile-uncertainty", "--set",
                                                "job.network=resnet32", "--set", "job.profile=" + profile});
  CHECK(refused.exit_code == 2);
  CHECK(contains(refused.err, "it is derived from publications, which do not give any"));
  CHECK_FALSE(contains(refused.err, "calibrate again"));
}

TEST_CASE(
    "Ctrl-C keeps the finished replications of a run, and the same command goes on to the same results") {
  const ThroughputWorkplace place;
  std::vector<std::string> run = {"run",   "scenario.yaml",   "-j", "1",  "--set", "replications=60",
                                  "--set", "stop.epochs=100", "-o", "out"};
  const Ended interrupted = end_when(place, run, "(6 of 60 ", SIGINT);
  INFO(interrupted.output);
  CHECK(interrupted.status == status_signal_base + SIGINT);
  CHECK_FALSE(fs::exists(place.path() / "out"));
  CHECK(fs::exists(place.path() / "out.unfinished"));
  const ProgramResult resumed = place.paceline(run);
  INFO(resumed.err);
  CHECK(resumed.exit_code == 0);
  CHECK(contains(resumed.err, "of 60 replications are there already"));
  CHECK_FALSE(fs::exists(place.path() / "out.unfinished"));
  run.back() = "whole";
  REQUIRE(place.paceline(run).exit_code == 0);
  check_identical(place.path() / "out", place.path() / "whole");
}

TEST_CASE("an interrupted run without a finished replication leaves nothing behind") {
  const ThroughputWorkplace place;
  const Ended interrupted = end_when(
      place,
      {"run", "scenario.yaml", "-o", "out", "--set", "replications=2000", "--set", "stop.epochs=20000"},
      "(0 of 2000 ", SIGTERM);
  INFO(interrupted.output);
  CHECK(interrupted.status == status_signal_base + SIGTERM);
  CHECK(contains(interrupted.output, "interrupted"));
  CHECK_FALSE(fs::exists(place.path() / "out.unfinished"));
  CHECK(hidden_folders(place.path()) == 0);
  CHECK_FALSE(fs::exists(place.path() / "out"));
}

TEST_CASE("a run with --json prints nothing but JSON on standard output") {
  const ThroughputWorkplace place;
  const ProgramResult result = place.paceline({"study", "study.yaml", "-o", "out", "--json"});
  CHECK(result.exit_code == 0);
  CHECK(result.out.front() == '[');
  CHECK(contains(result.out, "throughput_samples_per_s"));
}

TEST_CASE(
    "an expectation that does not hold is exit code 3, with the results written and the value printed") {
  const ThroughputWorkplace place;
  const ProgramResult failed =
      place.paceline({"study", "study.yaml", "-o", "out", "--set", "expect.time_per_epoch=< 1 us"});
  CHECK(failed.exit_code == 3);
  for (const char* variant : {"ASP", "BSP"})
    CHECK(contains(failed.err, std::string("expectation failed: ") + variant + ": time_per_epoch is 0.3"));
  CHECK(contains(failed.err, "expected < 1 us (--set expect.time_per_epoch=< 1 us)"));
  const auto summary = nlohmann::json::parse(read_file(place.path() / "out/asp/summary.json"));
  CHECK(summary.at("expectations").at(0).at("held") == false);
  CHECK(summary.at("expectations").at(0).at("measured").get<double>() > 0.1);
  const ProgramResult held =
      place.paceline({"run", "scenario.yaml", "-o", "held", "--set", "expect.staleness=< 8"});
  CHECK(held.exit_code == 0);
  CHECK(contains(read_file(place.path() / "held/summary.json"), "\"held\": true"));
  CHECK(contains(place.paceline({"--help"}).out, "3 an expectation"));
}

TEST_CASE("--iterations and --trace add their files, which --force knows as ours") {
  const ThroughputWorkplace place;
  const std::vector<std::string> arguments = {"run",          "scenario.yaml", "-o",     "out",
                                              "--iterations", "--trace",       "--force"};
  REQUIRE(place.paceline(arguments).exit_code == 0);
  for (const char* file :
       {"iterations.csv", "trace.json", "activities.csv", "attribution.csv", "phases.csv", "bottlenecks.csv"})
    CHECK(fs::exists(place.path() / "out" / file));
  CHECK(nlohmann::json::parse(read_file(place.path() / "out/trace.json")).at("traceEvents").size() > 100);
  REQUIRE(place.paceline(arguments).exit_code == 0);
  const auto manifest = nlohmann::json::parse(read_file(place.path() / "out/manifest.json"));
  CHECK(manifest.at("command") == "paceline run scenario.yaml --iterations --trace");
}

TEST_CASE("a study compares its variants pair by pair, in the table, in JSON and in its CSV") {
  const ThroughputWorkplace place;
  const ProgramResult table = place.paceline({"study", "study.yaml", "-o", "out"});
  for (const char* part : {"P(faster) [90 %]", "speed-up [90 %]", "correlation"})
    CHECK(contains(table.out, part));
  const ProgramResult text = place.paceline({"study", "study.yaml", "-o", "out", "--force", "--json"});
  const auto rows = nlohmann::json::parse(text.out);
  CHECK(rows.at(0).at("pairs").is_null());
  CHECK(rows.at(1).at("pairs") == 4);
  CHECK(rows.at(1).at("p_faster_low").get<double>() > 0.0);
  CHECK(rows.at(1).at("p_faster_high").get<double>() < 1.0);
  // The two share their jitter, so their times rise and fall together.
  CHECK(rows.at(1).at("time_correlation").get<double>() > 0.5);
}

TEST_CASE("text from a scenario is data, for the terminal, the files and the figures") {
  const ThroughputWorkplace place;
  const std::string name = "it's `touch pwned` $(touch pwned) \"quoted\" \\ %s {} _^@";
  place.write("study.yaml",
              "study: hostile\nquestion: '$(touch pwned)'\nbase: scenario.yaml\nvariants:\n  - name: 'it''s "
              "`touch pwned` "
              "$(touch pwned) \"quoted\" \\ %s {} _^@'\n");
  const ProgramResult result = place.paceline({"study", "study.yaml", "-o", "out"});
  INFO(result.err);
  CHECK(result.exit_code == 0);
  CHECK(contains(result.out, name));
  const ProgramResult plot = place.paceline({"plot", "out", "-o", "figures"});
  INFO(plot.err);
  CHECK(plot.exit_code == 0);
  CHECK(fs::exists(place.path() / "figures/batches-over-time.png"));
  CHECK_FALSE(fs::exists(place.path() / "pwned"));
  // As TeX and Markdown that show it.
  CHECK(contains(place.paceline({"table", "out", "--format", "latex"}).out,
                 "it'{}s \\`{}touch pwned\\`{} \\$(touch pwned)"));
  CHECK(contains(place.paceline({"table", "out", "--format", "markdown"}).out,
                 "| it's \\`touch pwned\\` \\$(touch pwned) "));
}

TEST_CASE("a table for a paper has the cells of the terminal") {
  const ThroughputWorkplace place;
  const ProgramResult run = place.paceline({"run", "scenario.yaml", "-o", "out"});
  // The second line of the terminal, whose cells are at least two blanks apart, is a row of the CSV.
  std::istringstream lines(run.out);
  std::string row;
  std::getline(lines, row);
  std::getline(lines, row);
  const std::string cells = std::regex_replace(row, std::regex("  +"), ",");
  const ProgramResult csv = place.paceline({"table", "out", "--format", "csv"});
  INFO(csv.err);
  CHECK(contains(csv.out, cells));
  const std::string latex = place.paceline({"table", "out", "--format", "latex"}).out;
  for (const char* part : {"\\toprule\n", "\\midrule\n", "\\bottomrule\n", "Times are simulated."})
    CHECK(contains(latex, part));
  // LaTeX fits a column, unless it is asked for all.
  CHECK(contains(latex, "\\footnotesize"));
  CHECK(contains(latex, "& end (s) & 90 \\% (s) & done \\\\"));
  CHECK_FALSE(contains(latex, "samples/s"));
  CHECK(contains(place.paceline({"table", "out", "--format", "latex", "--columns", "all"}).out, "samples/s"));
  CHECK(contains(place.paceline({"table", "out", "--format", "markdown", "--columns", "time, samples"}).out,
                 "| end (s) | samples/s |"));
  CHECK(contains(place.paceline({"table", "out", "--format", "csv", "--columns", "tiem"}).err,
                 "--columns: there is no column `tiem`\nhint: did you mean `time`?"));
  CHECK(place.paceline({"table", "out", "--format", "word"}).exit_code == 2);
  CHECK(place.paceline({"table", "nowhere", "--format", "csv"}).exit_code == 2);
}

TEST_CASE("a killed run leaves no results folder, and the next attempt is not in its way") {
  const ThroughputWorkplace place;
  Process run = place.start(
      {"run", "scenario.yaml", "-o", "out", "--set", "replications=2000", "--set", "stop.epochs=200"});
  // Killed at work, as its hidden folder tells: what the next attempt finds abandoned it removes.
  for (int i = 0; i < 3000 && hidden_folders(place.path()) == 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  kill(run.id(), SIGKILL);
  CHECK(run.wait() == status_signal_base + SIGKILL);
  CHECK_FALSE(fs::exists(place.path() / "out"));
  REQUIRE(hidden_folders(place.path()) == 1);
  CHECK(place.paceline({"run", "scenario.yaml", "-o", "out"}).exit_code == 0);
  CHECK(hidden_folders(place.path()) == 0);
}

#ifdef PACELINE_WITH_KERNELS
TEST_CASE("a real network trained inside the simulation gives the same bytes again, and learns") {
  const ThroughputWorkplace place;
  std::string text = throughput_scenario;
  text.replace(text.find("{kind: none}"), 12, "{kind: network}");
  text.replace(text.find("learning_rate: 0.01"), 19, "learning_rate: 0.02, momentum: 0.9");
  place.write("learning.yaml", text);
  const std::vector<std::string> small = {"--set", "replications=2", "--set", "stop.epochs=10"};
  const auto run = [&](const std::string& folder, const std::string& jobs) {
    std::vector<std::string> arguments = {"run", "learning.yaml", "-o", folder, "-j", jobs};
    arguments.insert(arguments.end(), small.begin(), small.end());
    return place.paceline(arguments);
  };
  const ProgramResult first = run("a", "1");
  INFO(first.err);
  REQUIRE(first.exit_code == 0);
  REQUIRE(run("b", "2").exit_code == 0);
  check_identical(place.path() / "a", place.path() / "b");
  // 10 epochs of 4096 samples: some 1280 updates of ASP. Ten classes: chance is 0.1.
  const auto summary = nlohmann::json::parse(read_file(place.path() / "a/manifest.json"));
  CHECK(summary.at("scenario").at("learner.kind") == "network");
  const std::string curve = read_file(place.path() / "a/curve.csv");
  const std::string last_line = curve.substr(curve.rfind('\n', curve.size() - 2) + 1);
  CHECK(std::stod(last_line.substr(last_line.rfind(',') + 1)) > 0.3);
}
#else
TEST_CASE("without the kernels module a scenario that trains a network is refused before its first run") {
  const ThroughputWorkplace place;
  // With progress as lines: the first one, of 0 runs, would tell that the runs had begun.
  const ProgramResult result =
      test::run_program("/usr/bin/env",
                        {"PACELINE_PROGRESS=1", PACELINE_PROGRAM, "run", "scenario.yaml", "-o", "out",
                         "--set", "learner.kind=network"},
                        place.path());
  INFO(result.err);
  CHECK(result.exit_code == 2);
  CHECK(contains(result.err, "needs the module paceline-kernels.so, which is missing"));
  CHECK_FALSE(contains(result.err, "simulating"));
  CHECK_FALSE(fs::exists(place.path() / "out"));
}
#endif
