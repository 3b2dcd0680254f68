// live: carry one scenario out for real, write the same results as `run`, print them.
#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "calibrate/live/communication_fit.hpp"
#include "calibrate/live/kept_runs.hpp"
#include "calibrate/live/live_run.hpp"
#include "calibrate/live/sharing_timing.hpp"
#include "calibrate/live/steady_machine.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/base/interrupt.hpp"
#include "sim/base/order_statistics.hpp"
#include "sim/base/progress.hpp"
#include "sim/cli/commands.hpp"
#include "sim/cli/options.hpp"
#include "sim/cli/study.hpp"
#include "sim/report/output/staged_folder.hpp"
#include "sim/report/output/text_table.hpp"
#include "sim/scenario/sweep/study_plan.hpp"
#include "sim/study/checks_before_running.hpp"
#include "sim/study/simulation.hpp"

namespace paceline {
namespace {

namespace fs = std::filesystem;

constexpr const char* live_examples = R"(Examples:
  paceline live scenarios/validation/asp-two-speeds.yaml -o results/real
  paceline run scenarios/validation/asp-two-speeds.yaml -o results/predicted     the same job, simulated
Whatever ends it, replications that had ended are kept beside the folder (DIR.unfinished.sqlite), and the same
command carries out the others.)";

struct LiveArguments : RunArguments {
  int port = 0;  // 0: any that is free
  bool accept_load = false;
  bool as_it_is = false;   // the machine: nothing is asked of its kernel
  double patience = 60.0;  // s, with a worker that says nothing
};

std::string live_command_line(const LiveArguments& arguments) {
  return reproducing_command("live", arguments) + (arguments.as_it_is ? " --as-it-is" : "");
}

std::string communication_note(const std::vector<live::RealRun>& runs) {
  std::vector<double> server;
  std::vector<double> message;
  for (const live::RealRun& run : runs) {
    server.push_back(run.communication.server_request.value());
    message.push_back(run.communication.per_message.value());
  }
  CommunicationCost middle;
  middle.server_request = Seconds{median(std::move(server))};
  middle.per_message = Seconds{median(std::move(message))};
  return fmt::format("messages took processor time: `{}`", live::scenario_words(middle));
}

// Empty: nobody restarted.
std::string restart_note(const std::vector<live::RealRun>& runs) {
  std::vector<double> seconds;
  for (const live::RealRun& run : runs)
    for (const Seconds took : run.restarts) seconds.push_back(took.value());
  if (seconds.empty()) return "";
  const Seconds longest{std::ranges::max(seconds)};
  return fmt::format("restarts of workers took up to {}, median: `switch_cost: {:.3g} s`",
                     format_time(longest), median(std::move(seconds)));
}

// Each worker alone and beside the others, just before the job, where they share this machine.
// A job that goes on is timed anew, since the machine may have changed: its note names the sitting.
std::vector<std::string> sharing_notes(const Scenario& scenario, int sitting) {
  if (std::ranges::none_of(scenario.cluster.machines, &Machine::is_shared)) return {};
  Progress progress("timing processes beside each other");
  const live::SharingLoad load{.learner = network_learner_config(scenario, {scenario.seed, 0}),
                               .batch_samples = scenario.batching.initial_samples,
                               .passes = 2};
  const live::SharingTimes times = live::sharing_here(live::time_sharing(
      live::worker_program(), load, [&](double share) { progress.update(share, "all workers"); }));
  const std::string what = sitting == 0 ? "the job" : fmt::format("sitting {}", sitting + 1);
  return {fmt::format("before {} an iteration took {} alone; busy beside others, the server last: `{}`", what,
                      format_time(times.alone), live::scenario_words(times))};
}

constexpr const char* only_job = "job";  // in the file, whatever the scenario's name

// Beside the results folder, which appears only when all runs are there.
fs::path unfinished_file(const fs::path& folder) {
  return fmt::format("{}.unfinished.sqlite", folder.string());
}

// The runs that the same command has carried out already; with what this one may replace.
class UnfinishedJob {
 public:
  UnfinishedJob(const fs::path& folder, const PreparedStudy& study, const LiveArguments& arguments,
                const std::string& machine)
      : file_(unfinished_file(folder)),
        scenario_(study.scenarios.front().scenario),
        by_(live::begun_by(live_command_line(arguments), machine)),
        digest_(study.planned.points.front().digest),
        replaces_(arguments.force) {
    std::error_code ignored;
    if (!fs::exists(file_, ignored)) return;
    open();
    arguments.force ? forget() : take_over();
  }

