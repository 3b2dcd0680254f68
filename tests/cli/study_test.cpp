// Studies of many runs as a person at a terminal meets them: varied, interrupted, split, merged.
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/mount.h>
#include <unistd.h>

#include "tests/cli/study_place.hpp"
#include "tests/support/text.hpp"

using namespace paceline;
using paceline::test::contains;
using paceline::test::ProgramResult;
using paceline::test::run_count;
using paceline::test::study_text;
using paceline::test::StudyPlace;
namespace fs = std::filesystem;

namespace {

std::size_t lines_with(const std::string& text, const std::string& part) {
  std::istringstream lines(text);
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line);) count += contains(line, part) ? 1U : 0U;
  return count;
}

std::string first_id(const std::string& list) {
  return list.substr(0, list.find(' '));
}

}  // namespace

TEST_CASE("--list shows every run with an id that stays the same, and runs none") {
  const StudyPlace place;
  const ProgramResult list = place.paceline({"study", "study.yaml", "--list"});
  CAPTURE(list.err);
  CHECK(list.exit_code == 0);
  CHECK(contains(list.out, "6 combinations, 24 runs, 0 done\n"));
  CHECK(lines_with(list.out, "to do  replication") == run_count);
  CHECK(contains(list.out, "replication   3  BSP, speed 0.25\n"));
  CHECK_FALSE(fs::exists(place.path() / "results"));
  CHECK(place.paceline({"study", "study.yaml", "--list"}).out == list.out);
  // The id is of the content, not of names, places and the number of replications.
  place.write("study.yaml",
              "study: other\nbase: scenario.yaml\nvariants:\n  - name: as it is\n    set: "
              "{cluster.workers.1.speed: 1}\n");
  CHECK(first_id(place.paceline({"study", "study.yaml", "--list"}).out) == first_id(list.out));
  // Another profile makes other runs.
  std::string profile = place.text("profile.json");
  place.write("profile.json", profile.replace(profile.find("0.001,"), 6, "0.002,"));
  CHECK(first_id(place.paceline({"study", "study.yaml", "--list"}).out) != first_id(list.out));
}

TEST_CASE(
    "a study keeps its runs: the same command again runs nothing and changes nothing but run-info.json") {
  const StudyPlace place;
  const ProgramResult first = place.paceline({"study", "study.yaml", "-o", "out", "-j", "2"});
  CAPTURE(first.err);
  REQUIRE(first.exit_code == 0);
  const std::string runs = place.text("out/runs.csv");
  const std::string store = place.text("out/study.sqlite");
  CHECK(lines_with(runs, ",done,") == run_count);
  const ProgramResult again = place.paceline({"study", "study.yaml", "-o", "out"});
  CHECK(again.exit_code == 0);
  CHECK(contains(again.err, "24 of 24 runs are done already, 0 to do"));
  CHECK(again.out == first.out);
  CHECK(place.text("out/runs.csv") == runs);
  CHECK(place.text("out/study.sqlite") == store);
  CHECK(contains(place.paceline({"study", "study.yaml", "-o", "out", "--list"}).out, "24 runs, 24 done"));
}

TEST_CASE("every file of a varied study is the same whatever the number of jobs") {
  const StudyPlace place;
  REQUIRE(place.paceline({"study", "study.yaml", "-o", "one", "-j", "1"}).exit_code == 0);
  REQUIRE(place.paceline({"study", "study.yaml", "-o", "three", "-j", "3"}).exit_code == 0);
  for (const char* file : {"runs.csv", "study.sqlite", "comparison.csv", "manifest.json"}) {
    CAPTURE(file);
    CHECK(place.text(fmt::format("one/{}", file)) == place.text(fmt::format("three/{}", file)));
  }
}

TEST_CASE("a value added to a study runs only what is new") {
  const StudyPlace place;
  REQUIRE(place.paceline({"study", "study.yaml", "-o", "out"}).exit_code == 0);
  std::string text = study_text;
  place.write("study.yaml", text.replace(text.find("0.25]"), 5, "0.25, 2]"));
  const ProgramResult more = place.paceline({"study", "study.yaml", "-o", "out"});
  CHECK(more.exit_code == 0);
  CHECK(contains(more.err, "24 of 32 runs are done already, 8 to do"));
}

