#include "sim/report/results_folder.hpp"

#include <array>
#include <cmath>
#include <ctime>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "sim/base/atomic_file.hpp"
#include "sim/report/build_info.hpp"
#include "sim/report/comparison.hpp"
#include "sim/report/csv.hpp"

namespace paceline {
namespace {

// Keys stay in the order written here: manifests are read by people too.
using json = nlohmann::ordered_json;

json number_or_null(const std::optional<Seconds>& time) {
  return time ? json(time->value()) : json(nullptr);
}

json software() {
  const BuildInfo& build = build_info();
  return {{"version", build.version},
          {"commit", build.commit},
          {"libtorch", build.libtorch},
          {"compiler", build.compiler}};
}

json resolved_values(const LoadedScenario& loaded) {
  json values = json::object();
  for (const ResolvedValue& value : loaded.values)
    if (!value.is_absent) values[value.key] = value.value;
  return values;
}

json scenario_manifest(const ScenarioResults& results, const Provenance& provenance) {
  const Scenario& scenario = results.loaded.scenario;
  return {{"format", "paceline-results"},
          {"version", 1},
          {"name", scenario.name},
          {"question", scenario.question},
          {"command", provenance.command},
          {"paceline", software()},
          {"seed", scenario.seed},
          {"replications", scenario.replications},
          {"target_accuracy", scenario.stop.accuracy ? json(*scenario.stop.accuracy) : json(nullptr)},
          {"network_model", results.network_model},
          {"profile",
           {{"file", results.profile.path},
            {"fnv1a", results.profile.content_hash},
            {"network", results.profile.network},
            {"cpu_model", results.profile.cpu_model}}},
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

json summary_json(const ScenarioResults& results, const TimeToAccuracy& summary) {
  const std::optional<double> target = results.loaded.scenario.stop.accuracy;
  json j = {{"name", results.loaded.scenario.name},
            {"target_accuracy", target ? json(*target) : json(nullptr)},
            {"replications", summary.runs},
            {"horizon_s", summary.horizon.value()}};
  if (!target) return j;
  j["reached"] = summary.reached;
  j["p_reach"] = summary.p_reach;
  j["p_reach_low"] = summary.p_reach_interval.low;
  j["p_reach_high"] = summary.p_reach_interval.high;
  j["time_to_accuracy_s"] = {{"median", number_or_null(summary.median)},
                             {"low", number_or_null(summary.low)},
                             {"high", number_or_null(summary.high)}};
  j["restricted_mean_s"] = summary.restricted_mean.value();
  return j;
}

void write_json(const std::filesystem::path& file, const json& content) {
  // Text from scenario files may hold any bytes: what is not UTF-8 is replaced rather than refused here.
  write_file_atomically(file, content.dump(2, ' ', false, json::error_handler_t::replace) + "\n");
}

std::string summary_csv(const std::vector<RunResult>& runs) {
  CsvTable table({"replication", "seed", "reached", "time_to_accuracy_s", "end_time_s", "final_loss",
                  "final_accuracy", "best_accuracy", "updates", "samples", "gradients_started",
                  "mean_staleness", "end_reason"});
  for (const RunResult& run : runs) {
    const bool learned = !run.curve.empty();
    double best = 0.0;
    for (const CurvePoint& point : run.curve) best = std::max(best, point.accuracy);
    table.add(run.seed.replication)
        .add(run.seed.seed)
        .add(run.time_to_accuracy ? 1 : 0)
        .add(run.time_to_accuracy)
        .add(run.end_time)
        .add(learned ? std::optional(run.curve.back().loss) : std::nullopt)
        .add(learned ? std::optional(run.curve.back().accuracy) : std::nullopt)
        .add(learned ? std::optional(best) : std::nullopt)
        .add(run.updates)
        .add(run.samples)
        .add(run.gradients_started)
        .add(run.mean_staleness())
        .add(run.end_reason)
        .end_row();
  }
  return table.text();
}

std::string curve_csv(const ScenarioResults& results) {
  const auto dataset_samples = static_cast<double>(results.loaded.scenario.job.dataset.train_samples);
  CsvTable table({"replication", "time_s", "updates", "samples", "epoch", "loss", "accuracy"});
  for (const RunResult& run : results.runs)
    for (const CurvePoint& point : run.curve)
      table.add(run.seed.replication)
          .add(point.time)
          .add(point.updates)
          .add(point.samples)
          .add(static_cast<double>(point.samples) / dataset_samples)
          .add(std::optional(point.loss))
          .add(point.accuracy)
          .end_row();
  return table.text();
}

std::string batches_csv(const std::vector<RunResult>& runs) {
  CsvTable table({"replication", "time_s", "updates", "worker", "batch_samples"});
  for (const RunResult& run : runs)
    for (const BatchChange& change : run.batch_changes)
      for (std::size_t w = 0; w < change.batches.size(); ++w)
        table.add(run.seed.replication)
            .add(change.time)
            .add(change.updates)
            .add(w)
            .add(change.batches[w])
            .end_row();
  return table.text();
}

std::string staleness_csv(const std::vector<RunResult>& runs) {
  CsvTable table({"replication", "worker", "staleness", "updates"});
  for (const RunResult& run : runs)
    for (const auto& [key, count] : run.staleness)
      table.add(run.seed.replication).add(key.first).add(key.second).add(count).end_row();
  return table.text();
}

}  // namespace

void write_results(const std::filesystem::path& folder, const ScenarioResults& results,
                   const Provenance& provenance) {
  const TimeToAccuracy summary = summarize_time_to_accuracy(results.runs, longest(results.runs));
  write_json(folder / "manifest.json", scenario_manifest(results, provenance));
  write_json(folder / "run-info.json", run_info(provenance));
  write_json(folder / "summary.json", summary_json(results, summary));
  write_file_atomically(folder / "summary.csv", summary_csv(results.runs));
  write_file_atomically(folder / "curve.csv", curve_csv(results));
  write_file_atomically(folder / "batches.csv", batches_csv(results.runs));
  write_file_atomically(folder / "staleness.csv", staleness_csv(results.runs));
}

void write_study_summary(const std::filesystem::path& folder, const std::string& name,
                         const std::string& question, const std::vector<ScenarioResults>& variants,
                         const Provenance& provenance) {
  json names = json::array();
  for (const ScenarioResults& variant : variants) names.push_back(variant.loaded.scenario.name);
  write_json(folder / "manifest.json", {{"format", "paceline-study"},
                                        {"version", 1},
                                        {"name", name},
                                        {"question", question},
                                        {"command", provenance.command},
                                        {"paceline", software()},
                                        {"variants", names}});
  write_json(folder / "run-info.json", run_info(provenance));
  write_file_atomically(folder / "comparison.csv", comparison_csv(compare(variants)));
}

}  // namespace paceline
