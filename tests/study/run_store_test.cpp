#include "sim/study/store/run_store.hpp"

#include <csignal>

#include <SQLiteCpp/SQLiteCpp.h>
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/base/atomic_file.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/study/study_results.hpp"
#include "sim/study/study_runs.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace paceline;

namespace {

PlannedStudy some_study(int points = 2, int replications = 3) {
  PlannedStudy study{.name = "s",
                     .question = "q?",
                     .command = "paceline study s.yaml",
                     .figures = "[]",
                     .columns = {"level"},
                     .points = {}};
  for (int p = 0; p < points; ++p) {
    PlannedPoint point;
    point.name = fmt::format("level {}", p);
    point.labels = {fmt::format("{}", p)};
    point.digest = fmt::format("digest-{}", p);
    point.replications = replications;
    point.seed = 4;
    point.target_accuracy = 0.5;
    study.points.push_back(point);
  }
  return study;
}

// A run that took `time_s`.
StoredRun run_taking(const std::string& digest, std::uint32_t replication, double time_s) {
  StoredRun run{.id = run_id(digest, replication), .status = RunStatus::done, .message = {}, .summary = {}};
  run.summary.emplace();
  run.summary->end_time = Seconds{time_s};
  run.summary->time_to_accuracy = Seconds{time_s};
  return run;
}

std::vector<StoredRun> all_runs(RunStore& store) {
  std::vector<StoredRun> runs;
  store.for_each_run([&](const StoredRun& run) { runs.push_back(run); });
  return runs;
}

}  // namespace

TEST_CASE("a run's id is that of its content: equal for equal content, another for another replication") {
  CHECK(run_id("a", 1) == run_id("a", 1));
  CHECK(run_id("a", 1) != run_id("a", 2));
  CHECK(run_id("a", 1) != run_id("b", 1));
  CHECK(run_id("a1", 1) != run_id("a", 11));
  CHECK(run_id("a", 1).size() == 16);
}

TEST_CASE("a store gives back its plan and its runs, in the order of the plan, after it was closed") {
  const test::TemporaryFolder folder;
  {
    RunStore store(folder.path() / "study.sqlite");
    CHECK_FALSE(store.plan().has_value());
    store.write_plan(some_study());
    store.record(run_taking("digest-1", 2, 7.5));
    store.record(run_taking("digest-0", 1, 3.25));
  }
  RunStore store(folder.path() / "study.sqlite");
  const PlannedStudy study = *store.plan();
  CHECK(study.question == "q?");
  CHECK(study.columns == std::vector<std::string>{"level"});
  REQUIRE(study.points.size() == 2);
  CHECK(study.points[1].labels == std::vector<std::string>{"1"});
  CHECK(study.points[1].target_accuracy == 0.5);
  const std::vector<StoredRun> runs = all_runs(store);
  REQUIRE(runs.size() == 6);
  CHECK(runs[1].status == RunStatus::done);
  CHECK(runs[1].summary->end_time.value() == 3.25);
  CHECK(runs[5].summary->end_time.value() == 7.5);
  CHECK(runs[0].status == RunStatus::missing);
  CHECK(store.counts().done == 2);
  CHECK(store.counts().missing() == 4);
}

TEST_CASE(
    "missing are the runs that are not done, failed ones among them; every replication of one before the "
    "next") {
  const test::TemporaryFolder folder;
  RunStore store(folder.path() / "study.sqlite");
  const PlannedStudy study = some_study(2, 2);
  store.write_plan(study);
  store.record(run_taking("digest-0", 0, 1.0));
  StoredRun failed = run_taking("digest-1", 0, 1.0);
  failed.status = RunStatus::failed;
  failed.message = "it broke";
  store.record(failed);
  const std::vector<PlannedRun> missing = missing_runs(study, store.done(), std::nullopt);
  REQUIRE(missing.size() == 3);
  CHECK(missing[0].point == 1);
  CHECK(missing[0].replication == 0);
  CHECK(missing[1].point == 0);
  CHECK(missing[1].replication == 1);
  CHECK(failures(study, store) == std::vector<std::string>{"level 1, replication 0: it broke"});
  // Done now: the message is gone, and nobody sees it twice.
  store.record(run_taking("digest-1", 0, 2.0));
  CHECK(store.counts().failed == 0);
  CHECK(store.counts().done == 2);
}

