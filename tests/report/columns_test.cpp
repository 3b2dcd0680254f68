// The table of result files and the files that are really written are the same.
#include <cstdlib>
#include <filesystem>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/base/atomic_file.hpp"
#include "sim/report/output/packed_run.hpp"
#include "sim/report/output/result_files.hpp"
#include "sim/report/output/results_folder.hpp"
#include "sim/report/statistics/comparison.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/test_job.hpp"

using namespace paceline;
namespace fs = std::filesystem;

namespace {

// Results of a small job with two phases, with everything asked for.
ScenarioResults some_results() {
  test::TestJob job;
  job.network = {BytesPerSecond{1e3}, Seconds{0.01}, BytesPerSecond{2e3}};
  job.server_rate = BytesPerSecond{1e3};
  PhaseConfig asp;
  asp.policy = "asp";
  job.phases = {PhaseConfig{}, asp};
  job.phases.front().length = ShareOfJob{0.5};
  job.reaction = {"elastic", {{"window", 1}, {"consecutive", 1}}};
  job.heterogeneity.stragglers = {
      {.worker = 1, .from = Seconds{20.0}, .duration = Seconds{1e6}, .slowdown = 2.0}};
  ScenarioResults results;
  results.recording = {.iterations = true, .trace = true};
  for (std::uint32_t r = 0; r < 2; ++r) {
    job.seed = {1, r};
    RunRecorder recorder(job.seed, results.recording);
    job.observer = &recorder;
    const Seconds end = job.run_ideal().end;
    results.runs.push_back(recorder.finish(end, std::nullopt));
    results.runs.back().resources.push_back({"worker 0 up", Bytes{1e4}, Seconds{10.0}, Seconds{5.0}});
  }
  Scenario& scenario = results.loaded.scenario;
  scenario.name = "a \"test\" <of> names";
  scenario.cluster.workers = job.workers;
  scenario.synchronization.resize(job.phases.size());
  scenario.reaction = ReactionEntry{};
  scenario.job.dataset.train_samples = job.total_samples;
  for (const char* value : {"bsp", "asp"}) {
    const std::string phase = fmt::format("synchronization.{}", value == std::string("bsp") ? 0 : 1);
    results.loaded.values.push_back({phase + ".policy", value, "test"});
    results.loaded.values.push_back({phase + ".transport", "server", "test"});
  }
  return results;
}

std::string first_line(const fs::path& file) {
  const std::string text = read_file(file);
  return text.substr(0, text.find('\n'));
}

}  // namespace

TEST_CASE("every file that is written has the documented columns, and every documented file is written") {
  const test::TemporaryFolder folder;
  const ScenarioResults results = some_results();
  write_results(folder.path(), results, {});
  for (const ResultFile& file : result_files()) {
    INFO(file.name);
    REQUIRE(fs::exists(folder.path() / file.name));
    if (file.columns.empty()) continue;
    std::string header;
    for (const ColumnText& column : file.columns) header += (header.empty() ? "" : ",") + column.name;
    CHECK(first_line(folder.path() / file.name) == header);
  }
  for (const auto& entry : fs::directory_iterator(folder.path()))
    CHECK(std::ranges::count(result_files(), entry.path().filename().string(), &ResultFile::name) == 1);
}

TEST_CASE("what was not asked for is not written") {
  const test::TemporaryFolder folder;
  ScenarioResults results = some_results();
  results.recording = {};
  for (RunResult& run : results.runs) run.trace.reset();
  write_results(folder.path(), results, {});
  for (const char* file : {"iterations.csv", "activities.csv", "trace.json"})
    CHECK_FALSE(fs::exists(folder.path() / file));
}

TEST_CASE("the trace is JSON with named tracks, and its worker events lie within the run without overlap") {
  const test::TemporaryFolder folder;
  const ScenarioResults results = some_results();
  write_results(folder.path(), results, {});
  const auto trace = nlohmann::json::parse(read_file(folder.path() / "trace.json"));
  std::map<std::pair<int, int>, std::string> names;
  std::map<std::pair<int, int>, double> until_us;
  std::map<std::string, int> kinds;
  for (const auto& event : trace.at("traceEvents")) {
    const auto kind = event.at("ph").get<std::string>();
    ++kinds[kind];
    const std::pair track{event.at("pid").get<int>(), event.at("tid").get<int>()};
    if (kind == "M" && event.at("name") == "thread_name") names[track] = event.at("args").at("name");
    if (kind != "X") continue;
    REQUIRE(names.contains(track));
    const double begin_us = event.at("ts").get<double>();
    // Rounding of a begin and a duration apart: far below a nanosecond.
    CHECK(begin_us >= until_us[track] - 1e-4);
    until_us[track] = begin_us + event.at("dur").get<double>();
    CHECK(until_us[track] <= results.runs[0].end_time.value() * 1e6 + 1e-3);
  }
  CHECK(kinds["X"] > 100);
  CHECK(kinds["i"] >= 2);  // evaluations at the start and at the end
  const std::vector<std::string> wanted = {"worker 0", "worker 3", "server 0", "phases", "evaluations"};
  for (const std::string& name : wanted)
    CHECK(std::ranges::any_of(names, [&](const auto& entry) { return entry.second == name; }));
}

TEST_CASE("a packed run with everything recorded comes back the same") {
  const ScenarioResults results = some_results();
  const RunResult& run = results.runs[0];
  const RunResult back = unpack_result(pack(run));
  CHECK(pack(back) == pack(run));
  CHECK(back.attribution == run.attribution);
  CHECK(back.resources.back().name == "worker 0 up");
  CHECK(back.resources.front().bytes == std::nullopt);
  REQUIRE(back.decisions.size() >= 2);  // an alarm and a drop
  CHECK(back.decisions.size() == run.decisions.size());
  CHECK(back.decisions[1].kind == run.decisions[1].kind);
  CHECK(back.decisions[0].throughput == run.decisions[0].throughput);
  CHECK(back.balances.back().cause == run.balances.back().cause);
  CHECK(back.iterations.size() == run.iterations.size());
  CHECK(back.iterations.back().fate == run.iterations.back().fate);
  CHECK(back.trace->activities.size() == run.trace->activities.size());
}
