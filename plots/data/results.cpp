#include "plots/data/results.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "plots/data/combinations.hpp"
#include "sim/base/atomic_file.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/base/json.hpp"

namespace paceline::plots {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr auto made_by_hint = "name a folder written by `paceline run` or `paceline study`";

// A JSON file of results, with complaints that name it.
class JsonFile {
 public:
  explicit JsonFile(fs::path path) : path_(std::move(path)) {
    try {
      content_ = json::parse(read_file(path_));
    } catch (const json::exception& broken) {
      fail(fmt::format(" is not valid JSON: {}", broken.what()));
    }
  }

  // By its path, e.g. "time_to_accuracy_s/median". It must be there; an optional one may be null.
  template <class Value>
  [[nodiscard]] Value get(const std::string& key) const {
    try {
      return content_.at(json::json_pointer("/" + key)).get<Value>();
    } catch (const json::exception& broken) {
      fail(fmt::format(": the key `{}` is missing or of the wrong kind: {}", key, broken.what()));
    }
  }

  // Every figure names its runs: accuracies that nobody's runs stand behind say so wherever they are drawn.
  [[nodiscard]] std::string name_in_figures() const {
    const auto name = get<std::string>("name");
    return content_.value(json::json_pointer("/scenario/learner.kind"), "") == "assumed"
               ? with_assumed_learner(name)
               : name;
  }

  // The scenario's values as text, by key; older results have none.
  [[nodiscard]] std::string scenario_text(const std::string& key) const {
    const auto scenario = content_.find("scenario");
    return scenario == content_.end() ? "" : scenario->value(key, "");
  }

  // Of the section *validity*: quantities that are used beyond what was fitted, with the word for it.
  [[nodiscard]] std::vector<std::string> beyond_fit() const {
    std::vector<std::string> beyond;
    const auto rows = content_.find("validity");
    if (rows == content_.end() || !rows->is_array()) return beyond;
    for (const json& row : *rows)
      if (const std::string word = row.value("validity", "inside"); word != "inside")
        beyond.push_back(fmt::format("{} {}", row.value("quantity", ""), word));
    return beyond;
  }

  [[noreturn]] void fail(const std::string& problem, const std::string& hint = made_by_hint) const {
    throw UserError(path_.string() + problem, hint);
  }

