#include "calibrate/validation/live_record.hpp"

#include <utility>

#include <fmt/format.h>

#include "sim/base/atomic_file.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/base/json.hpp"
#include "sim/report/output/packed_run.hpp"
#include "sim/study/store/content_hash.hpp"

namespace paceline {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* record_file = "unfinished.sqlite";
constexpr const char* holds_unfinished = "holds an unfinished validation";
constexpr const char* prediction_file = "prediction.csv";
constexpr const char* measured_file = "measured.csv";
constexpr const char* sealed_file = "sealed.json";

std::string predicted_id(const LiveTrial& trial, std::size_t run) {
  return fmt::format("predicted {} {}", run, trial.loaded.scenario.name);
}

// By worker: those that the gate has written into the folder.
json profiles_json(const LiveTrial& trial, const fs::path& folder, InputFiles& files) {
  json all = json::array();
  for (const Worker& worker : trial.loaded.scenario.cluster.workers) {
    const fs::path file = worker.profile;
    all.push_back(file.parent_path() == folder
                      ? json{{"file", file.filename().string()}, {"fnv1a", files.hash(file)}}
                      : json());
  }
  return all;
}

}  // namespace

void seal(const fs::path& folder, const std::vector<LiveTrial>& trials, Seconds usual_iteration,
          const live::BegunBy& by) {
  InputFiles files;
  write_file_atomically(folder / prediction_file, predictions_csv(trials));
  nlohmann::ordered_json sealed{{"file", prediction_file},
                                {"fnv1a", files.hash(folder / prediction_file)},
                                {"time", live::utc_now()},
                                {"command", by.command},
                                {"program", by.program},
                                {"machine", by.machine},
                                {"usual_iteration_s", usual_iteration}};
  live::KeptRuns kept(folder / record_file, fmt::format("{} {}", folder.string(), holds_unfinished));
  for (const LiveTrial& trial : trials) {
    const std::string& name = trial.loaded.scenario.name;
    sealed["scenarios"][name] = {{"fnv1a", trial.digest},
                                 {"predicted_runs", trial.predicted.size()},
                                 {"profiles", profiles_json(trial, folder, files)}};
    sealed["gate"][name] = gate_json(trial.gate);
    for (std::size_t r = 0; r < trial.predicted.size(); ++r)
      kept.put(predicted_id(trial, r), pack(trial.predicted[r]));
  }
  write_file_atomically(folder / measured_file, measurements_csv(trials));
  const std::string text = sealed.dump(1) + "\n";
  write_file_atomically(folder / sealed_file, text);
  kept.begin(text);
}

bool LiveRecord::is_unfinished(const fs::path& folder) {
  std::error_code ignored;
  return fs::exists(folder / record_file, ignored);
}

LiveRecord::LiveRecord(fs::path folder, std::vector<LiveTrial>& trials, const live::BegunBy& by)
    : folder_(std::move(folder)),
      kept_(folder_ / record_file, fmt::format("{} {}", folder_.string(), holds_unfinished)) {
  try {
    const std::string text = kept_.begun();
    const json sealed = json::parse(text);
    kept_.check_begun_by(sealed, by);
    if (InputFiles().hash(folder_ / sealed_file) != content_hash(text))
      kept_.refuse(fmt::format("{} is not what was sealed", sealed_file));
    usual_iteration_ = sealed.at("usual_iteration_s").get<Seconds>();
    for (LiveTrial& trial : trials) restore(trial, sealed);
    const std::string hash = sealed.at("fnv1a");
    if (InputFiles().hash(folder_ / prediction_file) != hash || content_hash(predictions_csv(trials)) != hash)
      kept_.refuse(fmt::format("{} is not what was sealed", prediction_file));
    sealed_text_ =
        fmt::format("sealed at {}: {} {}", sealed.at("time").get<std::string>(), prediction_file, hash);
  } catch (const json::exception&) {
    kept_.refuse(fmt::format("{} is damaged", record_file));
  }
}

void LiveRecord::restore(LiveTrial& trial, const json& sealed) {
  Scenario& scenario = trial.loaded.scenario;
  const json scenario_then = sealed.at("scenarios").value(scenario.name, json::object());
  if (scenario_then.value("fnv1a", "") != trial.digest)
    kept_.refuse(fmt::format("the scenario `{}`, or its profile, is not what was predicted", scenario.name));
  InputFiles files;
  for (std::size_t w = 0; w < scenario.cluster.workers.size(); ++w) {
    const json& profile = scenario_then.at("profiles").at(w);
    if (profile.is_null()) continue;
    const fs::path file = folder_ / profile.at("file").get<std::string>();
    if (files.hash(file) != profile.at("fnv1a").get<std::string>())
      kept_.refuse(fmt::format("{} is not what was sealed", file.filename().string()));
    scenario.cluster.workers[w].profile = file;
  }
  trial.profiles = files.profiles_of(trial.loaded);
  trial.predicted.clear();
  for (std::size_t r = 0; r < scenario_then.at("predicted_runs"); ++r)
    trial.predicted.push_back(unpack_result(kept_.packed(predicted_id(trial, r))));
  trial.real = kept_.runs_of(scenario.name);
}

void LiveRecord::keep(const LiveTrial& trial, const std::vector<LiveTrial>& trials) {
  kept_.keep(trial.loaded.scenario.name, trial.real.back());
  write_file_atomically(folder_ / measured_file, measurements_csv(trials));
}

void LiveRecord::finish() {
  kept_.finish();
}

}  // namespace paceline
