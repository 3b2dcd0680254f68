#include "plots/data/results.hpp"

#include <doctest/doctest.h>

#include "sim/base/diagnostic.hpp"
#include "tests/plots/synthetic_results.hpp"

namespace paceline::plots {
namespace {

using testing::SyntheticRun;
using testing::TemporaryFolder;
using testing::write_run;
using testing::write_study;

// The message of the UserError that reading raises; empty when there is none.
std::string complaint_about(const std::filesystem::path& folder) {
  try {
    static_cast<void>(read_results(folder));
    return "";
  } catch (const UserError& error) {
    return error.what();
  }
}

void replace(const std::filesystem::path& file, const std::string& content) {
  write_file_atomically(file, content);
}

TEST_CASE("a results folder is read whole") {
  const TemporaryFolder folder;
  const auto runs = read_results(write_run(folder.path() / "run", {.name = "A, B", .high_s = std::nullopt}));
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].name == "A, B");
  CHECK(runs[0].curves.size() == 3);
  CHECK(runs[0].curves[1][1].accuracy == 0.4);
  CHECK(runs[0].time_median_s == 8.0);
  CHECK_FALSE(runs[0].time_high_s.has_value());
  CHECK(runs[0].horizon_s == 8.0);
  // Batches of replication 0 only: two workers, two rows each.
  CHECK(runs[0].batches.size() == 4);
}

TEST_CASE("runs with an assumed learner say so in their names, others do not") {
  const TemporaryFolder folder;
  const std::filesystem::path run = write_run(folder.path() / "run", {.name = "ASP"});
  const auto name_with = [&](const std::string& kind) {
    replace(run / "manifest.json",
            R"({"format": "paceline-results", "version": 1, "name": "ASP", "scenario": {"learner.kind": ")" +
                kind + "\"}}");
    return read_results(run).front().name;
  };
  CHECK(name_with("assumed") == "ASP (assumed learner)");
  CHECK(name_with("statistical") == "ASP");
}

TEST_CASE("a study's variants come in the study's order, whatever their folders are called") {
  const TemporaryFolder folder;
  const auto runs = read_results(write_study(folder.path(), {{.name = "zeta"}, {.name = "../alpha"}}));
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].name == "zeta");
  CHECK(runs[1].name == "../alpha");
}

TEST_CASE("a study without one of its variants is refused, naming it") {
  const TemporaryFolder folder;
  write_study(folder.path(), {{.name = "one"}, {.name = "two"}});
  std::filesystem::remove_all(folder.path() / "variant-8");
  CHECK(complaint_about(folder.path()).find("`two`") != std::string::npos);
}

TEST_CASE("a folder that holds no results is refused, naming it") {
  const TemporaryFolder folder;
  CHECK(complaint_about(folder.path()).find(folder.path().string()) != std::string::npos);
  CHECK(complaint_about(folder.path() / "absent").find("absent is not a folder") != std::string::npos);
}

TEST_CASE("each missing file is named") {
  for (const char* file : {"summary.json", "summary.csv", "curve.csv", "batches.csv"}) {
    const TemporaryFolder folder;
    write_run(folder.path(), {});
    std::filesystem::remove(folder.path() / file);
    CHECK(complaint_about(folder.path()).find((folder.path() / file).string()) != std::string::npos);
  }
}

TEST_CASE("broken CSV is refused with file and line") {
  struct Case {
    const char* content;
    const char* expected;
  };
  for (const Case& broken : {
           Case{"", "curve.csv:1: the file is empty"},
           Case{"replication,time_s,acc\n0,0,0.1\n", "curve.csv:1: there is no column `accuracy`"},
           Case{"replication,time_s,accuracy\n", "curve.csv holds no evaluation"},
           Case{"replication,time_s,accuracy\n0,0,0.1\n0,1\n", "curve.csv:3: 2 cells"},
           Case{"replication,time_s,accuracy\n0,0,nan\n", "curve.csv:2:5: `nan` in column `accuracy`"},
           Case{"replication,time_s,accuracy\n0,0,\n", "curve.csv:2:5: `` in column `accuracy`"},
           Case{"replication,time_s,accuracy\n-1,0,0.1\n", "curve.csv:2:1: `-1` in column `replication`"},
           Case{"replication,time_s,accuracy\n0,2,0.1\n0,1,0.2\n", "time runs backwards"},
           Case{"replication,time_s,accuracy\n0,0,\"0.1\n", "curve.csv:2: a quoted cell does not end"},
       }) {
    const TemporaryFolder folder;
    write_run(folder.path(), {});
    replace(folder.path() / "curve.csv", broken.content);
    CAPTURE(broken.content);
    CHECK(complaint_about(folder.path()).find(broken.expected) != std::string::npos);
  }
}

TEST_CASE("broken JSON is refused, naming file and key") {
  const TemporaryFolder folder;
  write_run(folder.path(), {});
  replace(folder.path() / "summary.json", R"({"target_accuracy": "much"})");
  CHECK(complaint_about(folder.path()).find("summary.json: the key `target_accuracy`") != std::string::npos);
  replace(folder.path() / "summary.json", "{");
  CHECK(complaint_about(folder.path()).find("summary.json is not valid JSON") != std::string::npos);
  replace(folder.path() / "manifest.json", R"({"format": "other", "version": 1})");
  CHECK(complaint_about(folder.path()).find("unknown format `other`") != std::string::npos);
  replace(folder.path() / "manifest.json", R"({"format": "paceline-results", "version": 2, "name": "x"})");
  CHECK(complaint_about(folder.path()).find("version 2 is not supported") != std::string::npos);
}

TEST_CASE("contradictory summaries are refused") {
  const TemporaryFolder folder;
  CHECK(complaint_about(write_run(folder.path() / "a", {.reached = 4})).find("4 of 3") != std::string::npos);
  CHECK(complaint_about(write_run(folder.path() / "b", {.low_s = 9.5})).find("interval") !=
        std::string::npos);
  CHECK(complaint_about(write_run(folder.path() / "c", {.low_s = std::nullopt})).find("interval") !=
        std::string::npos);
}

}  // namespace
}  // namespace paceline::plots