 private:
  fs::path path_;
  json content_;
};

JsonFile read_manifest(const fs::path& folder) {
  std::error_code status;
  if (!fs::is_directory(folder, status))
    throw UserError(fmt::format("{} is not a folder", folder.string()), made_by_hint);
  if (!fs::exists(folder / "manifest.json", status))
    throw UserError(fmt::format("{} is no results folder: it has no manifest.json", folder.string()),
                    made_by_hint);
  JsonFile manifest(folder / "manifest.json");
  const auto format = manifest.get<std::string>("format");
  if (format != "paceline-results" && format != "paceline-study")
    manifest.fail(fmt::format(": unknown format `{}`", format));
  if (const int version = manifest.get<int>("version"); version != 1)
    manifest.fail(fmt::format(": version {} is not supported, only 1", version),
                  "draw it with the paceline that wrote it");
  return manifest;
}

// Empty for a job that does not learn; one with a target must have been evaluated.
std::vector<LearningCurve> read_curves(const fs::path& path, bool has_target) {
  const CsvFile table = read_results_csv(path);
  if (table.rows().empty() && has_target)
    throw UserError(fmt::format("{} holds no evaluation", path.string()),
                    "run the scenario with an `evaluation`");
  std::map<std::uint64_t, LearningCurve> by_replication;
  for (const CsvRow& row : table.rows()) {
    LearningCurve& curve = by_replication[row.count("replication")];
    const Evaluation next{row.number("time_s"), row.number("accuracy"),
                          table.has("samples") ? row.number("samples") : 0.0,
                          table.has("loss") ? row.number_if_given("loss") : std::nullopt};
    if (next.time_s < 0.0 || (!curve.empty() && next.time_s < curve.back().time_s))
      row.fail_at("time_s", "time runs backwards");
    curve.push_back(next);
  }
  std::vector<LearningCurve> curves;
  for (auto& [replication, curve] : by_replication) curves.push_back(std::move(curve));
  return curves;
}

// Every row of replication 0. Some files are only there on request, or not in older results.
template <class Take>
void read_first_replication(const fs::path& path, bool may_be_missing, Take take) {
  if (may_be_missing && !fs::exists(path)) return;
  for (const CsvFile table = read_results_csv(path); const CsvRow& row : table.rows())
    if (row.count("replication") == 0) take(row);
}

void read_attribution(PlottedRun& run) {
  const fs::path path = run.folder / "attribution.csv";
  if (!fs::exists(path)) return;
  constexpr std::string_view ending = "_percent";
  const CsvFile table = read_results_csv(path);
  for (const std::string& column : table.columns()) {
    if (!column.ends_with(ending)) continue;
    double& percent = run.attribution_percent[column.substr(0, column.size() - ending.size())];
    for (const CsvRow& row : table.rows())
      percent += row.number(column) / static_cast<double>(table.rows().size());
  }
}

void read_summary(PlottedRun& run) {
  const JsonFile summary(run.folder / "summary.json");
  using MaybeNumber = std::optional<double>;
  run.target_accuracy = summary.get<MaybeNumber>("target_accuracy");
  run.replications = summary.get<std::uint64_t>("replications");
  if (run.target_accuracy) {
    run.reached = summary.get<std::uint64_t>("reached");
    run.time_median_s = summary.get<MaybeNumber>("time_to_accuracy_s/median");
    run.time_low_s = summary.get<MaybeNumber>("time_to_accuracy_s/low");
    run.time_high_s = summary.get<MaybeNumber>("time_to_accuracy_s/high");
  }
  if (run.reached > run.replications)
    summary.fail(fmt::format(": {} of {} replications reached the target", run.reached, run.replications));
  // An interval without a low end has no high end either; one without a high end reaches past the horizon.
  if (run.time_high_s && (!run.time_low_s || *run.time_low_s > *run.time_high_s))
    summary.fail(": `low` and `high` of `time_to_accuracy_s` are no interval");
  const CsvFile ends = read_results_csv(run.folder / "summary.csv");
  for (const CsvRow& row : ends.rows()) {
    run.end_times_s.push_back(row.number("end_time_s"));
    if (!is_cut_short(ends, row)) run.work_times_s.push_back(run.end_times_s.back());
    if (ends.has("end_reason")) {
      run.diverged += row.text("end_reason") == "diverged" ? 1U : 0U;
      run.stalled += row.text("end_reason") == "stalled" ? 1U : 0U;
    }
    run.horizon_s = std::max(run.horizon_s, run.end_times_s.back());
  }
}

// "big 1"; or "16 cores", with its number where several have as many; or its number where all have.
std::map<std::uint64_t, std::string> worker_names(const JsonFile& manifest) {
  std::vector<std::string> cores;
  std::vector<std::string> names;
  const auto value = [&](const char* key) {
    return manifest.scenario_text(fmt::format("cluster.workers.{}.{}", cores.size(), key));
  };
  for (std::string count = value("cores"); !count.empty(); count = value("cores")) {
    const std::string written = value("name");  // as it could stand in YAML: with quotes where it needs them
    names.push_back(written.starts_with('"') ? nlohmann::json::parse(written).get<std::string>() : written);
    cores.push_back(count);
  }
  const bool is_even =
      std::ranges::all_of(cores, [&](const std::string& count) { return count == cores.front(); });
  std::map<std::uint64_t, std::string> by_worker;
  for (std::size_t w = 0; w < cores.size(); ++w) {
    if (!names[w].empty()) {
      by_worker[w] = names[w];
    } else if (!is_even) {
      const std::string what = fmt::format("{} core{}", cores[w], cores[w] == "1" ? "" : "s");
      by_worker[w] = std::ranges::count(cores, cores[w]) > 1 ? fmt::format("{}: {}", w, what) : what;
    }
  }
  return by_worker;
}

PlottedRun read_run(const fs::path& folder, const JsonFile& manifest) {
  PlottedRun run;
  run.folder = folder;
  run.name = manifest.name_in_figures();
  run.worker_names = worker_names(manifest);
  run.beyond_fit = manifest.beyond_fit();
  read_summary(run);
  read_attribution(run);
  run.curves = read_curves(folder / "curve.csv", run.target_accuracy.has_value());
  read_first_replication(folder / "batches.csv", false, [&](const CsvRow& row) {
    run.batches.push_back({row.number("time_s"), row.count("worker"), row.number("batch_samples")});
  });
  std::ranges::stable_sort(run.batches, {}, &BatchChange::time_s);
  read_first_replication(folder / "activities.csv", true, [&](const CsvRow& row) {
    run.activities.push_back(
        {row.count("worker"), row.text("activity"), row.number("begin_s"), row.number("end_s")});
  });
  read_first_replication(folder / "iterations.csv", true, [&](const CsvRow& row) {
    if (const std::optional<double> finish_s = row.number_if_given("finish_s"))
      run.compute_times_s.push_back(*finish_s - row.number("start_s"));
  });
  read_first_replication(folder / "workers.csv", true, [&](const CsvRow& row) {
    if (const std::optional<double> rate = row.number_if_given("gradients_per_s"))
      run.workers.push_back({row.count("worker"), row.count("gradients"), *rate});
  });
  read_first_replication(folder / "staleness.csv", true, [&](const CsvRow& row) {
    const std::uint64_t staleness = row.count("staleness");
    if (run.staleness.size() <= staleness) run.staleness.resize(staleness + 1, 0.0);
    run.staleness[staleness] += row.number("gradients");
  });
  return run;
}

// The same ink for what is chosen, whatever conditions it meets; without a table of runs as they come.
void place_series(std::vector<PlottedRun>& runs, const fs::path& folder) {
  const std::optional<Combinations> study = read_combinations(folder);
  if (!study) return;
  InkPlaces inks(*study);
  const std::vector<std::size_t> chosen = study->varied_columns(false);
  const std::vector<std::size_t> met = study->varied_columns(true);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto one = std::ranges::find(study->all, i + 1, &Combination::point);
    if (one == study->all.end()) continue;
    const std::string choice = study->text_of(*one, chosen);
    runs[i].series = inks.of(one->labels[inks.column()], choice);
    runs[i].at = study->text_of(*one, met);
    runs[i].choice = one->has_assumed_learner ? with_assumed_learner(choice) : choice;
  }
}

