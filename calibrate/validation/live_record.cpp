#include "calibrate/validation/live_record.hpp"

#include <chrono>
#include <utility>

#include <fmt/chrono.h>
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
constexpr const char* prediction_file = "prediction.csv";
constexpr const char* measured_file = "measured.csv";
constexpr const char* sealed_file = "sealed.json";
constexpr const char* sealed_id = "sealed";

std::string predicted_id(const LiveTrial& trial, std::size_t run) {
  return fmt::format("predicted {} {}", run, trial.loaded.scenario.name);
}

std::string real_id(const LiveTrial& trial, std::size_t run) {
  return fmt::format("real {} {}", run, trial.loaded.scenario.name);
}

void put(RunStore& store, const std::string& id, const std::string& packed) {
  store.record({.id = id, .status = RunStatus::done, .message = {}, .summary = {}}, packed, "live");
}

std::string packed_real(const RealRun& run) {
  const std::string result = pack(run.result);
  const json whole = {{"result", json::binary({result.begin(), result.end()})},
                      {"alone_s", run.before.measured.value()},
                      {"alone_sealed_s", run.before.sealed.value()},
                      {"other_load", run.other_load},
                      {"began", run.began},
                      {"ended", run.ended},
                      {"sitting", run.sitting},
                      {"failures", run.failures}};
  std::string bytes;
  json::to_cbor(whole, bytes);
  return bytes;
}

RealRun unpacked_real(const std::string& packed) {
  const json whole = json::from_cbor(packed);
  const auto& result = whole.at("result").get_binary();
  return {.result = unpack_result({result.begin(), result.end()}),
          .before = {Seconds{whole.at("alone_s").get<double>()},
                     Seconds{whole.at("alone_sealed_s").get<double>()}},
          .other_load = whole.at("other_load"),
          .began = whole.at("began"),
          .ended = whole.at("ended"),
          .sitting = whole.at("sitting"),
          .failures = whole.at("failures")};
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

std::string utc_now() {
  return fmt::format("{:%FT%TZ}", fmt::gmtime(std::chrono::system_clock::now()));
}

void seal(const fs::path& folder, const std::vector<LiveTrial>& trials, const SealedBy& by) {
  InputFiles files;
  write_file_atomically(folder / prediction_file, predictions_csv(trials));
  nlohmann::ordered_json sealed{{"file", prediction_file},
                                {"fnv1a", files.hash(folder / prediction_file)},
                                {"time", utc_now()},
                                {"command", by.command},
                                {"program", by.program}};
  RunStore store(folder / record_file);
  for (const LiveTrial& trial : trials) {
    const std::string& name = trial.loaded.scenario.name;
    sealed["scenarios"][name] = {{"fnv1a", trial.digest},
                                 {"predicted_runs", trial.predicted.size()},
                                 {"profiles", profiles_json(trial, folder, files)}};
    sealed["gate"][name] = gate_json(trial.gate);
    for (std::size_t r = 0; r < trial.predicted.size(); ++r)
      put(store, predicted_id(trial, r), pack(trial.predicted[r]));
  }
  write_file_atomically(folder / measured_file, measurements_csv(trials));
  const std::string text = sealed.dump(1) + "\n";
  write_file_atomically(folder / sealed_file, text);
  put(store, sealed_id, text);
}

bool LiveRecord::is_unfinished(const fs::path& folder) {
  std::error_code ignored;
  return fs::exists(folder / record_file, ignored);
}

LiveRecord::LiveRecord(fs::path folder, std::vector<LiveTrial>& trials, const SealedBy& by)
    : folder_(std::move(folder)), store_(std::make_unique<RunStore>(folder_ / record_file)) {
  try {
    const std::string text = store_->packed(sealed_id);
    const json sealed = json::parse(text);
    if (const std::string begun = sealed.at("command"); begun != by.command)
      throw UserError(
          fmt::format("{} holds an unfinished validation by another command: {}", folder_.string(), begun),
          "that command goes on with it, --force begins anew, --output names another folder");
    if (sealed.at("program") != by.program) refuse("this is not the program that predicted");
    if (InputFiles().hash(folder_ / sealed_file) != content_hash(text))
      refuse(fmt::format("{} is not what was sealed", sealed_file));
    for (LiveTrial& trial : trials) restore(trial, sealed);
    const std::string hash = sealed.at("fnv1a");
    if (InputFiles().hash(folder_ / prediction_file) != hash || content_hash(predictions_csv(trials)) != hash)
      refuse(fmt::format("{} is not what was sealed", prediction_file));
    sealed_text_ =
        fmt::format("sealed at {}: {} {}", sealed.at("time").get<std::string>(), prediction_file, hash);
  } catch (const json::exception&) {
    refuse(fmt::format("{} is damaged", record_file));
  }
}

void LiveRecord::refuse(const std::string& what) const {
  throw UserError(
      fmt::format("{} holds an unfinished validation that cannot go on: {}", folder_.string(), what),
      "--force begins anew, --output names another folder");
}

void LiveRecord::restore(LiveTrial& trial, const json& sealed) {
  Scenario& scenario = trial.loaded.scenario;
  const json scenario_then = sealed.at("scenarios").value(scenario.name, json::object());
  if (scenario_then.value("fnv1a", "") != trial.digest)
    refuse(fmt::format("the scenario `{}`, or its profile, is not what was predicted", scenario.name));
  InputFiles files;
  for (std::size_t w = 0; w < scenario.cluster.workers.size(); ++w) {
    const json& profile = scenario_then.at("profiles").at(w);
    if (profile.is_null()) continue;
    const fs::path file = folder_ / profile.at("file").get<std::string>();
    if (files.hash(file) != profile.at("fnv1a").get<std::string>())
      refuse(fmt::format("{} is not what was sealed", file.filename().string()));
    scenario.cluster.workers[w].profile = file;
  }
  trial.profiles = files.profiles_of(trial.loaded);
  const json& first = sealed.at("gate").at(scenario.name).at("iterations_alone").at(0);
  live::AloneTime alone{.computing = {},
                        .measured = first.at("measured_s").get<Seconds>(),
                        .modelled = first.at("calibrated_s").get<Seconds>()};
  alone.computing.batch = first.at("batch");
  trial.gate = {};
  trial.gate.alone = {{alone}};
  trial.predicted.clear();
  for (std::size_t r = 0; r < scenario_then.at("predicted_runs"); ++r)
    trial.predicted.push_back(unpack_result(store_->packed(predicted_id(trial, r))));
  for (std::string kept; !(kept = store_->packed(real_id(trial, trial.real.size()))).empty();)
    trial.real.push_back(unpacked_real(kept));
}

void LiveRecord::keep(const LiveTrial& trial, const std::vector<LiveTrial>& trials) {
  put(*store_, real_id(trial, trial.real.size() - 1), packed_real(trial.real.back()));
  write_file_atomically(folder_ / measured_file, measurements_csv(trials));
}

void LiveRecord::finish() {
  store_.reset();
  fs::remove(folder_ / record_file);
}

}  // namespace paceline