TEST_CASE("parts of a study are disjoint and together everything") {
  const PlannedStudy study = some_study(3, 4);
  std::set<std::string> ids;
  std::size_t count = 0;
  for (std::size_t i = 1; i <= 5; ++i)
    for (const PlannedRun& run : missing_runs(study, {}, Shard{i, 5})) {
      ids.insert(run.id);
      ++count;
    }
  CHECK(count == 12);
  CHECK(ids.size() == 12);
}

TEST_CASE("combinations of equal content share their runs") {
  PlannedStudy study = some_study(2, 3);
  study.points[1].digest = study.points[0].digest;
  CHECK(missing_runs(study, {}, std::nullopt).size() == 3);
  const test::TemporaryFolder folder;
  RunStore store(folder.path() / "study.sqlite");
  store.write_plan(study);
  store.record(run_taking("digest-0", 0, 1.0));
  CHECK(store.counts().done == 2);
}

TEST_CASE("merging takes what is done elsewhere, prefers done to failed, and again changes nothing") {
  const test::TemporaryFolder folder;
  RunStore store(folder.path() / "study.sqlite");
  store.write_plan(some_study());
  StoredRun failed = run_taking("digest-0", 0, 1.0);
  failed.status = RunStatus::failed;
  store.record(failed);
  store.record(run_taking("digest-0", 1, 5.0));
  {
    RunStore part(folder.path() / "part.sqlite");
    part.write_plan(some_study());
    part.record(run_taking("digest-0", 0, 2.0));
    StoredRun worse = run_taking("digest-0", 1, 1.0);
    worse.status = RunStatus::failed;
    part.record(worse);
    part.record(run_taking("digest-1", 0, 3.0));
  }
  CHECK(store.merge(folder.path() / "part.sqlite") == 2);
  CHECK(store.merge(folder.path() / "part.sqlite") == 0);
  const std::vector<StoredRun> runs = all_runs(store);
  CHECK(runs[0].summary->end_time.value() == 2.0);
  CHECK(runs[1].summary->end_time.value() == 5.0);
  CHECK(runs[3].summary->end_time.value() == 3.0);
  CHECK(store.counts().done == 3);
}

TEST_CASE("a compacted store has the same bytes whatever the order in which its runs ended") {
  const test::TemporaryFolder folder;
  const auto write = [&](const char* name, bool backwards) {
    RunStore store(folder.path() / name);
    store.write_plan(some_study());
    for (std::uint32_t i = 0; i < 6; ++i) {
      const std::uint32_t k = backwards ? 5 - i : i;
      store.record(run_taking(fmt::format("digest-{}", k / 3), k % 3, 1.0 + k));
    }
    store.compact();
    return read_file(folder.path() / name);
  };
  CHECK(write("a.sqlite", false) == write("b.sqlite", true));
}

TEST_CASE("a process that is killed while it writes leaves whole runs only") {
  const test::TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "study.sqlite";
  std::size_t before = 0;
  for (int round = 0; round < 5; ++round) {
    const pid_t child = fork();
    if (child == 0) {
      RunStore store(file);
      store.write_plan(some_study(1, 20000));
      const auto first = static_cast<std::uint32_t>(store.counts().done);
      for (std::uint32_t r = first; r < 20000; ++r) store.record(run_taking("digest-0", r, 1.0 + r));
      _exit(0);
    }
    usleep(static_cast<useconds_t>(150'000 + 37'000 * round));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    RunStore store(file);
    const std::vector<StoredRun> runs = all_runs(store);
    // Replications were written in order: what is there is a beginning without holes, each run with its own
    //                                     time.
    std::size_t done = 0;
    while (done < runs.size() && runs[done].status == RunStatus::done) ++done;
    for (std::size_t r = 0; r < done; ++r)
      REQUIRE(runs[r].summary->end_time.value() == 1.0 + static_cast<double>(r));
    CHECK((runs.empty() || store.counts().done == done));
    CHECK(done >= before);
    before = done;
  }
  CHECK(before > 0);
}