// Folder names of variants are sanitized, so variants are found by the name in their manifests.
std::vector<PlottedRun> read_study(const fs::path& folder, const JsonFile& study) {
  std::map<std::string, fs::path> by_name;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (!entry.is_directory() || !fs::exists(entry.path() / "manifest.json")) continue;
    const JsonFile manifest = read_manifest(entry.path());
    if (manifest.get<std::string>("format") != "paceline-results") continue;
    const auto name = manifest.get<std::string>("name");
    if (const auto [twin, is_new] = by_name.emplace(name, entry.path()); !is_new)
      throw UserError(
          fmt::format("{} and {} are both named `{}`", twin->second.string(), entry.path().string(), name),
          "variants of a study need names of their own");
  }
  // A study of many combinations keeps its runs in one table, and has no folders.
  if (by_name.empty() && fs::exists(folder / "runs.csv")) return {};
  std::vector<PlottedRun> runs;
  for (const auto& name : study.get<std::vector<std::string>>("variants")) {
    const auto found = by_name.find(name);
    if (found == by_name.end())
      throw UserError(fmt::format("{} holds no results of its variant `{}`", folder.string(), name),
                      "run the study again");
    runs.push_back(read_run(found->second, read_manifest(found->second)));
    runs.back().series.colour = runs.size() - 1;
  }
  place_series(runs, folder);
  return runs;
}

}  // namespace

CsvFile read_results_csv(const fs::path& path) {
  return CsvFile(path, {},
                 {.hint = "results are written by `paceline run` and `paceline study`; make them again"});
}

bool is_cut_short(const CsvFile& runs, const CsvRow& row) {
  if (!runs.has("end_reason")) return false;
  const std::string& reason = row.text("end_reason");
  return reason == "diverged" || reason == "stalled";
}

std::string with_assumed_learner(const std::string& name) {
  return name.empty() ? "assumed learner" : name + " (assumed learner)";
}

std::vector<std::string> quantities_beyond_fit(const fs::path& folder) {
  return read_manifest(folder).beyond_fit();
}

std::vector<PlottedRun> read_results(const fs::path& folder) {
  const JsonFile manifest = read_manifest(folder);
  if (manifest.get<std::string>("format") == "paceline-study") return read_study(folder, manifest);
  return {read_run(folder, manifest)};
}

}  // namespace paceline::plots
