#include <filesystem>
#include <fstream>
#include <limits>

#include <doctest/doctest.h>

#include "sim/base/atomic_file.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/report/output/packed_run.hpp"
#include "sim/report/output/staged_folder.hpp"
#include "sim/report/output/text_table.hpp"
#include "sim/report/recording/run_result.hpp"
#include "sim/report/statistics/comparison.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace paceline;
namespace fs = std::filesystem;

TEST_CASE("a packed run result comes back bit for bit, infinities included") {
  RunResult run;
  run.seed = {7, 3};
  run.end_reason = "diverged";
  run.end_time = Seconds{0.1 + 0.2};
  run.updates = 12;
  run.samples = 480;
  run.gradients_started = 14;
  run.gradients_applied = 12;
  run.time_to_accuracy = Seconds{1.0 / 3.0};
  run.curve = {{Seconds{0.3}, 4, 160, std::numeric_limits<double>::infinity(), 0.1}};
  run.batches = {{Seconds{0.0}, 0, WorkerId{0}, 10, 12.5, BatchLimit::maximum}};
  run.staleness = {{{1, 3}, 9}, {{0, 0}, 3}};
  const RunResult back = unpack_result(pack(run));
  CHECK(pack(back) == pack(run));
  CHECK(back.end_time == run.end_time);
  CHECK(*back.time_to_accuracy == *run.time_to_accuracy);
  CHECK(back.curve[0].loss == run.curve[0].loss);
  CHECK(back.batches[0].batch_samples == 10);
  CHECK(back.batches[0].limited_by == BatchLimit::maximum);
  CHECK(back.staleness == run.staleness);
  // mean staleness = (9·3 + 3·0) / 12
  CHECK(back.mean_staleness() == doctest::Approx(2.25));
}

TEST_CASE("a staged folder appears only when committed") {
  const test::TemporaryFolder folder;
  const fs::path place = folder.path() / "results";
  {
    const StagedFolder staged(place, false);
    write_file_atomically(staged.path() / "manifest.json", "{}");
  }
  CHECK_FALSE(fs::exists(place));
  CHECK(fs::is_empty(folder.path()));
  {
    StagedFolder staged(place, false);
    write_file_atomically(staged.path() / "manifest.json", R"({"format": "paceline-results"})");
    staged.commit();
  }
  CHECK(fs::exists(place / "manifest.json"));
}

TEST_CASE("existing results are replaced only with force, and what is not ours never") {
  const test::TemporaryFolder folder;
  const fs::path ours = folder.path() / "ours";
  fs::create_directory(ours);
  write_file_atomically(ours / "manifest.json", R"({"format": "paceline-results"})");
  CHECK_THROWS_AS(StagedFolder(ours, false), UserError);
  {
    StagedFolder staged(ours, true);
    write_file_atomically(staged.path() / "new", "");
    CHECK(fs::exists(ours / "manifest.json"));  // the old results stay until the commit
    staged.commit();
  }
  CHECK(fs::exists(ours / "new"));
  CHECK_FALSE(fs::exists(ours / "manifest.json"));

  const fs::path foreign = folder.path() / "foreign";
  fs::create_directory(foreign);
  write_file_atomically(foreign / "thesis.tex", "irreplaceable");
  CHECK_THROWS_AS(StagedFolder(foreign, true), UserError);
  CHECK(read_file(foreign / "thesis.tex") == "irreplaceable");
  CHECK_THROWS_AS(StagedFolder(foreign / "thesis.tex", true), UserError);
}

TEST_CASE("a folder whose manifest lists its files is replaced as a whole, and kept when it holds another") {
  const test::TemporaryFolder folder;
  const fs::path place = folder.path() / "validation";
  fs::create_directories(place / "inputs");
  write_file_atomically(place / "inputs" / "a.yaml", "name: a");
  write_file_atomically(
      place / "manifest.json",
      R"({"format": "paceline-validation", "files": ["manifest.json", "inputs/a.yaml", "a.sqlite"]})");
  CHECK_NOTHROW(StagedFolder(place, true));
  write_file_atomically(place / "a.sqlite-wal", "what a killed process leaves beside its store");
  CHECK_NOTHROW(StagedFolder(place, true));
  write_file_atomically(place / "inputs" / "notes.txt", "mine");
  CHECK_THROWS_AS(StagedFolder(place, true), UserError);
}

TEST_CASE("a user's own file among results is never deleted, not even with force") {
  const test::TemporaryFolder folder;
  const fs::path study = folder.path() / "study";
  fs::create_directories(study / "asp");
  write_file_atomically(study / "manifest.json", R"({"format": "paceline-study"})");
  write_file_atomically(study / "asp" / "manifest.json", R"({"format": "paceline-results"})");
  CHECK_NOTHROW(StagedFolder(study, true));
  write_file_atomically(study / "asp" / "notes.txt", "mine");
  CHECK_THROWS_AS(StagedFolder(study, true), UserError);
  CHECK(read_file(study / "asp" / "notes.txt") == "mine");
}

TEST_CASE("a manifest that is JSON but not ours is no licence to delete") {
  const test::TemporaryFolder folder;
  for (const char* content : {R"({"format": 3})", "[]", "not json", R"({"format": "npm"})"}) {
    write_file_atomically(folder.path() / "manifest.json", content);
    CHECK_THROWS_AS(StagedFolder(folder.path(), true), UserError);
  }
}

TEST_CASE("a name too long for the file system is a user's mistake") {
  CHECK_THROWS_AS(StagedFolder(fs::temp_directory_path() / std::string(300, 'x'), false), UserError);
}

TEST_CASE("variants with and without a target stand in one table, and speed-ups compare equal targets only") {
  const auto variant = [](const char* name, std::optional<double> target, double time_s) {
    ScenarioResults results;
    results.loaded.scenario.name = name;
    results.loaded.scenario.stop.accuracy = target;
    RunResult run;
    run.end_time = Seconds{time_s};
    if (target) run.time_to_accuracy = Seconds{time_s};
    results.runs.push_back(run);
    return results;
  };
  const auto compared = compare(compared_runs({variant("a", 0.7, 4.0), variant("none", std::nullopt, 9.0),
                                               variant("b", 0.7, 2.0), variant("c", 0.8, 1.0)}));
  CHECK(compared[2].speedup == 2.0);
  CHECK_FALSE(compared[1].speedup.has_value());
  CHECK_FALSE(compared[3].speedup.has_value());
  const std::string table = comparison_table(compared);
  for (const char* name : {"none", "0.8"}) CHECK(table.find(name) != std::string::npos);
}

TEST_CASE("times are printed with three digits in the unit that suits them") {
  CHECK(format_time(Seconds{0.12345}) == "0.123 s");
  CHECK(format_time(Seconds{7.0}) == "7.00 s");
  CHECK(format_time(Seconds{750.0}) == "12.5 min");
  CHECK(format_time(Seconds{11088.0}) == "3.08 h");
  // No point without a digit behind it, and no exponent.
  CHECK(format_time(Seconds{99.97}) == "100 s");
  CHECK(format_time(Seconds{3600.0 * 12345.0}) == "12345 h");
}