  [[nodiscard]] bool replaces() const { return replaces_; }
  [[nodiscard]] const std::vector<live::RealRun>& runs() const { return runs_; }
  [[nodiscard]] int sitting() const { return sitting_; }
  // Once the place of the results is known to be writable.
  void begin() {
    if (!kept_) open();
    const nlohmann::json begun{{"command", by_.command},
                               {"program", by_.program},
                               {"machine", by_.machine},
                               {"fnv1a", digest_},
                               {"replaces", replaces_}};
    kept_->begin(begun.dump());
  }
  void add(live::RealRun run) {
    run.sitting = sitting_;
    kept_->keep(only_job, run);
    runs_.push_back(std::move(run));
  }
  void finish() { kept_->finish(); }

  // What is kept, in words; where nothing has run there is nothing, nor a file.
  [[nodiscard]] std::string leave() {
    if (runs_.empty()) {
      kept_->finish();
      return "";
    }
    return fmt::format("{} of {} replications are kept in {}; the same command{} carries out the others",
                       runs_.size(), scenario_.replications, file_.string(),
                       replaces_ ? " without --force" : "");
  }

 private:
  void open() { kept_.emplace(file_, fmt::format("{} holds an unfinished live job", file_.string())); }
  void forget() {
    kept_->finish();
    kept_.reset();
  }
  void take_over() {
    try {
      std::vector<live::RealRun> runs = kept_->runs_of(only_job);
      if (runs.empty()) return forget();
      const nlohmann::json begun = nlohmann::json::parse(kept_->begun());
      kept_->check_begun_by(begun, by_);
      if (begun.at("fnv1a") != digest_) kept_->refuse("the scenario, or a file that it names, has changed");
      replaces_ = begun.at("replaces");
      runs_ = std::move(runs);
    } catch (const nlohmann::json::exception&) {
      kept_->refuse("it is damaged");
    }
    if (runs_.size() > static_cast<std::size_t>(scenario_.replications))
      runs_.resize(static_cast<std::size_t>(scenario_.replications));
    for (const live::RealRun& run : runs_) sitting_ = std::max(sitting_, run.sitting + 1);
    fmt::print(stderr, "{} of {} replications are there already\n", runs_.size(), scenario_.replications);
  }

