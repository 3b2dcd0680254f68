#include "calibrate/validation/live_command.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "calibrate/live/live_run.hpp"
#include "calibrate/live/machine_load.hpp"
#include "calibrate/validation/live_gate.hpp"
#include "calibrate/validation/live_validation.hpp"
#include "calibrate/validation/validate_command.hpp"
#include "plots/figures/figures.hpp"
#include "sim/base/atomic_file.hpp"
#include "sim/base/csv.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/base/progress.hpp"
#include "sim/learning/network_learner.hpp"
#include "sim/report/output/staged_folder.hpp"
#include "sim/report/output/text_table.hpp"
#include "sim/study/checks_before_running.hpp"
#include "sim/study/input_files.hpp"
#include "sim/study/simulation.hpp"
#include "sim/study/study_runs.hpp"

namespace paceline {
namespace {

constexpr RecordingOptions with_iterations{.iterations = true, .trace = false};

struct LiveTrial {
  LoadedScenario loaded;
  std::shared_ptr<const Profiles> profiles;
  std::vector<RunResult> predicted;
  std::vector<RunResult> real;
  std::optional<NetworkConfig> links{};  // emulated: the scenario's own network, before it is measured
  GateFigures gate{};
  std::vector<BeforeRun> before{};  // each real run
  std::vector<double> other_loads{};
};

// A row for each quantity of each run.
std::string observations_csv(const std::vector<LiveTrial>& trials, std::vector<RunResult> LiveTrial::*runs) {
  CsvTable csv({"scenario", "run", "quantity", "unit", "value"});
  for (const LiveTrial& trial : trials)
    for (std::size_t r = 0; r < (trial.*runs).size(); ++r)
      for (const Observation& observation : observations_of((trial.*runs)[r])) {
        csv.add(trial.loaded.scenario.name);
        csv.add(r);
        csv.add(observation.quantity);
        csv.add(observation.unit);
        csv.add(observation.value);
        csv.end_row();
      }
  return csv.text();
}

// How the machine was before each real run.
std::string machine_csv(const std::vector<LiveTrial>& trials) {
  CsvTable csv({"scenario", "run", "iteration_alone_s", "iteration_alone_before_prediction_s", "other_load"});
  for (const LiveTrial& trial : trials)
    for (std::size_t r = 0; r < trial.before.size(); ++r) {
      csv.add(trial.loaded.scenario.name);
      csv.add(r);
      csv.add(trial.before[r].measured.value());
      csv.add(trial.before[r].sealed.value());
      csv.add(trial.other_loads.at(r));
      csv.end_row();
    }
  return csv.text();
}

// All scenarios at once, so that every mistake is known before the first run.
std::vector<LiveTrial> load_trials(const ValidateLiveArguments& arguments, InputFiles& files) {
  std::vector<LiveTrial> trials;
  UserErrors mistakes;
  for (const std::string& file : arguments.files)
    mistakes.attempt([&] {
      LiveTrial trial{
          .loaded = load_scenario(file, arguments.overrides), .profiles = {}, .predicted = {}, .real = {}};
      static_cast<void>(live::check_live(trial.loaded));
      if (trial.loaded.scenario.hosts)
        fail_at(trial.loaded, "hosts", "what is measured before a prediction is this machine",
                "remove `hosts`, or compare `paceline run` and `paceline live`");
      trial.links = live::emulated_network(trial.loaded.scenario);
      require_network_module();
      trial.profiles = files.profiles_of(trial.loaded);
      if (arguments.replications > 0) trial.loaded.scenario.replications = arguments.replications;
      for (const LiveTrial& other : trials)
        if (other.loaded.scenario.name == trial.loaded.scenario.name)
          throw UserError(fmt::format("two scenarios are called `{}`", trial.loaded.scenario.name),
                          "give each file a `name` of its own");
      trials.push_back(std::move(trial));
    });
  mistakes.throw_if_any();
  return trials;
}

void predict(LiveTrial& trial, int jobs) {
  PreparedStudy study = prepare_scenarios({trial.loaded}, ProfileUse::as_fitted);
  WholeRuns whole = run_whole(study, missing_runs(study.planned, {}), jobs, with_iterations);
  trial.predicted = std::move(whole.variants.front().runs);
}

// The prediction is on disk, and its hash said, before the first real process starts.
void seal(const std::filesystem::path& folder, const std::vector<LiveTrial>& trials,
          const std::string& command) {
  const std::filesystem::path file = folder / "prediction.csv";
  write_file_atomically(file, observations_csv(trials, &LiveTrial::predicted));
  const std::string hash = InputFiles().hash(file);
  const std::string time = fmt::format("{:%FT%TZ}", fmt::gmtime(std::chrono::system_clock::now()));
  nlohmann::ordered_json sealed{
      {"file", "prediction.csv"}, {"fnv1a", hash}, {"time", time}, {"command", command}};
  for (const LiveTrial& trial : trials) sealed["gate"][trial.loaded.scenario.name] = gate_json(trial.gate);
  write_file_atomically(folder / "sealed.json", sealed.dump(1) + "\n");
  fmt::print("sealed at {}: prediction.csv {}\n", time, hash);
  std::fflush(stdout);
}

// Run after run, each scenario in turn. False when a job was not carried out as asked for.
bool carry_out(std::vector<LiveTrial>& trials, const ValidateLiveArguments& arguments, const LiveGate& gate) {
  bool all_well = true;
  Progress progress("training");
  const double all = static_cast<double>(trials.size()) * arguments.runs;
  double done = 0.0;
  for (int r = 0; r < arguments.runs; ++r)
    for (LiveTrial& trial : trials) {
      const std::string& name = trial.loaded.scenario.name;
      live::LiveOptions options{.program = live::worker_program(),
                                .patience = Seconds{arguments.patience},
                                .accepts_load = arguments.accept_load,
                                .links = trial.links,
                                .recording = with_iterations};
      options.progress = [&](double share) {
        progress.update((done + std::min(share, 1.0)) / all,
                        fmt::format("run {} of {}, {}", r + 1, arguments.runs, name));
      };
      trial.before.push_back(gate.before_run(trial.loaded.scenario, *trial.profiles, trial.gate));
      live::LiveRun run =
          live::run_live(trial.loaded.scenario, *trial.profiles, static_cast<std::uint32_t>(r), options);
      ++done;
      for (const live::LostWorker& lost : run.lost)
        fmt::print(stderr, "error: {}, run {}: worker {} {} at {}\n", name, r, lost.worker.value, lost.reason,
                   format_time(lost.at));
      if (!run.result.stall.empty())
        fmt::print(stderr, "error: {}, run {}: the job stalled at {}\n{}", name, r,
                   format_time(run.result.end_time), run.result.stall);
      if (run.other_load > live::most_other_load)
        fmt::print(stderr,
                   "note: {}, run {}: {:.0f} % of the machine's processor time went to other programs\n",
                   name, r, 100.0 * run.other_load);
      all_well = all_well && run.lost.empty() && run.result.stall.empty();
      trial.other_loads.push_back(run.other_load);
      trial.real.push_back(std::move(run.result));
    }
  return all_well;
}

plots::Scatter scatter_of(const std::vector<LiveComparison>& all, const std::string& quantity,
                          const std::string& name, const std::string& title) {
  plots::Scatter scatter{
      .name = name,
      .x_title = "real " + title,
      .y_title = "predicted " + title,
      .note = "each point: medians of one scenario; bars: 90 % of the simulated runs; line: equal",
      .is_diagonal = true};
  for (const LiveComparison& comparison : all)
    for (const PredictedAndReal& row : comparison.rows) {
      if (row.quantity != quantity || !row.predicted || !row.real) continue;
      plots::ScatterPoint point{*row.real, *row.predicted};
      if (row.interval) {
        point.low = row.interval->low;
        point.high = row.interval->high;
      }
      scatter.series.push_back({comparison.scenario, {point}});
    }
  return scatter;
}

}  // namespace

bool validate_live(const ValidateLiveArguments& arguments, const std::string& command) {
  InputFiles files;
  std::vector<LiveTrial> trials = load_trials(arguments, files);
  StagedFolder staged(arguments.output, arguments.force);
  LiveGate gate(staged.path(),
                {.program = live::worker_program(),
                 .patience = Seconds{arguments.patience},
                 .accepts_load = arguments.accept_load},
                arguments.most_deviation);
  for (LiveTrial& trial : trials) {
    trial.gate = gate.measure(trial.loaded, trial.profiles, files);
    if (!trial.gate.stated.empty())
      fmt::print("{}: measured here, for the prediction: {}\n", trial.loaded.scenario.name,
                 trial.gate.stated);
    std::fflush(stdout);  // or every simulating process says it again
    predict(trial, arguments.jobs);
  }
  seal(staged.path(), trials, command);
  const bool all_well = carry_out(trials, arguments, gate);
  std::vector<LiveComparison> comparisons;
  for (const LiveTrial& trial : trials)
    comparisons.push_back(compare_live(trial.loaded.scenario, *trial.profiles, trial.predicted, trial.real));
  write_file_atomically(staged.path() / "measured.csv", observations_csv(trials, &LiveTrial::real));
  write_file_atomically(staged.path() / "machine.csv", machine_csv(trials));
  write_file_atomically(staged.path() / "validation.csv", live_validation_csv(comparisons));
  if (arguments.figures)
    for (const auto& [quantity, name, title] :
         {std::tuple{time_quantity, "time-to-accuracy", "time to accuracy [s]"},
          std::tuple{rate_quantity, "samples-per-second", "samples a second"}}) {
      const plots::Scatter scatter = scatter_of(comparisons, quantity, name, title);
      if (!scatter.series.empty()) plots::draw_figure(plots::scatter_figure(scatter), staged.path(), command);
    }
  write_validation_manifest(staged.path(), command);
  staged.commit();
  fmt::print("\n{}{}\nresults: {}\n", live_validation_text(comparisons), live_verdict(comparisons),
             arguments.output);
  return all_well;
}

}  // namespace paceline
