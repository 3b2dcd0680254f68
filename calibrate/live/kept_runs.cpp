#include "calibrate/live/kept_runs.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/resource.h>

#include "calibrate/live/machine_load.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/base/interrupt.hpp"
#include "sim/base/json.hpp"
#include "sim/report/output/build_info.hpp"
#include "sim/report/output/packed_run.hpp"
#include "sim/report/output/text_table.hpp"
#include "sim/study/input_files.hpp"

namespace paceline::live {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* begun_id = "sealed";

std::string real_id(const std::string& scenario, std::uint64_t replication) {
  return fmt::format("real {} {}", replication, scenario);
}

// A job that goes on without a worker is not the one that was asked for.
std::vector<std::string> losses_of(const LiveRun& run) {
  std::vector<std::string> losses;
  for (const LostWorker& lost : run.lost)
    losses.push_back(fmt::format("worker {} {} at {}; the job went on without it", lost.worker.value,
                                 lost.reason, format_time(lost.at)));
  return losses;
}

std::vector<std::string> notes_of(const LiveRun& run) {
  std::vector<std::string> notes;
  const RefusedConnections& refused = run.refused;
  const std::uint32_t replication = run.result.seed.replication;
  if (const std::uint64_t all = refused.strangers + refused.silent; all > 0)
    notes.push_back(fmt::format("replication {}: {} connections of strangers were refused, {} of them silent",
                                replication, all, refused.silent));
  if (run.other_load > most_other_load)
    notes.push_back(
        fmt::format("replication {}: {:.0f} % of the machine's processor time went to other programs",
                    replication, 100.0 * run.other_load));
  return notes;
}

double peak_memory_mib() {
  rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024.0;
}

std::string packed_real(const RealRun& run) {
  const std::string result = pack(run.result);
  json whole = {{"result", json::binary({result.begin(), result.end()})},
                {"other_load", run.other_load},
                {"server_request_s", run.communication.server_request},
                {"per_message_s", run.communication.per_message},
                {"restarts_s", run.restarts},
                {"began", run.began},
                {"ended", run.ended},
                {"took_s", run.took},
                {"peak_memory_mib", run.peak_memory_mib},
                {"sitting", run.sitting},
                {"failures", run.failures},
                {"notes", run.notes}};
  if (run.machine)
    whole["machine"] = {{"usual_s", run.machine->usual},
                        {"before_s", run.machine->before},
                        {"after_s", run.machine->after ? json(*run.machine->after) : json()},
                        {"waited_s", run.machine->waited},
                        {"repeated", run.machine->repeated}};
  std::string bytes;
  json::to_cbor(whole, bytes);
  return bytes;
}

RealRun unpacked_real(const std::string& packed) {
  const json whole = json::from_cbor(packed);
  const auto& result = whole.at("result").get_binary();
  RealRun run{.result = unpack_result({result.begin(), result.end()}),
              .machine = {},
              .other_load = whole.at("other_load"),
              .communication = {},
              .restarts = whole.at("restarts_s"),
              .began = whole.at("began"),
              .ended = whole.at("ended"),
              .took = whole.at("took_s"),
              .peak_memory_mib = whole.at("peak_memory_mib"),
              .sitting = whole.at("sitting"),
              .failures = whole.at("failures"),
              .notes = whole.at("notes")};
  run.communication.server_request = whole.at("server_request_s");
  run.communication.per_message = whole.at("per_message_s");
  if (const auto machine = whole.find("machine"); machine != whole.end()) {
    run.machine = {.usual = machine->at("usual_s"),
                   .before = machine->at("before_s"),
                   .after = {},
                   .waited = machine->at("waited_s"),
                   .repeated = machine->at("repeated")};
    if (!machine->at("after_s").is_null()) run.machine->after = machine->at("after_s").get<Seconds>();
  }
  return run;
}

}  // namespace

std::string utc_now() {
  return fmt::format("{:%FT%TZ}", fmt::gmtime(std::chrono::system_clock::now()));
}

RealRun carry_out(const Scenario& scenario, const Profiles& profiles, std::uint32_t replication,
                  const LiveOptions& options) {
  RealRun real;
  real.began = utc_now();
  const auto start = std::chrono::steady_clock::now();
  LiveRun run = run_live(scenario, profiles, replication, options);
  throw_if_interrupted();
  real.took = Seconds{std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()};
  real.ended = utc_now();
  real.peak_memory_mib = peak_memory_mib();
  real.other_load = run.other_load;
  real.communication = run.communication;
  for (const Restart& restart : run.restarts) real.restarts.push_back(restart.took);
  real.failures = losses_of(run);
  real.notes = notes_of(run);
  real.result = std::move(run.result);
  return real;
}

std::string sittings_note(const std::vector<const RealRun*>& runs) {
  struct Sitting {
    std::size_t runs = 0;
    std::string began;
    std::string ended;
  };
  std::map<int, Sitting> sittings;
  for (const RealRun* const run : runs) {
    Sitting& sitting = sittings[run->sitting];
    ++sitting.runs;
    if (sitting.began.empty() || run->began < sitting.began) sitting.began = run->began;
    sitting.ended = std::max(sitting.ended, run->ended);
  }
  if (sittings.size() < 2) return "";
  std::string text = fmt::format("real runs were carried out in {} sittings", sittings.size());
  for (const auto& [number, sitting] : sittings)
    text += fmt::format("{} {} from {} to {}", number == 0 ? ":" : ",", sitting.runs, sitting.began,
                        sitting.ended);
  return text;
}

BegunBy begun_by(const std::string& command, const std::string& machine) {
  InputFiles files;
  return {command,
          fmt::format("{} {} {}", build_info().commit, files.hash("/proc/self/exe"),
                      files.hash(worker_program())),
          machine};
}

KeptRuns::KeptRuns(fs::path file, std::string holds)
    : file_(std::move(file)), holds_(std::move(holds)), store_(std::in_place, file_) {}

void KeptRuns::begin(const std::string& with) {
  put(begun_id, with);
}

std::string KeptRuns::begun() {
  return packed(begun_id);
}

void KeptRuns::check_begun_by(const json& begun, const BegunBy& by) const {
  if (const std::string command = begun.at("command"); command != by.command)
    throw UserError(fmt::format("{} by another command: {}", holds_, command),
                    "that command goes on with it, --force begins anew, --output names another folder");
  if (begun.at("program") != by.program) refuse("this is not the program that began it");
  if (const std::string machine = begun.at("machine"); machine != by.machine)
    refuse(fmt::format("jobs had {}, and would have {} now", machine, by.machine));
}

void KeptRuns::refuse(const std::string& what) const {
  throw UserError(fmt::format("{} that cannot go on: {}", holds_, what),
                  "--force begins anew, --output names another folder");
}

void KeptRuns::keep(const std::string& scenario, const RealRun& run) {
  put(real_id(scenario, run.result.seed.replication), packed_real(run));
}

std::vector<RealRun> KeptRuns::runs_of(const std::string& scenario) {
  std::vector<RealRun> runs;
  for (std::string kept; !(kept = packed(real_id(scenario, runs.size()))).empty();)
    runs.push_back(unpacked_real(kept));
  return runs;
}

void KeptRuns::put(const std::string& id, const std::string& packed) {
  store_->record({.id = id, .status = RunStatus::done, .message = {}, .summary = {}}, packed, "live");
}

void KeptRuns::finish() {
  store_.reset();
  fs::remove(file_);
}

}  // namespace paceline::live