TEST_CASE("killed at any moment, a study goes on where it was and ends as if nothing had happened") {
  const StudyPlace place;
  REQUIRE(place.paceline({"study", "study.yaml", "-o", "whole", "-j", "2"}).exit_code == 0);
  for (useconds_t ms = 15; ms < 600; ms = ms * 3 / 2) {
    Process study = place.start({"study", "study.yaml", "-o", "killed", "-j", "2"});
    usleep(1000 * ms);
    kill(study.id(), SIGKILL);
    study.wait();
  }
  const ProgramResult rest = place.paceline({"study", "study.yaml", "-o", "killed"});
  CAPTURE(rest.err);
  CHECK(rest.exit_code == 0);
  for (const char* file : {"runs.csv", "study.sqlite", "comparison.csv"}) {
    CAPTURE(file);
    CHECK(place.text(fmt::format("killed/{}", file)) == place.text(fmt::format("whole/{}", file)));
  }
}

TEST_CASE("Ctrl-C keeps the finished runs and says so") {
  const StudyPlace place;
  place.write("long.yaml", std::string(study_text) + "set: {stop.epochs: 400}\n");
  Process study = place.start({"study", "long.yaml", "-o", "out", "-j", "1"});
  // Runs of this length end one by one; the store tells when the first is there.
  for (int i = 0; i < 600 && !fs::exists(place.path() / "out/study.sqlite"); ++i) usleep(10'000);
  kill(study.id(), SIGINT);
  CHECK(study.wait() == 128 + SIGINT);
  const ProgramResult list = place.paceline({"study", "long.yaml", "-o", "out", "--list"});
  CHECK(list.exit_code == 0);
}

TEST_CASE("one run alone gives the numbers it has in the study") {
  const StudyPlace place;
  REQUIRE(place.paceline({"study", "study.yaml", "-o", "out"}).exit_code == 0);
  std::istringstream rows(place.text("out/runs.csv"));
  std::string row;
  for (int i = 0; i < 8; ++i) std::getline(rows, row);  // a head and seven runs
  std::vector<std::string> cells;
  std::istringstream parts(row);
  for (std::string cell; std::getline(parts, cell, ',');) cells.push_back(cell);
  // point, variant, speed, replication, seed, assumed_learner, run, status, reached, time_to_accuracy_s,
  // end_time_s
  const ProgramResult one = place.paceline({"study", "study.yaml", "--run", cells.at(6), "-o", "one"});
  CAPTURE(one.err);
  REQUIRE(one.exit_code == 0);
  const std::string summary = place.text("one/summary.csv");
  CHECK(contains(summary, fmt::format("\n{},{},", cells.at(3), cells.at(4))));
  CHECK(contains(summary, "," + cells.at(10) + ","));
  CHECK(contains(place.text("one/manifest.json"), "--run " + cells.at(6)));
  CHECK(place.paceline({"study", "study.yaml", "--run", "0123", "-o", "none"}).exit_code == 2);
}

TEST_CASE("one run does not replace a whole study, not even by force") {
  const StudyPlace place;
  REQUIRE(place.paceline({"study", "study.yaml", "-o", "out"}).exit_code == 0);
  const std::string before = place.text("out/runs.csv");
  const std::size_t comma = before.find(",done");
  REQUIRE(comma != std::string::npos);
  const std::string id =
      before.substr(before.rfind(',', comma - 1) + 1, comma - before.rfind(',', comma - 1) - 1);
  const ProgramResult refused = place.paceline({"study", "study.yaml", "--run", id, "-o", "out", "--force"});
  CHECK(refused.exit_code == 2);
  CHECK(contains(refused.err, "holds a whole study"));
  CHECK(place.text("out/runs.csv") == before);
}

TEST_CASE("parts run anywhere and merge into the very same results, and missing runs are counted") {
  const StudyPlace place;
  REQUIRE(place.paceline({"study", "study.yaml", "-o", "whole"}).exit_code == 0);
  for (const char* part : {"1/3", "3/3"})
    REQUIRE(place.paceline({"study", "study.yaml", "-o", "out", "--shard", part}).exit_code == 0);
  const ProgramResult incomplete = place.paceline({"study", "merge", "out"});
  // Nothing failed: the other part has not been run yet.
  CHECK(incomplete.exit_code == 0);
  CHECK(contains(incomplete.err, "24 runs: 16 done, 0 failed, 8 missing"));
  // The second part, killed midway, resumes; merging again is complete and a third time changes nothing.
  Process part = place.start({"study", "study.yaml", "-o", "out", "--shard", "2/3", "-j", "1"});
  usleep(60'000);
  kill(part.id(), SIGKILL);
  part.wait();
  REQUIRE(place.paceline({"study", "study.yaml", "-o", "out", "--shard", "2/3"}).exit_code == 0);
  const ProgramResult merged = place.paceline({"study", "merge", "out"});
  CAPTURE(merged.err);
  CHECK(merged.exit_code == 0);
  CHECK(place.text("out/runs.csv") == place.text("whole/runs.csv"));
  const std::string before = place.text("out/study.sqlite");
  CHECK(contains(place.paceline({"study", "merge", "out"}).out, "0 runs taken"));
  CHECK(place.text("out/study.sqlite") == before);
  CHECK(place.paceline({"study", "study.yaml", "-o", "out", "--shard", "4/3"}).exit_code == 2);
}

TEST_CASE("folders of combinations that are of other runs are not kept beside the new ones") {
  const StudyPlace place;
  REQUIRE(place.paceline({"study", "study.yaml", "-o", "out", "--folders"}).exit_code == 0);
  const auto folders = [&] {
    std::size_t count = 0;
    for (const auto& entry : fs::directory_iterator(place.path() / "out"))
      count += entry.is_directory() ? 1U : 0U;
    return count;
  };
  CHECK(folders() == 6);
  // The same runs again: they stay.
  REQUIRE(place.paceline({"study", "study.yaml", "-o", "out"}).exit_code == 0);
  CHECK(folders() == 6);
  const ProgramResult other = place.paceline({"study", "study.yaml", "-o", "out", "--set", "stop.epochs=1"});
  CHECK(contains(other.err, "were of other runs, and are removed"));
  CHECK(folders() == 0);
}

TEST_CASE("another study does not replace the results of the one whose folder it is, unless by force") {
  const StudyPlace place;
  REQUIRE(place.paceline({"study", "study.yaml", "-o", "out"}).exit_code == 0);
  const std::string before = place.text("out/runs.csv");
  std::string other = study_text;
  place.write("other.yaml", other.replace(other.find("varied"), 6, "another"));
  const std::vector<std::string> command{"study", "other.yaml", "-o", "out"};
  const ProgramResult refused = place.paceline(command);
  CHECK(refused.exit_code == 2);
  CHECK(contains(refused.err, "out holds the study `varied`"));
  CHECK(contains(refused.err, "hint: choose another folder with --output, or replace it with --force"));
  CHECK(place.text("out/runs.csv") == before);
  CHECK(contains(place.text("out/manifest.json"), "\"name\": \"varied\""));
  // A part of it would end in the same files.
  CHECK(place.paceline({"study", "other.yaml", "-o", "out", "--shard", "1/2"}).exit_code == 2);
  CHECK(place.paceline({"study", "other.yaml", "-o", "out", "--force"}).exit_code == 0);
  CHECK(contains(place.text("out/manifest.json"), "\"name\": \"another\""));
}

TEST_CASE("parts of another study are refused") {
  const StudyPlace place;
  REQUIRE(place.paceline({"study", "study.yaml", "-o", "out", "--shard", "1/2"}).exit_code == 0);
  REQUIRE(place.paceline({"study", "study.yaml", "-o", "out", "--shard", "2/2", "--set", "stop.epochs=1"})
              .exit_code == 0);
  const ProgramResult merged = place.paceline({"study", "merge", "out"});
  CHECK(merged.exit_code == 2);
  CHECK(contains(merged.err, "belongs to another study"));
}

#ifdef PACELINE_WITH_KERNELS
TEST_CASE("a run that fails is kept with its message, does not stop the rest, and is run again") {
  const StudyPlace place;
  // A learner that needs files: there is a folder, but nothing in it. Only a run finds out.
  std::string text = test::throughput_scenario;
  text.replace(text.find("kind: built-in-images"), 21, "kind: mnist, path: data");
  fs::create_directory(place.path() / "data");
  place.write("scenario.yaml", text);
  place.write("study.yaml",
              "study: s\nbase: scenario.yaml\nreplications: 1\nvary: [{name: learner, key: learner.kind, "
              "values: [none, network]}]\n");
  const ProgramResult result = place.paceline({"study", "study.yaml", "-o", "out"});
  CAPTURE(result.err);
  CHECK(result.exit_code == 1);
  CHECK(contains(result.err, "error: learner network, replication 0: "));
  CHECK(contains(result.err, "2 runs: 1 done, 1 failed, 0 missing"));
  CHECK(lines_with(place.text("out/runs.csv"), ",failed,") == 1);
  CHECK(contains(place.paceline({"study", "study.yaml", "-o", "out"}).err,
                 "1 of 2 runs are done already, 1 to do"));
}
#else
TEST_CASE("without the kernels module a study that trains networks says so once, before its first run") {
  const StudyPlace place;
  const ProgramResult result =
      place.paceline({"study", "study.yaml", "-o", "out", "--set", "learner.kind=network"});
  CAPTURE(result.err);
  CHECK(result.exit_code == 2);
  CHECK(lines_with(result.err, "needs the module paceline-kernels.so, which is missing") == 1);
  CHECK_FALSE(contains(result.err, "failed"));
  CHECK_FALSE(fs::exists(place.path() / "out/runs.csv"));
}

TEST_CASE("without the kernels module the runs of a mixed study that train nothing are carried out") {
  // Two combinations, one replication: the first part of two has the run without a network, the second the
  // other.
  const StudyPlace place;
  place.write("study.yaml",
              "study: s\nbase: scenario.yaml\nreplications: 1\nvary: [{name: learner, key: learner.kind, "
              "values: [none, network]}]\n");
  const ProgramResult without = place.paceline({"study", "study.yaml", "-o", "out", "--shard", "1/2"});
  CAPTURE(without.err);
  CHECK(without.exit_code == 0);
  CHECK(place.paceline({"study", "study.yaml", "-o", "out", "--shard", "2/2"}).exit_code == 2);
}
#endif

TEST_CASE("folders of combinations are written on request, from the same runs") {
  const StudyPlace place;
  REQUIRE(place.paceline({"study", "study.yaml", "-o", "out"}).exit_code == 0);
  CHECK_FALSE(fs::exists(place.path() / "out/0001-asp-speed-1"));
  REQUIRE(place.paceline({"study", "study.yaml", "-o", "out", "--folders"}).exit_code == 0);
  CHECK(fs::exists(place.path() / "out/0001-asp-speed-1/summary.csv"));
  CHECK(fs::exists(place.path() / "out/0006-bsp-speed-0-25/attribution.csv"));
}

TEST_CASE("a study that cannot be carried out is refused before the first run") {
  const StudyPlace place;
  place.write("file", "");
  CHECK(place.paceline({"study", "study.yaml", "-o", "file/below"}).exit_code == 2);
  CHECK(place.paceline({"study", "study.yaml", "--submit", "pbs"}).exit_code == 2);
  CHECK(place.paceline({"search", "study.yaml"}).exit_code == 2);
  place.write("none.yaml", std::string(study_text) + "exclude: [{variant: [ASP, BSP]}]\n");
  const ProgramResult none = place.paceline({"study", "none.yaml", "--list"});
  CHECK(none.exit_code == 2);
  CHECK(contains(none.err, "none.yaml:11:10: error: this leaves no combination"));
  fs::create_directory(place.path() / "notes");
  place.write("notes/mine.txt", "keep");
  const ProgramResult foreign = place.paceline({"study", "study.yaml", "-o", "notes", "--force"});
  CHECK(foreign.exit_code == 2);
  CHECK(fs::exists(place.path() / "notes/mine.txt"));
}

TEST_CASE("a full disk is reported, and what was finished is kept") {
  const StudyPlace place;
  const fs::path disk = place.path() / "disk";
  fs::create_directory(disk);
  if (mount("none", disk.c_str(), "tmpfs", 0, "size=160k") != 0) {
    MESSAGE("skipped: no small file system can be mounted here");
    return;
  }
  const ProgramResult full =
      place.paceline({"study", "study.yaml", "-o", "disk/out", "--set", "replications=400", "--set",
                      "stop.epochs=0.05", "--set", "evaluation.every=64 samples"});
  CAPTURE(full.err);
  CHECK(full.exit_code == 2);
  CHECK(contains(full.err, "cannot write"));
  CHECK(mount("none", disk.c_str(), "tmpfs", MS_REMOUNT, "size=20m") == 0);
  const ProgramResult rest =
      place.paceline({"study", "study.yaml", "-o", "disk/out", "--set", "replications=2", "--set",
                      "stop.epochs=0.05", "--set", "evaluation.every=64 samples"});
  CAPTURE(rest.err);
  CHECK(rest.exit_code == 0);
  umount(disk.c_str());
}
