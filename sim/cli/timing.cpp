// timing: how long to train synchronously first, by Sync-Switch's search over simulated runs.
#include <filesystem>

#include <fmt/format.h>

#include "plots/figures/figures.hpp"
#include "sim/base/atomic_file.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/base/json.hpp"
#include "sim/cli/options.hpp"
#include "sim/cli/study.hpp"
#include "sim/report/output/text_table.hpp"
#include "sim/scenario/sweep/study_plan.hpp"
#include "sim/study/checks_before_running.hpp"
#include "sim/study/search/binary_search.hpp"

namespace paceline {
namespace {

struct TimingArguments {
  RunArguments run;
  double target = 0.0;  // 0: what synchronous training alone reaches
  double tolerance = 0.01;
  bool one_sided = false;
  int replications = 5;
  int settings = 5;
  int fresh = 20;
  std::string recorded;  // CSV file; empty: none
  bool figures = true;
};

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using namespace search;

constexpr const char* share_key = "synchronization.0.share";

// The search varies the first phase's share, and judges by the accuracy at the end.
void check_searchable(const LoadedScenario& loaded) {
  const std::vector<PhaseEntry>& phases = loaded.scenario.synchronization;
  const bool fits = phases.size() == 2 && phases[0].share && !phases[1].share && !phases[1].length &&
                    phases[0].config.policy->waits_for == WaitsFor::all;
  if (!fits)
    fail_at(
        loaded, "synchronization.0.policy",
        "a share is searched for in a job of two phases: `bsp` with a `share`, and another one for the rest",
        "for example synchronization: [{policy: bsp, transport: server, share: 50 %}, "
        "{policy: asp, transport: server}]");
  if (loaded.scenario.learner.kind == LearnerKind::none)
    fail_at(loaded, "learner.kind", "a share is judged by its accuracy: this job does not learn",
            "choose another learner");
  if (loaded.scenario.stop.accuracy)
    fail_at(loaded, "stop.accuracy", "a job that ends at its target shows no converged accuracy",
            "remove `stop.accuracy`; the target of the search is --target");
}

// Replications 0 ... of one share; what there is to note about them is added to `notes`.
Outcome simulate_share(const RunArguments& arguments, double share, int replications,
                       std::vector<std::string>& notes) {
  std::vector<std::string> overrides = arguments.overrides;
  overrides.push_back(fmt::format("{}={} %", share_key, 100.0 * share));
  overrides.push_back(fmt::format("replications={}", replications));
  PreparedStudy study = prepare_scenario(arguments.file, overrides, ProfileUse::as_fitted);
  const WholeRuns whole = run_whole(study, missing_runs(study.planned, {}), arguments.jobs, {});
  const ScenarioResults& results = whole.variants.front();
  notes.insert(notes.end(), results.notes.begin(), results.notes.end());
  if (!results.failures.empty())
    throw SimulationFailed(fmt::format("share {:.6g} %, {}", 100.0 * share, results.failures.front()));
  const std::vector<RunSummary> summaries = summaries_of(results.runs);
  return {summaries.begin(), summaries.end()};
}

std::string share_text(double share) {
  return fmt::format("{:.6g} %", 100.0 * share);
}

std::string table_of(const TimingChoice& choice, const TimingRules& rules, bool has_assumed_learner) {
  TextRows rows{{"share", "accuracy", "time", ""}};
  const auto add = [&](const TriedShare& tried) {
    rows.push_back({share_text(tried.share), fmt::format("{:.4f}", tried.mean_accuracy),
                    format_time(Seconds{tried.mean_time_s}), tried.is_good ? "good" : ""});
  };
  add(choice.all_synchronous);
  for (const TriedShare& tried : choice.tried) add(tried);
  AssumedLearners assumed;
  assumed.count(has_assumed_learner);
  std::string text =
      fmt::format("target {:.4f}{}, tolerance {:g}, {}; {} runs of each share\n{}{}chosen: {}\n",
                  choice.target_accuracy, rules.target_accuracy ? "" : " (of BSP alone)", rules.tolerance,
                  rules.sides == Sides::two ? "two-sided" : "one-sided", rules.replications,
                  text_table(std::move(rows)), assumed.note(), share_text(choice.chosen));
  for (const FreshRuns& fresh : choice.fresh)
    text += fmt::format(
        "{} on {} fresh seeds: {:.4f} in {}; P(within tolerance) {:.2f}, 90 % interval {:.2f} to {:.2f} ({} "
        "of {})\n",
        share_text(fresh.share), fresh.runs, fresh.mean_accuracy, format_time(Seconds{fresh.mean_time_s}),
        fresh.p_within(), fresh.interval().low, fresh.interval().high, fresh.within_tolerance, fresh.runs);
  text += fmt::format("cost of the search: {} runs, {} of training one after the other; ", choice.cost.runs,
                      format_time(Seconds{choice.cost.simulated_s}));
  return text + (choice.jobs_to_pay_off
                     ? fmt::format("it pays off with the {:.0f}th job\n", *choice.jobs_to_pay_off)
                     : "it never pays off\n");
}

Json json_of(const TimingChoice& choice, const TimingRules& rules, bool has_assumed_learner,
             const std::string& command) {
  Json tried = Json::array();
  for (const TriedShare& share : choice.tried)
    tried.push_back({{"share", share.share},
                     {"mean_accuracy", share.mean_accuracy},
                     {"accuracy_deviation", share.accuracy_deviation},
                     {"mean_time_s", share.mean_time_s},
                     {"is_good", share.is_good}});
  Json fresh = Json::array();
  for (const FreshRuns& runs : choice.fresh)
    fresh.push_back({{"share", runs.share},
                     {"runs", runs.runs},
                     {"within_tolerance", runs.within_tolerance},
                     {"p_within", runs.p_within()},
                     {"p_within_low", runs.interval().low},
                     {"p_within_high", runs.interval().high},
                     {"mean_accuracy", runs.mean_accuracy},
                     {"mean_time_s", runs.mean_time_s},
                     {"is_good", runs.is_good}});
  return {{"format", "paceline-timing"},
          {"version", 1},
          {"command", command},
          {"assumed_learner", has_assumed_learner},
          {"target_accuracy", choice.target_accuracy},
          {"tolerance", rules.tolerance},
          {"two_sided", rules.sides == Sides::two},
          {"runs_of_each_share", rules.replications},
          {"bsp_alone",
           {{"mean_accuracy", choice.all_synchronous.mean_accuracy},
            {"mean_time_s", choice.all_synchronous.mean_time_s}}},
          {"tried", tried},
          {"chosen", choice.chosen},
          {"fresh", fresh},
          {"cost", {{"runs", choice.cost.runs}, {"simulated_s", choice.cost.simulated_s}}},
          {"jobs_to_pay_off", choice.jobs_to_pay_off}};
}

std::string command_of(const TimingArguments& arguments) {
  std::string command = reproducing_command("timing", arguments.run);
  if (arguments.target > 0.0) command += fmt::format(" --target {}", arguments.target);
  if (arguments.one_sided) command += " --one-sided";
  if (!arguments.recorded.empty()) command += fmt::format(" --recorded {}", shell_quoted(arguments.recorded));
  return command + fmt::format(" --tolerance {} --runs {} --settings {} --fresh {}", arguments.tolerance,
                               arguments.replications, arguments.settings, arguments.fresh);
}

void draw(const TimingChoice& choice, bool has_assumed_learner, const TimingArguments& arguments,
          const fs::path& folder) {
  plots::ShareResults results{.tried = {},
                              .target = choice.target_accuracy,
                              .tolerance = arguments.tolerance,
                              .chosen = choice.chosen,
                              .has_assumed_learner = has_assumed_learner,
                              .recorded = {}};
  const auto add = [&](const TriedShare& share) {
    results.tried.push_back({share.share, share.mean_accuracy, share.accuracy_deviation});
  };
  add(choice.all_synchronous);
  for (const TriedShare& share : choice.tried) add(share);
  if (!arguments.recorded.empty()) results.recorded = plots::read_recorded_shares(arguments.recorded);
  plots::draw_figure(plots::share_figure(results), folder, command_of(arguments));
}

// Known before the first run.
void prepare(const fs::path& folder, bool force) {
  std::error_code failure;
  fs::create_directories(folder, failure);
  if (!fs::is_directory(folder))
    throw UserError(fmt::format("cannot create the folder {}: {}", folder.string(),
                                failure ? failure.message() : "a file has that name"),
                    "name another folder with -o");
  if (!force && fs::exists(folder / "timing.json"))
    throw UserError(fmt::format("{} exists", (folder / "timing.json").string()),
                    "--force replaces it; or name another folder with -o");
}

[[noreturn]] void refuse_target(const TargetOutOfReach& target, const TimingRules& rules) {
  const bool too_high = target.target_accuracy > target.reached;
  throw UserError(
      fmt::format("the target {:g} is {} what BSP alone reaches: {:.4f}, mean of {} runs",
                  target.target_accuracy, too_high ? "above" : "below", target.reached, rules.replications),
      too_high ? "lower --target, or leave it out"
               : "raise --target, leave it out, or take every accuracy above it with --one-sided");
}

int timing_command(const TimingArguments& arguments) {
  const LoadedScenario loaded = load_scenario(arguments.run.file, arguments.run.overrides);
  check_searchable(loaded);
  const TimingRules rules{
      .target_accuracy = arguments.target > 0.0 ? std::optional(arguments.target) : std::nullopt,
      .tolerance = arguments.tolerance,
      .sides = arguments.one_sided ? Sides::one : Sides::two,
      .replications = arguments.replications,
      .settings = arguments.settings,
      .fresh_replications = arguments.fresh};
  const fs::path folder =
      arguments.run.output.empty()
          ? fs::path("results") / fmt::format("{}-timing", folder_name(loaded.scenario.name))
          : fs::path(arguments.run.output);
  prepare(folder, arguments.run.force);
  std::vector<std::string> notes;
  Trials trials([&](double share, int runs) { return simulate_share(arguments.run, share, runs, notes); });
  const TimingResult result = binary_search(rules, trials);
  if (result.out_of_reach) refuse_target(*result.out_of_reach, rules);
  const bool assumed = loaded.scenario.learner.kind == LearnerKind::assumed;
  const Json result_json = json_of(*result.choice, rules, assumed, command_of(arguments));
  write_file_atomically(folder / "timing.json", result_json.dump(2) + "\n");
  if (arguments.figures) draw(*result.choice, assumed, arguments, folder);
  std::vector<std::string> warnings = loaded.warnings;
  if (const std::optional<FreshRuns> against = contradiction(*result.choice))
    warnings.push_back(fmt::format(
        "warning: {} was {} the target on {} fresh seeds: {:.4f}, target {:.4f}; let the search try each "
        "share more often, with --runs\n",
        share_text(against->share), against->is_good ? "not chosen but keeps" : "chosen but misses",
        against->runs, against->mean_accuracy, result.choice->target_accuracy));
  print_warnings(warnings, notes);
  if (arguments.run.json) {
    fmt::print("{}\n", result_json.dump(2));
  } else {
    fmt::print("{}\nresults: {}\n", table_of(*result.choice, rules, assumed), folder.string());
  }
  return exit_done;
}

}  // namespace

void add_timing(CLI::App& app, CommandAction& action) {
  auto [timing, arguments] = add_command<TimingArguments>(
      app, "timing",
      "search how long to train synchronously first: the smallest share that keeps the accuracy",
      timing_command, action);
  timing.footer(
      "Example:\n  paceline timing scenarios/sync-switch/setup1.yaml --tolerance 0.01 -o results/timing");
  add_file_options(timing, arguments.run, "scenario (YAML) of two phases, the first with a share, under BSP");
  add_simulation_options(timing, arguments.run, "results folder (default: results/<name>-timing)");
  timing.add_option("--target", arguments.target, "accuracy to keep (default: what BSP alone reaches)")
      ->check(CLI::Range(0.0, 1.0));
  add_number(timing, "--tolerance", arguments.tolerance, "by which a mean may miss the target", 1e-6, 1.0);
  timing.add_flag("--one-sided", arguments.one_sided, "better than the target is good too");
  add_number(timing, "--runs", arguments.replications, "of each share", 1, 100'000);
  add_number(timing, "--settings", arguments.settings, "shares tried between 0 and 100 %", 1, 30);
  add_number(timing, "--fresh", arguments.fresh, "further seeds for the chosen share and the next lower one",
             0, 100'000);
  add_path(timing, "--recorded", arguments.recorded,
           "CSV file (share_percent,final_accuracy) of recorded values, drawn as circles", "FILE");
  timing.add_flag("!--no-figures", arguments.figures, "do not draw accuracy against share");
}

}  // namespace paceline
