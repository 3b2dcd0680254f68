#include "sim/report/output/results_folder.hpp"

#include <algorithm>
#include <array>
#include <ctime>
#include <optional>

#include <fmt/format.h>
#include <unistd.h>

#include "sim/base/atomic_file.hpp"
#include "sim/base/json.hpp"
#include "sim/report/output/build_info.hpp"
#include "sim/report/output/result_files.hpp"
#include "sim/report/output/trace_file.hpp"
#include "sim/report/output/validity_table.hpp"
#include "sim/report/statistics/expectations.hpp"
#include "sim/report/statistics/remarks.hpp"

namespace paceline {
namespace {

// Keys stay in the order written here: manifests are read by people too.
using json = nlohmann::ordered_json;

json profile_manifest(const Profile& profile) {
  return {{"file", profile.path},
          {"fnv1a", profile.content_hash},
          {"network", profile.network},
          {"cpu_model", profile.cpu_model}};
}

// Of workers that are other machines than the job's profile, by worker.
json worker_profiles(const Profiles& profiles) {
  json workers = json::object();
  for (std::size_t w = 0; w < profiles.of_worker.size(); ++w)
    if (profiles.of_worker[w] != 0) workers[std::to_string(w)] = profile_manifest(profiles.of(w));
  return workers;
}

json scenario_manifest(const ScenarioResults& results, const Provenance& provenance) {
  const Scenario& scenario = results.loaded.scenario;
  return {{"format", "paceline-results"},
          {"version", 1},
          {"name", scenario.name},
          {"question", scenario.question},
          {"command", provenance.command},
          {"paceline", software_json()},
          {"seed", scenario.seed},
          {"replications", scenario.replications},
          {"target_accuracy", scenario.stop.accuracy},
          {"network_model", results.network_model},
          {"profile", profile_manifest(results.profiles.job())},
          {"worker_profiles", worker_profiles(results.profiles)},
          {"failures", results.failures},
          {"combination", results.combination},
          {"validity", validity_json(results.validity)},
          {"evidence", results.evidence},
          {"notes", results.notes},
          {"warnings", results.loaded.warnings},
          {"scenario", resolved_values(results.loaded)}};
}

json run_info(const Provenance& provenance) {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  std::array<char, 32> date{};
  std::strftime(date.data(), date.size(), "%Y-%m-%dT%H:%M:%SZ", &utc);
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  json info = {{"date", date.data()},
               {"host", host.data()},
               {"jobs", provenance.jobs},
               {"wall_time_s", provenance.wall_time_s},
               {"peak_memory_mib", provenance.peak_memory_mib}};
  if (!provenance.self_profile.empty()) info["self_profile_s"] = provenance.self_profile;
  return info;
}

json summary_json(const ScenarioResults& results, const TimeToAccuracy& summary) {
  const std::optional<double> target = results.loaded.scenario.stop.accuracy;
  json j = {{"name", results.loaded.scenario.name},
            {"target_accuracy", target},
            {"replications", summary.runs},
            {"horizon_s", summary.horizon.value()}};
  j["validity"] = validity_json(results.validity);
  j["bottleneck"] = bottleneck_json(find_bottleneck(results.runs));
  j["expectations"] = expectations_json(evaluate_expectations(results.loaded, summaries_of(results.runs)));
  const Outcomes outcomes = count_outcomes(summaries_of(results.runs));
  j["outcome"] = outcomes.word(target.has_value());
  j["diverged"] = outcomes.diverged;
  j["stalled"] = outcomes.stalled;
  if (!target) return j;
  j["never_reached"] = outcomes.done;
  j["reached"] = summary.reached;
  j["p_reach"] = summary.p_reach.value;
  j["p_reach_low"] = summary.p_reach.interval.low;
  j["p_reach_high"] = summary.p_reach.interval.high;
  j["time_to_accuracy_s"] = {{"median", json(summary.median)},
                             {"kaplan_meier_median", json(summary.kaplan_meier_median)},
                             {"low", json(summary.low)},
                             {"high", json(summary.high)}};
  j["restricted_mean_s"] = summary.restricted_mean.value();
  return j;
}

void write_json(const std::filesystem::path& file, const json& content) {
  // Text from scenario files may hold any bytes: what is not UTF-8 is replaced rather than refused here.
  write_file_atomically(file, content.dump(2, ' ', false, json::error_handler_t::replace) + "\n");
}

}  // namespace

nlohmann::ordered_json resolved_values(const LoadedScenario& loaded) {
  json values = json::object();
  for (const ResolvedValue& value : loaded.values)
    if (!value.is_absent) values[value.key] = value.value;
  return values;
}

void write_results(const std::filesystem::path& folder, const ScenarioResults& results,
                   const Provenance& provenance) {
  const std::vector<RunSummary> runs = summaries_of(results.runs);
  const TimeToAccuracy summary = summarize_time_to_accuracy(runs, longest(runs));
  json manifest = scenario_manifest(results, provenance);
  if (!results.engine.empty()) manifest["engine"] = results.engine;
  write_json(folder / "manifest.json", manifest);
  write_run_info(folder, provenance);
  write_json(folder / "summary.json", summary_json(results, summary));
  for (const ResultFile& file : result_files()) {
    const std::string text = file.text ? file.text(results) : std::string();
    if (!text.empty()) write_file_atomically(folder / file.name, text);
  }
  // A trace shows one run: the first replication that could be carried out.
  const RunResult& first = results.runs.front();
  if (first.trace) write_file_atomically(folder / "trace.json", chrome_trace(first, results.loaded));
}

void write_run_info(const std::filesystem::path& folder, const Provenance& provenance) {
  write_json(folder / "run-info.json", run_info(provenance));
}

json software_json() {
  const BuildInfo& build = build_info();
  return {{"version", build.version},
          {"commit", build.commit},
          {"libtorch", build.libtorch},
          {"compiler", build.compiler}};
}

json bottleneck_json(const std::optional<Bottleneck>& bottleneck) {
  if (!bottleneck) return nullptr;
  return {{"resource", bottleneck->resource}, {"saturated_percent", 100.0 * bottleneck->share}};
}

json expectations_json(const std::vector<ExpectationOutcome>& outcomes) {
  json all = json::array();
  for (const ExpectationOutcome& outcome : outcomes)
    all.push_back({{"key", outcome.key},
                   {"expected", outcome.expected},
                   {"measured", outcome.value},
                   {"held", outcome.held}});
  return all;
}

}  // namespace paceline
