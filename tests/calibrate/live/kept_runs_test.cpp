#include "calibrate/live/kept_runs.hpp"

#include <filesystem>
#include <string>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "sim/base/diagnostic.hpp"
#include "sim/report/output/packed_run.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/text.hpp"

using namespace paceline;
using namespace paceline::live;
using paceline::test::contains;

namespace {

RealRun kept_run(std::uint32_t replication) {
  RealRun run{.restarts = {Seconds{0.1 + 0.2}, Seconds{4.0}},
              .began = "2026-01-01T00:00:00Z",
              .ended = "2026-01-01T00:00:03Z",
              .took = Seconds{1.0 / 3.0},
              .peak_memory_mib = 12.5,
              .sitting = 2,
              .failures = {"worker 0 was killed"},
              .notes = {"a note"}};
  run.result.seed.replication = replication;
  run.result.end_time = Seconds{2.0 / 3.0};
  run.communication.server_request = Seconds{1e-4};
  run.communication.per_message = Seconds{3e-5};
  return run;
}

}  // namespace

TEST_CASE("runs that were kept come back as they were, by replication, up to the first that is missing") {
  const test::TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "kept.sqlite";
  {
    KeptRuns kept(file, "it holds work");
    CHECK(kept.begun().empty());
    kept.begin("{}");
    for (const std::uint32_t replication : {1U, 0U, 3U}) kept.keep("a", kept_run(replication));
    kept.keep("b", kept_run(0));
  }
  KeptRuns kept(file, "it holds work");
  CHECK(kept.begun() == "{}");
  const std::vector<RealRun> runs = kept.runs_of("a");
  REQUIRE(runs.size() == 2);
  CHECK(kept.runs_of("b").size() == 1);
  CHECK(kept.runs_of("c").empty());
  const RealRun before = kept_run(1);
  CHECK(pack(runs[1].result) == pack(before.result));
  CHECK_FALSE(runs[1].machine);
  CHECK(runs[1].communication.server_request == before.communication.server_request);
  CHECK(runs[1].communication.per_message == before.communication.per_message);
  CHECK(runs[1].restarts == before.restarts);
  CHECK(runs[1].began == before.began);
  CHECK(runs[1].ended == before.ended);
  CHECK(runs[1].took == before.took);
  CHECK(runs[1].peak_memory_mib == before.peak_memory_mib);
  CHECK(runs[1].sitting == 2);
  CHECK(runs[1].failures == before.failures);
  CHECK(runs[1].notes == before.notes);
  kept.finish();
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("only the command and the program that began the work go on with it, on a machine as it was") {
  const test::TemporaryFolder folder;
  const KeptRuns kept(folder.path() / "kept.sqlite", "DIR holds work");
  const nlohmann::json begun = {{"command", "paceline live a"}, {"program", "this"}, {"machine", "awake"}};
  const auto refusal = [&](const BegunBy& by) -> std::string {
    try {
      kept.check_begun_by(begun, by);
    } catch (const UserError& error) {
      return error.what();
    }
    return "";
  };
  CHECK(refusal({"paceline live a", "this", "awake"}).empty());
  CHECK(contains(refusal({"paceline live b", "this", "awake"}),
                 "DIR holds work by another command: paceline live a"));
  const std::string other = refusal({"paceline live a", "another", "awake"});
  CHECK(contains(other, "DIR holds work that cannot go on: this is not the program that began it"));
  CHECK(contains(other, "--force begins anew"));
  CHECK(contains(refusal({"paceline live a", "this", "idle"}), "jobs had awake, and would have idle now"));
}