  fs::path file_;
  const Scenario& scenario_;
  live::BegunBy by_;
  std::string digest_;
  bool replaces_;
  int sitting_ = 0;
  std::optional<live::KeptRuns> kept_;
  std::vector<live::RealRun> runs_;
};

void carry_out_missing(const Scenario& scenario, const Profiles& profiles, live::LiveOptions options,
                       UnfinishedJob& job) {
  if (job.runs().size() == static_cast<std::size_t>(scenario.replications)) return;
  std::vector<std::string> notes;
  if (!scenario.hosts) notes = sharing_notes(scenario, job.sitting());
  Progress progress("training");
  while (job.runs().size() < static_cast<std::size_t>(scenario.replications)) {
    const auto r = static_cast<std::uint32_t>(job.runs().size());
    options.progress = [&](double share) {
      progress.update((r + std::min(share, 1.0)) / scenario.replications,
                      fmt::format("run {} of {}", r + 1, scenario.replications));
    };
    live::LiveOptions of_run = options;
    of_run.recording.trace &= r == 0;
    live::RealRun run = live::carry_out(scenario, profiles, r, of_run);
    std::ranges::move(std::exchange(notes, {}), std::back_inserter(run.notes));
    job.add(std::move(run));
  }
}

int live_command(const LiveArguments& arguments) {
  PreparedStudy study =
      prepare_scenarios({load_scenario(arguments.file, arguments.overrides)}, ProfileUse::as_fitted);
  const LoadedScenario& loaded = study.scenarios.front();
  const Scenario& scenario = loaded.scenario;
  std::vector<std::string> notes = live::check_live(loaded);
  const fs::path folder = arguments.output.empty()
                              ? fs::path("results") / (folder_name(scenario.name) + "-live")
                              : fs::path(arguments.output);
  std::optional<live::SteadyMachine> machine(std::in_place, arguments.as_it_is);
  notes.push_back("the job had " + machine->text());
  UnfinishedJob job(folder, study, arguments, machine->text());
  StagedFolder staged(folder, job.replaces());
  job.begin();
  const std::shared_ptr<const Profiles> profiles = study.files.profiles_of(loaded);
  ScenarioResults results{.loaded = loaded,
                          .profiles = *profiles,
                          .runs = {},
                          .failures = {},
                          .network_model = {},
                          .notes = {},
                          .validity = validity_of(loaded, study.files),
                          .recording = recording_of(arguments),
                          .engine = "live"};
  try {
    carry_out_missing(scenario, *profiles,
                      {.program = live::worker_program(),
                       .port = arguments.port,
                       .patience = Seconds{arguments.patience},
                       .accepts_load = arguments.accept_load,
                       .folder = staged.path(),
                       .links = live::emulated_network(scenario),
                       .recording = results.recording},
                      job);
  } catch (const Interrupted& interrupt) {
    const std::string kept = job.leave();
    if (kept.empty()) throw;
    throw Interrupted(interrupt.signal_number(), "interrupted: " + kept);
  } catch (const std::exception&) {
    if (const std::string kept = job.leave(); !kept.empty()) fmt::print(stderr, "note: {}\n", kept);
    throw;
  }
  machine.reset();
  Seconds took;
  double memory_mib = 0.0;
  std::vector<const live::RealRun*> runs;
  for (const live::RealRun& run : job.runs()) {
    runs.push_back(&run);
    took += run.took;
    memory_mib = std::max(memory_mib, run.peak_memory_mib);
    for (const std::string& failure : run.failures)
      results.failures.push_back(fmt::format("replication {}: {}", run.result.seed.replication, failure));
    notes.insert(notes.end(), run.notes.begin(), run.notes.end());
    results.runs.push_back(run.result);
  }
  notes.push_back(communication_note(job.runs()));
  for (const std::string& note : {restart_note(job.runs()), live::sittings_note(runs)})
    if (!note.empty()) notes.push_back(note);
  results.notes = std::move(notes);
  results.validity = validity_in(summaries_of(results.runs), std::move(results.validity));
  write_results(staged.path(), results, {live_command_line(arguments), took.value(), memory_mib, 1});
  staged.commit();
  job.finish();
  const std::vector<ComparedVariant> compared = compare(compared_runs({results}));
  print_comparison(compared, folder, arguments);
  print_warnings(loaded.warnings, results.notes);
  return report_expectations(compared, report_failures(results));
}

}  // namespace

void add_live(CLI::App& app, CommandAction& action) {
  auto [live, arguments] = add_command<LiveArguments>(
      app, "live", "carry a scenario out for real, with worker processes", live_command, action);
  live.footer(live_examples);
  add_file_options(live, arguments, "scenario (YAML)");
  add_path(live, "-o,--output", arguments.output, "results folder (default: results/<name>-live)", "DIR");
  live.add_flag("--force", arguments.force,
                "replace results that are already there, and begin anew an unfinished job");
  live.add_flag("--iterations", arguments.iterations,
                "also write iterations.csv: one row for each iteration");
  live.add_flag("--trace", arguments.trace,
                "also write trace.json (opens in Perfetto) and activities.csv, of the first replication");
  add_number(live, "--port", arguments.port, "of the server; 0: any that is free", 0, 65'535);
  live.add_flag("--accept-load", arguments.accept_load,
                "begin although other programs use the machine; results say so");
  add_as_it_is(live, arguments.as_it_is);
  add_number(live, "--patience", arguments.patience,
             "seconds after which a worker that owes something and says nothing is given up", 0.1, 1e6);
}

}  // namespace paceline
