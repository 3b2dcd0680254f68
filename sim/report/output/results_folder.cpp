#include "sim/report/output/results_folder.hpp"

#include <algorithm>
#include <array>
#include <ctime>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "sim/base/atomic_file.hpp"
#include "sim/learning/partition.hpp"
#include "sim/report/output/build_info.hpp"
#include "sim/report/output/run_tables.hpp"
#include "sim/report/recording/bottlenecks.hpp"
#include "sim/report/recording/trace_file.hpp"
#include "sim/report/statistics/expectations.hpp"

namespace paceline {
namespace {

// Keys stay in the order written here: manifests are read by people too.
using json = nlohmann::ordered_json;

json number_or_null(const std::optional<Seconds>& time) {
  return time ? json(time->value()) : json(nullptr);
}

json resolved_values(const LoadedScenario& loaded) {
  json values = json::object();
  for (const ResolvedValue& value : loaded.values)
    if (!value.is_absent) values[value.key] = value.value;
  return values;
}

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
          {"target_accuracy", scenario.stop.accuracy ? json(*scenario.stop.accuracy) : json(nullptr)},
          {"network_model", results.network_model},
          {"profile", profile_manifest(results.profiles.job())},
          {"worker_profiles", worker_profiles(results.profiles)},
          {"failures", results.failures},
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
  return {{"date", date.data()},
          {"host", host.data()},
          {"jobs", provenance.jobs},
          {"wall_time_s", provenance.wall_time_s},
          {"peak_memory_mib", provenance.peak_memory_mib}};
}

json expectations_json(const ScenarioResults& results) {
  json outcomes = json::array();
  for (const ExpectationOutcome& outcome : evaluate_expectations(results.loaded, summaries_of(results.runs)))
    outcomes.push_back({{"key", outcome.key},
                        {"expected", outcome.expected},
                        {"measured", outcome.value ? json(*outcome.value) : json(nullptr)},
                        {"held", outcome.held}});
  return outcomes;
}

json summary_json(const ScenarioResults& results, const TimeToAccuracy& summary) {
  const std::optional<double> target = results.loaded.scenario.stop.accuracy;
  json j = {{"name", results.loaded.scenario.name},
            {"target_accuracy", target ? json(*target) : json(nullptr)},
            {"replications", summary.runs},
            {"horizon_s", summary.horizon.value()}};
  const std::optional<Bottleneck> bottleneck = find_bottleneck(results.runs);
  j["bottleneck"] =
      bottleneck ? json{{"resource", bottleneck->resource}, {"saturated_percent", 100.0 * bottleneck->share}}
                 : json(nullptr);
  j["expectations"] = expectations_json(results);
  if (!target) return j;
  j["reached"] = summary.reached;
  j["p_reach"] = summary.p_reach;
  j["p_reach_low"] = summary.p_reach_interval.low;
  j["p_reach_high"] = summary.p_reach_interval.high;
  j["time_to_accuracy_s"] = {{"median", number_or_null(summary.median)},
                             {"kaplan_meier_median", number_or_null(summary.kaplan_meier_median)},
                             {"low", number_or_null(summary.low)},
                             {"high", number_or_null(summary.high)}};
  j["restricted_mean_s"] = summary.restricted_mean.value();
  return j;
}

void write_json(const std::filesystem::path& file, const json& content) {
  // Text from scenario files may hold any bytes: what is not UTF-8 is replaced rather than refused here.
  write_file_atomically(file, content.dump(2, ' ', false, json::error_handler_t::replace) + "\n");
}

// The scenario's own words for its phases.
std::vector<PhaseLabel> phase_labels(const LoadedScenario& loaded) {
  const auto text_of = [&](std::size_t phase, const char* key) {
    const std::string path = fmt::format("synchronization.{}.{}", phase, key);
    const auto found = std::ranges::find(loaded.values, path, &ResolvedValue::key);
    return found == loaded.values.end() ? std::string() : found->value;
  };
  std::vector<PhaseLabel> labels;
  for (std::size_t i = 0; i < loaded.scenario.synchronization.size(); ++i)
    labels.push_back({text_of(i, "policy"), text_of(i, "transport")});
  return labels;
}

// What each worker draws its batches from.
std::vector<std::int64_t> data_samples(const ScenarioResults& results) {
  const Scenario& scenario = results.loaded.scenario;
  const DatasetSource& dataset = scenario.job.dataset;
  std::vector<std::int64_t> samples;
  for (std::uint64_t w = 0; w < scenario.cluster.workers.size(); ++w)
    samples.push_back(
        part_of(dataset.partition, dataset.train_samples, w, scenario.cluster.workers.size()).size());
  return samples;
}

// Only what was asked for is there; of the first replication that could be carried out.
void write_recordings(const std::filesystem::path& folder, const ScenarioResults& results) {
  const std::vector<RunResult>& runs = results.runs;
  if (results.recording.iterations) write_file_atomically(folder / "iterations.csv", iterations_csv(runs));
  if (!runs.front().trace) return;
  write_file_atomically(folder / "activities.csv", activities_csv(runs.front()));
  write_file_atomically(folder / "trace.json", chrome_trace(runs.front(), phase_labels(results.loaded),
                                                            results.loaded.scenario.name));
}

}  // namespace

void write_results(const std::filesystem::path& folder, const ScenarioResults& results,
                   const Provenance& provenance) {
  const std::vector<RunSummary> runs = summaries_of(results.runs);
  const TimeToAccuracy summary = summarize_time_to_accuracy(runs, longest(runs));
  write_json(folder / "manifest.json", scenario_manifest(results, provenance));
  write_run_info(folder, provenance);
  write_json(folder / "summary.json", summary_json(results, summary));
  write_file_atomically(folder / "summary.csv", summary_csv(results.runs));
  write_file_atomically(folder / "curve.csv",
                        curve_csv(results.runs, results.loaded.scenario.job.dataset.train_samples));
  write_file_atomically(folder / "batches.csv", batches_csv(results.runs));
  write_file_atomically(folder / "balance.csv", balance_csv(results.runs));
  write_file_atomically(folder / "workers.csv", workers_csv(results.runs, data_samples(results)));
  write_file_atomically(folder / "staleness.csv", staleness_csv(results.runs));
  write_file_atomically(folder / "phases.csv", phases_csv(results.runs, phase_labels(results.loaded)));
  if (results.loaded.scenario.reaction)
    write_file_atomically(folder / "decisions.csv", decisions_csv(results.runs));
  write_file_atomically(folder / "attribution.csv", attribution_csv(results.runs));
  write_file_atomically(folder / "bottlenecks.csv", bottlenecks_csv(results.runs));
  write_recordings(folder, results);
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

}  // namespace paceline
