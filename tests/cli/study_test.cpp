// Studies of many runs as a person at a terminal meets them: varied, interrupted, split, merged, compared,
//                                                            searched.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <signal.h>
#include <sys/mount.h>
#include <unistd.h>

#include "sim/base/atomic_file.hpp"
#include "sim/base/csv.hpp"
#include "tests/cli/round_profile.hpp"
#include "tests/cli/throughput_workplace.hpp"
#include "tests/support/text.hpp"
#include "tests/support/workplace.hpp"

using namespace paceline;
using paceline::test::contains;
using paceline::test::ProgramResult;
namespace fs = std::filesystem;

namespace {

// 2 variants x 3 speeds x 4 replications = 24 runs.
constexpr const char* study_text = R"(study: varied
question: Which, and from which speed on?
base: scenario.yaml
replications: 4
variants:
  - name: ASP
  - name: BSP
    set: {synchronization: [{policy: bsp, transport: ring}]}
vary:
  - {key: cluster.workers.1.speed, values: [1, 0.5, 0.25]}
)";
constexpr std::size_t run_count = 24;

struct StudyPlace : test::Workplace {
  StudyPlace()
      : test::Workplace(PACELINE_PROGRAM, {{"profile.json", test::round_profile("small-cnn")},
                                           {"scenario.yaml", test::throughput_scenario},
                                           {"study.yaml", study_text}}) {}
};

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

