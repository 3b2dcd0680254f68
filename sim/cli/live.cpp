// live: carry one scenario out for real, write the same results as `run`, print them.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/resource.h>

#include "calibrate/live/communication_fit.hpp"
#include "calibrate/live/live_run.hpp"
#include "calibrate/live/machine_load.hpp"
#include "calibrate/live/sharing_timing.hpp"
#include "sim/base/diagnostic.hpp"
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
  paceline run scenarios/validation/asp-two-speeds.yaml -o results/predicted     the same job, simulated)";

struct LiveArguments : RunArguments {
  int port = 0;  // 0: any that is free
  bool accept_load = false;
  double patience = 60.0;  // s, with a worker that says nothing
};

std::vector<std::string> notes_of(const live::LiveRun& run) {
  std::vector<std::string> notes;
  const live::RefusedConnections& refused = run.refused;
  if (const std::uint64_t all = refused.strangers + refused.silent; all > 0)
    notes.push_back(fmt::format("replication {}: {} connections of strangers were refused, {} of them silent",
                                run.result.seed.replication, all, refused.silent));
  if (run.other_load > live::most_other_load)
    notes.push_back(
        fmt::format("replication {}: {:.0f} % of the machine's processor time went to other programs",
                    run.result.seed.replication, 100.0 * run.other_load));
  return notes;
}

std::string communication_note(const std::vector<CommunicationCost>& runs) {
  std::vector<double> server;
  std::vector<double> message;
  for (const CommunicationCost& run : runs) {
    server.push_back(run.server_request.value());
    message.push_back(run.per_message.value());
  }
  CommunicationCost middle;
  middle.server_request = Seconds{median(std::move(server))};
  middle.per_message = Seconds{median(std::move(message))};
  return fmt::format("messages took processor time: `{}`", live::scenario_words(middle));
}

std::string restart_note(const std::vector<live::Restart>& restarts) {
  std::vector<double> seconds;
  Seconds longest;
  for (const live::Restart& restart : restarts) {
    seconds.push_back(restart.took.value());
    longest = std::max(longest, restart.took);
  }
  return fmt::format("restarts of workers took up to {}, median: `switch_cost: {:.3g} s`",
                     format_time(longest), median(std::move(seconds)));
}

// A job that goes on without a worker is not the one that was asked for.
std::vector<std::string> failures_of(const live::LiveRun& run) {
  std::vector<std::string> failures;
  for (const live::LostWorker& lost : run.lost)
    failures.push_back(fmt::format("replication {}: worker {} {} at {}; the job went on without it",
                                   run.result.seed.replication, lost.worker.value, lost.reason,
                                   format_time(lost.at)));
  return failures;
}

// Each worker alone and beside the others, just before the job, where they share the machine.
std::vector<std::string> sharing_notes(const Scenario& scenario) {
  if (std::ranges::none_of(scenario.cluster.machines, &Machine::is_shared)) return {};
  Progress progress("timing processes beside each other");
  const live::SharingLoad load{.learner = network_learner_config(scenario, {scenario.seed, 0}),
                               .batch_samples = scenario.batching.initial_samples,
                               .passes = 2};
  const live::SharingTimes times =
      live::sharing_of(live::time_sharing(live::worker_program(), load,
                                          [&](double share) { progress.update(share, "all workers"); }),
                       live::usable_cores());
  return {fmt::format("before the job an iteration took {} alone; busy beside others, the server last: `{}`",
                      format_time(times.alone), live::scenario_words(times))};
}

double peak_memory_mib() {
  rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024.0;
}

int live_command(const LiveArguments& arguments) {
  PreparedStudy study =
      prepare_scenarios({load_scenario(arguments.file, arguments.overrides)}, ProfileUse::as_fitted);
  const LoadedScenario& loaded = study.scenarios.front();
  const Scenario& scenario = loaded.scenario;
  std::vector<std::string> notes = live::check_live(loaded);
  if (!scenario.hosts) std::ranges::move(sharing_notes(scenario), std::back_inserter(notes));
  const fs::path folder = arguments.output.empty()
                              ? fs::path("results") / (folder_name(scenario.name) + "-live")
                              : fs::path(arguments.output);
  StagedFolder staged(folder, arguments.force);
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
  std::vector<CommunicationCost> communication;
  std::vector<live::Restart> restarts;
  Progress progress("training");
  const auto start = std::chrono::steady_clock::now();
  for (int r = 0; r < scenario.replications; ++r) {
    live::LiveOptions options{.program = live::worker_program(),
                              .port = arguments.port,
                              .patience = Seconds{arguments.patience},
                              .accepts_load = arguments.accept_load,
                              .folder = staged.path(),
                              .links = live::emulated_network(scenario),
                              .recording = results.recording};
    options.recording.trace &= r == 0;
    options.progress = [&](double share) {
      progress.update((r + std::min(share, 1.0)) / scenario.replications,
                      fmt::format("run {} of {}", r + 1, scenario.replications));
    };
    live::LiveRun run = live::run_live(scenario, *profiles, static_cast<std::uint32_t>(r), options);
    std::ranges::move(failures_of(run), std::back_inserter(results.failures));
    std::ranges::move(notes_of(run), std::back_inserter(notes));
    communication.push_back(run.communication);
    std::ranges::move(run.restarts, std::back_inserter(restarts));
    results.runs.push_back(std::move(run.result));
  }
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  notes.push_back(communication_note(communication));
  if (!restarts.empty()) notes.push_back(restart_note(restarts));
  results.notes = std::move(notes);
  results.validity = validity_in(summaries_of(results.runs), std::move(results.validity));
  write_results(staged.path(), results,
                {reproducing_command("live", arguments), elapsed.count(), peak_memory_mib(), 1});
  staged.commit();
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
  live.add_flag("--force", arguments.force, "replace results that are already there");
  live.add_flag("--iterations", arguments.iterations,
                "also write iterations.csv: one row for each iteration");
  live.add_flag("--trace", arguments.trace,
                "also write trace.json (opens in Perfetto) and activities.csv, of the first replication");
  add_number(live, "--port", arguments.port, "of the server; 0: any that is free", 0, 65'535);
  live.add_flag("--accept-load", arguments.accept_load,
                "begin although other programs use the machine; results say so");
  add_number(live, "--patience", arguments.patience,
             "seconds after which a worker that owes something and says nothing is given up", 0.1, 1e6);
}

}  // namespace paceline