TEST_CASE("a store that another process writes is refused") {
  const test::TemporaryFolder folder;
  const RunStore store(folder.path() / "study.sqlite");
  CHECK_THROWS_WITH_AS(RunStore(folder.path() / "study.sqlite"),
                       doctest::Contains("in use by another process"), UserError);
}

TEST_CASE("what is no store, and a folder that is not there, are a user's mistake") {
  const test::TemporaryFolder folder;
  write_file_atomically(folder.path() / "notes.sqlite", std::string(5000, 'x'));
  CHECK_THROWS_WITH_AS(RunStore(folder.path() / "notes.sqlite"), doctest::Contains("is not a store of runs"),
                       UserError);
  CHECK_THROWS_WITH_AS(RunStore(folder.path() / "none" / "study.sqlite"), doctest::Contains("cannot write"),
                       UserError);
}

TEST_CASE("a store that another version wrote is refused rather than misread") {
  const test::TemporaryFolder folder;
  {
    SQLite::Database old((folder.path() / "study.sqlite").string(),
                         SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    old.exec("CREATE TABLE runs (run TEXT PRIMARY KEY, status TEXT)");
  }
  CHECK_THROWS_WITH_AS(RunStore(folder.path() / "study.sqlite"),
                       doctest::Contains("was written by another version of paceline"), UserError);
}

TEST_CASE("what is kept of a run comes back exactly, absent values included") {
  const test::TemporaryFolder folder;
  RunStore store(folder.path() / "study.sqlite");
  store.write_plan(some_study(1, 1));
  StoredRun run = run_taking("digest-0", 0, 0.1 + 0.2);
  run.summary->end_reason = "diverged";
  run.summary->samples = std::int64_t{1} << 60;
  run.summary->mean_lag = Seconds{1.0 / 3.0};
  store.record(run, std::string("\0whole", 6), "a build");
  const StoredRun back = all_runs(store).at(0);
  CHECK(back.summary->end_time == Seconds{0.1 + 0.2});
  CHECK(back.summary->end_reason == "diverged");
  CHECK(back.summary->samples == std::int64_t{1} << 60);
  CHECK(back.summary->mean_lag == Seconds{1.0 / 3.0});
  CHECK_FALSE(back.summary->final_accuracy.has_value());
  CHECK(store.packed(run.id) == std::string("\0whole", 6));
  CHECK(store.done("a build").contains(run.id));
  CHECK(store.done("another build").empty());
}

TEST_CASE("a varied name may not be one of the results' own columns") {
  const test::TemporaryFolder folder;
  RunStore store(folder.path() / "study.sqlite");
  PlannedStudy study = some_study();
  study.columns = {"updates"};
  CHECK_THROWS_WITH_AS(store.write_plan(study), doctest::Contains("a column `updates` of their own"),
                       UserError);
}

TEST_CASE("runs.csv has a row for every planned run, with labels and metrics") {
  const test::TemporaryFolder folder;
  RunStore store(folder.path() / "study.sqlite");
  PlannedStudy study = some_study(2, 1);
  study.points[1].has_assumed_learner = true;
  store.write_plan(study);
  CHECK(store.plan()->points[1].has_assumed_learner);
  store.record(run_taking("digest-1", 0, 2.5));
  const std::string csv = runs_csv(study, store);
  CHECK(csv.starts_with("point,level,replication,seed,assumed_learner,run,status,"));
  CHECK(csv.find(fmt::format("\n1,0,0,4,0,{},missing,", run_id("digest-0", 0))) != csv.npos);
  CHECK(csv.find(fmt::format("\n2,1,0,4,1,{},done,", run_id("digest-1", 0))) != csv.npos);
  CHECK(csv.find(",2.5,") != csv.npos);
}

TEST_CASE("a study that varies the seed has one column of it") {
  const test::TemporaryFolder folder;
  RunStore store(folder.path() / "study.sqlite");
  PlannedStudy study = some_study(2, 1);
  study.columns = {"seed"};
  store.write_plan(study);
  const std::string csv = runs_csv(study, store);
  CHECK(csv.starts_with("point,seed,replication,assumed_learner,run,status,"));
  CHECK(csv.find(fmt::format("\n2,1,0,0,{},missing,", run_id("digest-1", 0))) != csv.npos);
}