TEST_CASE("a study that is not done is drawn and compared from what is there, and says how much is missing") {
  const StudyPlace place;
  for (const char* part : {"1/3", "3/3"})
    REQUIRE(place.paceline({"study", "study.yaml", "-o", "out", "--shard", part}).exit_code == 0);
  REQUIRE(place.paceline({"study", "merge", "out"}).exit_code == 0);
  for (const auto& command : {std::vector<std::string>{"compare", "out"}, {"plot", "out", "-o", "figures"}}) {
    const ProgramResult result = place.paceline(command);
    CAPTURE(result.err);
    CHECK(result.exit_code == 0);
    CHECK(contains(result.out + result.err, "8 of 24 runs are not done"));
  }
  CHECK(fs::exists(place.path() / "figures/study.gp"));
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

TEST_CASE("the cost of a job is its time by the prices of all its workers") {
  const StudyPlace place;
  std::string priced = test::throughput_scenario;
  const std::string workers = "[{cores: 1}, {cores: 1, speed: 0.5}]";
  priced.replace(priced.find(workers), workers.size(),
                 "[{cores: 1, price: 3.6 per hour}, {cores: 1, speed: 0.5, price: 172.8 per day}]");
  place.write("scenario.yaml", priced);
  place.write("priced.yaml", test::throughput_study);
  const ProgramResult study = place.paceline({"study", "priced.yaml", "-o", "out"});
  CAPTURE(study.err);
  REQUIRE(study.exit_code == 0);
  CHECK(contains(study.out, "cost"));
  const auto compared = nlohmann::json::parse(place.paceline({"compare", "out", "--json"}).out);
  // 3.6 an hour and 172.8 / 24 = 7.2 an hour: 10.8 / 3600 a second.
  for (const nlohmann::json& one : compared["ranking"])
    CHECK(one["cost"].get<double>() == doctest::Approx(one["time_s"].get<double>() * 0.003).epsilon(1e-9));
  CHECK(compared["ranking"].size() == 2);
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

TEST_CASE("compare ranks within conditions, pairs by seed, and names who wins in each") {
  const StudyPlace place;
  REQUIRE(place.paceline({"study", "study.yaml", "-o", "out", "--set", "replications=5"}).exit_code == 0);
  // Each BSP is paired with the ASP of its own speed; the three ASPs with none, not even among each other.
  const CsvFile comparison(place.path() / "out/comparison.csv");
  for (const CsvRow& row : comparison.rows()) {
    CAPTURE(row.text("variant"));
    CHECK(row.text("pairs") == (row.text("variant").starts_with("BSP") ? "5" : ""));
    CHECK(row.number("speedup") <= 1.0);
  }
  const ProgramResult table = place.paceline({"compare", "out"});
  CAPTURE(table.out);
  CHECK(table.exit_code == 0);
  for (const char* part :
       {"Which, and from which speed on?", "ranking", "P(faster than the one above) [90 %]",
        "difference [90 %]", "total effect", "who wins between the labels of `variant`", "samples/update",
        "batch growth", "validity", "speed 0.25: ASP wins, then BSP\n", "The same everywhere: ASP wins."})
    CHECK(contains(table.out, part));
  const auto json =
      nlohmann::json::parse(place.paceline({"compare", "out", "--json", "--against", "BSP, speed 0.25"}).out);
  // The speed of a worker is met, the policy chosen: two compete at each of three speeds.
  CHECK(json.at("conditions") == nlohmann::json::array({"speed"}));
  REQUIRE(json.at("cases").size() == 3);
  REQUIRE(json.at("ranking").size() == 6);
  CHECK(json.at("cases").at(2).at("at") == "speed 0.25");
  CHECK(json.at("cases").at(2).at("winner") == "ASP, speed 0.25");
  CHECK(json.at("cases").at(2).at("reference") == "BSP, speed 0.25");
  CHECK(json.at("ranking").at(5).at("name") == "BSP, speed 0.25");
  CHECK(json.at("ranking").at(5).at("rank") == 2);
  CHECK(json.at("validity").at(0).at("quantity") == "cores");
  const auto& paired = json.at("ranking").at(4).at("against_reference");
  CHECK(paired.at("pairs") == 5);
  CHECK(paired.at("difference").at("interval_s").at("high").get<double>() < 0.0);
  CHECK(paired.at("speedup_interval").at("low") <= paired.at("speedup"));
  CHECK(paired.at("p_faster_interval").at("high").get<double>() < 1.0);
  CHECK(place.paceline({"compare", "out", "--against", "BPS, speed 1"}).exit_code == 2);
  CHECK(place.paceline({"compare", "nowhere"}).exit_code == 2);
}

TEST_CASE("a search finds the cheapest setting and says what it cost, and pays nothing again") {
  const StudyPlace place;
  place.write("search.yaml",
              "study: s\nbase: scenario.yaml\n"
              "vary: [{key: cluster.workers.1.speed, range: {from: 0.25, to: 2, points: 4}}]\n"
              "search: {minimize: core-hours, replications: 3}\n");
  const ProgramResult found = place.paceline({"search", "search.yaml", "-o", "out", "--json"});
  CAPTURE(found.err);
  REQUIRE(found.exit_code == 0);
  const auto report = nlohmann::json::parse(found.out).at(0);
  // Two cores all the time: the faster the second, the shorter.
  CHECK(report.at("best") == "speed 2");
  CHECK(report.at("cost").at("runs") == 12);
  const std::string store = place.text("out/study.sqlite");
  CHECK(place.paceline({"search", "search.yaml", "-o", "out", "--json"}).out == found.out);
  CHECK(place.text("out/study.sqlite") == store);
}

TEST_CASE("a search for money takes the workers' prices, and one that cannot begin leaves nothing behind") {
  const StudyPlace place;
  const std::string vary =
      "study: s\nbase: scenario.yaml\nvary: [{key: cluster.workers.1.speed, values: [1, 2]}]\n";
  place.write("none.yaml", vary);
  const ProgramResult none = place.paceline({"search", "none.yaml", "-o", "out"});
  CHECK(none.exit_code == 2);
  CHECK(contains(none.err, "none.yaml has no `search`"));
  place.write("money.yaml", vary + "search: {minimize: money, replications: 2}\n");
  for (const char* command : {"search", "check"}) {
    const ProgramResult unknown = place.paceline({command, "money.yaml"});
    CHECK(unknown.exit_code == 2);
    CHECK(contains(unknown.err, "no worker has a `price`"));
  }
  place.write("timed.yaml", vary + "search: {}\n");
  CHECK(contains(place.paceline({"check", "timed.yaml"}).err, "nothing says to which"));
  CHECK_FALSE(fs::exists(place.path() / "out"));
  CHECK_FALSE(fs::exists(place.path() / "results"));
  // Two workers at 3600 an hour each: 2 a second.
  place.write("money.yaml",
              vary +
                  "set: {cluster.workers.0.price: 3600 per hour, cluster.workers.1.price: 3600 per "
                  "hour}\nsearch: {minimize: money, replications: 2}\n");
  const ProgramResult found = place.paceline({"search", "money.yaml", "-o", "out", "--json"});
  CAPTURE(found.err);
  REQUIRE(found.exit_code == 0);
  const auto report = nlohmann::json::parse(found.out).at(0);
  // Each setting costs 2 · the mean of its two runs: together as much as all runs took in seconds.
  double money = 0.0;
  for (const auto& tried : report.at("tried")) money += tried.at("score").get<double>();
  CHECK(money == doctest::Approx(report.at("cost").at("simulated_s").get<double>()));
}

TEST_CASE("golden section searches along a range, once for each variant") {
  const StudyPlace place;
  place.write(
      "search.yaml",
      "study: s\nbase: scenario.yaml\nvariants: [{name: small, set: {batching.initial: 16}}, {name: large}]\n"
      "vary: [{key: cluster.workers.1.speed, range: {from: 0.25, to: 2, points: 2}}]\n"
      "search: {method: golden-section, over: speed, minimize: core-hours, replications: 2, tolerance: "
      "0.5}\n");
  const ProgramResult found = place.paceline({"search", "search.yaml", "-o", "out", "--json"});
  CAPTURE(found.err);
  REQUIRE(found.exit_code == 0);
  const auto reports = nlohmann::json::parse(found.out);
  REQUIRE(reports.size() == 2);
  CHECK(reports.at(0).at("of") == "variant small");
  CHECK(reports.at(1).at("best") == "large, speed 2");
  // 1.75 long: 4 settings, and one more for each ln(0.5/1.75) / ln 0.618 = 2.6, so 3.
  CHECK(reports.at(1).at("cost").at("settings") == 7);
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
