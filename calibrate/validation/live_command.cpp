#include "calibrate/validation/live_command.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>

#include <fmt/format.h>

#include "calibrate/live/live_run.hpp"
#include "calibrate/live/machine_load.hpp"
#include "calibrate/live/steady_machine.hpp"
#include "calibrate/validation/live_gate.hpp"
#include "calibrate/validation/live_record.hpp"
#include "calibrate/validation/live_trial.hpp"
#include "calibrate/validation/live_validation.hpp"
#include "calibrate/validation/validate_command.hpp"
#include "plots/figures/figures.hpp"
#include "sim/base/atomic_file.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/base/interrupt.hpp"
#include "sim/base/progress.hpp"
#include "sim/learning/network_learner.hpp"
#include "sim/report/output/staged_folder.hpp"
#include "sim/report/output/text_table.hpp"
#include "sim/study/checks_before_running.hpp"
#include "sim/study/input_files.hpp"
#include "sim/study/simulation.hpp"
#include "sim/study/store/content_hash.hpp"
#include "sim/study/study_runs.hpp"

namespace paceline {
namespace {

namespace fs = std::filesystem;

// The median of a few runs under a controller that follows noise is itself a matter of chance.
constexpr int fewest_simulated = 20;

constexpr RecordingOptions with_iterations{.iterations = true, .trace = false};

live::LiveOptions gate_options(const ValidateLiveArguments& arguments) {
  return {.program = live::worker_program(),
          .patience = Seconds{arguments.patience},
          .accepts_load = arguments.accept_load};
}

// All scenarios at once, so that every mistake is known before the first run.
std::vector<LiveTrial> load_trials(const ValidateLiveArguments& arguments, InputFiles& files) {
  std::vector<LiveTrial> trials;
  UserErrors mistakes;
  for (const std::string& file : arguments.files)
    mistakes.attempt([&] {
      LiveTrial trial{.loaded = load_scenario(file, arguments.overrides), .profiles = {}};
      static_cast<void>(live::check_live(trial.loaded));
      static_cast<void>(check_before_running(trial.loaded, files));
      if (trial.loaded.scenario.hosts)
        fail_at(trial.loaded, "hosts", "what is measured before a prediction is this machine",
                "remove `hosts`, or compare `paceline run` and `paceline live`");
      trial.links = live::emulated_network(trial.loaded.scenario);
      require_network_module();
      trial.profiles = files.profiles_of(trial.loaded);
      int& replications = trial.loaded.scenario.replications;
      replications =
          arguments.replications > 0 ? arguments.replications : std::max(replications, fewest_simulated);
      trial.digest = content_hash(fmt::format("{} {}", scenario_digest(trial.loaded, files, false),
                                              trial.loaded.scenario.replications));
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

// The prediction is on disk before the first real process of a job starts, and its folder there from then on.
void predict_and_seal(const ValidateLiveArguments& arguments, std::vector<LiveTrial>& trials,
                      const live::BegunBy& by) {
  StagedFolder staged(arguments.output, arguments.force);
  LiveGate gate(staged.path(), gate_options(arguments), arguments.most_deviation, Seconds{arguments.wait});
  for (LiveTrial& trial : trials) {
    trial.gate = gate.measure(trial.loaded, trial.profiles);
    if (!trial.gate.stated.empty())
      fmt::print("{}: measured here, for the prediction: {}\n", trial.loaded.scenario.name,
                 trial.gate.stated);
  }
  const double slowness = gate.settle();
  fmt::print("looked at again and again meanwhile, iterations took {:.3g} times as long as at first\n",
             slowness);
  std::fflush(stdout);  // or every simulating process says it again
  for (LiveTrial& trial : trials) {
    gate.slow_down(trial.loaded, trial.profiles, trial.gate, slowness);
    predict(trial, arguments.jobs);
  }
  seal(staged.path(), trials, gate.usual_iteration(), by);
  write_validation_manifest(staged.path(), by.command);
  refuse_to_replace(arguments.output, arguments.force);  // what another process has sealed there meanwhile
  staged.commit();
}

// Run after run, each scenario in turn; what the record has is left out.
void carry_out_missing(std::vector<LiveTrial>& trials, const ValidateLiveArguments& arguments,
                       LiveRecord& record) {
  MachinePace pace(gate_options(arguments), arguments.most_deviation, Seconds{arguments.wait});
  pace.go_on(trials.front().loaded.scenario, trials.front().profiles, record.usual_iteration());
  int sitting = 0;
  for (const LiveTrial& trial : trials)
    for (const live::RealRun& run : trial.real) sitting = std::max(sitting, run.sitting + 1);
  Progress progress("training");
  const double all = static_cast<double>(trials.size()) * arguments.runs;
  for (std::uint32_t r = 0; r < static_cast<std::uint32_t>(arguments.runs); ++r)
    for (LiveTrial& trial : trials) {
      if (trial.real.size() > r) continue;
      const std::string& name = trial.loaded.scenario.name;
      live::LiveOptions options = gate_options(arguments);
      options.progress = [&, done = static_cast<double>(real_runs(trials))](double share) {
        progress.update((done + std::min(share, 1.0)) / all,
                        fmt::format("run {} of {}, {}", r + 1, arguments.runs, name));
      };
      options.links = trial.links;
      options.recording = with_iterations;
      live::RealRun& run = trial.real.emplace_back(pace.run_steadily(
          name, [&] { return live::carry_out(trial.loaded.scenario, *trial.profiles, r, options); }));
      run.sitting = sitting;
      record.keep(trial, trials);
      if (run.other_load > live::most_other_load)
        fmt::print(stderr,
                   "note: {}, run {}: {:.0f} % of the machine's processor time went to other programs\n",
                   name, r, 100.0 * run.other_load);
    }
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
  const fs::path folder = arguments.output;
  std::optional<live::SteadyMachine> machine(std::in_place, arguments.as_it_is);
  const live::BegunBy by = live::begun_by(command, machine->text());
  if (!machine->is_as_asked()) fmt::print(stderr, "note: jobs have {}\n", by.machine);
  if (arguments.force || !LiveRecord::is_unfinished(folder)) predict_and_seal(arguments, trials, by);
  LiveRecord record(folder, trials, by);
  fmt::print("{}\n", record.sealed_text());
  std::fflush(stdout);
  const std::size_t all = trials.size() * static_cast<std::size_t>(arguments.runs);
  if (const std::size_t kept = real_runs(trials); kept > 0)
    fmt::print(stderr, "{} of {} runs are there already\n", kept, all);
  const auto kept_text = [&] {
    return fmt::format(
        "the sealed prediction and {} of {} runs are kept in {}; the same command{} carries out the others",
        real_runs(trials), all, folder.string(), arguments.force ? " without --force" : "");
  };
  try {
    carry_out_missing(trials, arguments, record);
  } catch (const Interrupted& interrupt) {
    throw Interrupted(interrupt.signal_number(), "interrupted: " + kept_text());
  } catch (const std::exception&) {
    fmt::print(stderr, "note: {}\n", kept_text());
    throw;
  }
  machine.reset();
  std::vector<LiveComparison> comparisons;
  bool all_well = true;
  for (const LiveTrial& trial : trials) {
    for (std::size_t r = 0; r < trial.real.size(); ++r) {
      const RunResult& result = trial.real[r].result;
      std::vector<std::string> failures = trial.real[r].failures;
      if (!result.stall.empty())
        failures.push_back(
            fmt::format("the job stalled at {}\n{}", format_time(result.end_time), result.stall));
      for (const std::string& failure : failures) {
        fmt::print(stderr, "error: {}, run {}: {}\n", trial.loaded.scenario.name, r, failure);
        all_well = false;
      }
    }
    comparisons.push_back(compare_live(trial.loaded.scenario, *trial.profiles, trial.predicted, trial.real));
  }
  write_file_atomically(folder / "machine.csv", machine_csv(trials));
  write_file_atomically(folder / "validation.csv", live_validation_csv(comparisons));
  if (arguments.figures)
    for (const auto& [quantity, name, title] :
         {std::tuple{time_quantity, "time-to-accuracy", "time to accuracy [s]"},
          std::tuple{rate_quantity, "samples-per-second", "samples a second"}}) {
      const plots::Scatter scatter = scatter_of(comparisons, quantity, name, title);
      if (!scatter.series.empty()) plots::draw_figure(plots::scatter_figure(scatter), folder, command);
    }
  record.finish();
  const std::string note = sittings_note(trials);
  write_validation_manifest(folder, command, note);
  fmt::print("\n{}{}\n{}\nresults: {}\n", live_validation_text(comparisons), pace_text(trials),
             live_verdict(comparisons), arguments.output);
  if (!note.empty()) fmt::print(stderr, "note: {}\n", note);
  return all_well;
}

}  // namespace paceline
