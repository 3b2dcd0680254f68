#include "calibrate/validation/live_command.hpp"

#include <algorithm>
#include <array>
#include <ctime>
#include <deque>
#include <filesystem>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "calibrate/live/communication_fit.hpp"
#include "calibrate/live/iteration_timing.hpp"
#include "calibrate/live/live_run.hpp"
#include "calibrate/live/machine_load.hpp"
#include "calibrate/live/sharing_timing.hpp"
#include "calibrate/logs/correction.hpp"
#include "calibrate/logs/text.hpp"
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
  std::string calibrated{};  // what of the scenario was measured instead, in its words; empty: nothing
  std::optional<live::SharingTimes> sharing{};
  std::vector<std::vector<live::AloneTime>> alone{};  // by worker
};

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text.data();
}

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

// All scenarios at once, so that every mistake is known before the first run.
std::vector<LiveTrial> load_trials(const ValidateLiveArguments& arguments, InputFiles& files) {
  std::vector<LiveTrial> trials;
  UserErrors mistakes;
  for (const std::string& file : arguments.files)
    mistakes.attempt([&] {
      LiveTrial trial{
          .loaded = load_scenario(file, arguments.overrides), .profiles = {}, .predicted = {}, .real = {}};
      static_cast<void>(live::check_live(trial.loaded));
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

void refuse_load(bool accepts_load) {
  const double load = live::other_load(Seconds{0.5});
  if (load > live::most_other_load && !accepts_load) throw live::LoadedMachine(load);
}

// What messages cost on this machine, for gradients of the size of a network's that take so long to compute.
class MeasuredCommunication {
 public:
  explicit MeasuredCommunication(bool accepts_load) : accepts_load_(accepts_load) {}

  const live::CommunicationFit& of(Bytes gradient, Seconds computing) {
    const auto values = static_cast<std::uint64_t>(std::max(1.0, gradient.value() / sizeof(float)));
    const std::pair point{values, computing};
    const auto known = fits_.find(point);
    if (known != fits_.end()) return known->second;
    refuse_load(accepts_load_);
    constexpr int passes = 5;
    Progress progress("timing requests");
    const std::vector<std::uint64_t> sizes = {values, 2 * values, 4 * values};
    return fits_[point] = live::fit_communication(live::time_passes(
               live::worker_program(), sizes, computing, passes, Seconds{0.2},
               [&](double share) { progress.update(share, fmt::format("{} values", values)); }));
  }

 private:
  bool accepts_load_;
  std::map<std::pair<std::uint64_t, Seconds>, live::CommunicationFit> fits_;
};

void add_calibrated(LiveTrial& trial, const std::string& words) {
  trial.calibrated += trial.calibrated.empty() ? words : ", " + words;
}

// Where the scenario does not say what messages cost it is measured; and so is the connection, since a live
// job does not impose the scenario's.
void calibrate_communication(LiveTrial& trial, MeasuredCommunication& measured) {
  Scenario& scenario = trial.loaded.scenario;
  if (!trial.profiles->distinct.front().loading)
    fmt::print(stderr,
               "note: {}: real workers fetch their batches, and the profile does not say how long that takes "
               "(`paceline calibrate --data`)\n",
               scenario.name);
  if (scenario.communication) return;
  const Seconds computing = quickest_iteration(scenario, *trial.profiles);
  const live::CommunicationFit& fit = measured.of(trial.profiles->job().parameter_bytes, computing);
  scenario.communication = cost_of(fit);
  add_calibrated(trial, live::scenario_words(*scenario.communication));
  if (scenario.cluster.network.topology == Topology::star) {
    const live::Connection connection = connection_of(fit);
    NetworkConfig& network = scenario.cluster.network;
    network.latency = connection.latency;
    network.bandwidth = connection.bandwidth;
    network.server_bandwidth = connection.bandwidth;
    add_calibrated(trial, fmt::format("network: {{{}}}", live::scenario_words(connection)));
  }
}

// How much processes slow each other down on this machine: each worker alone, several, all and a server.
class MeasuredSharing {
 public:
  explicit MeasuredSharing(bool accepts_load) : accepts_load_(accepts_load) {}

  const live::SharingTimes& of(const Scenario& scenario, Seconds iteration) {
    const std::tuple point{scenario.job.network, scenario.learner.model, scenario.batching.initial_samples,
                           scenario.cluster.workers.size()};
    const auto known = times_.find(point);
    if (known != times_.end()) return known->second;
    refuse_load(accepts_load_);
    Progress progress("timing processes beside each other");
    const live::SharingLoad load{.learner = network_learner_config(scenario, {scenario.seed, 0}),
                                 .batch_samples = scenario.batching.initial_samples,
                                 .for_each = std::max(Seconds{0.5}, 10.0 * iteration)};
    const auto passes = live::time_sharing(
        live::worker_program(), load, [&](double share) { progress.update(share, scenario.job.network); });
    return times_[point] = live::sharing_of(passes, live::usable_cores());
  }

 private:
  bool accepts_load_;
  std::map<std::tuple<std::string, std::string, std::int64_t, std::size_t>, live::SharingTimes> times_;
};

// Where a shared machine has no speeds in the scenario, it is this one.
void calibrate_sharing(LiveTrial& trial, MeasuredSharing& measured) {
  Scenario& scenario = trial.loaded.scenario;
  for (Machine& machine : scenario.cluster.machines) {
    if (!machine.is_shared || !machine.speeds.empty()) continue;
    Scenario without_quotas = scenario;
    for (Worker& worker : without_quotas.cluster.workers) worker.quota.reset();
    const Seconds calibrated = quickest_iteration(without_quotas, *trial.profiles);
    trial.sharing = measured.of(scenario, calibrated);
    machine.cores = trial.sharing->cores;
    machine.speeds = trial.sharing->speeds;
    add_calibrated(trial, fmt::format("machines: [{{{}}}]", live::scenario_words(*trial.sharing)));
  }
}

// What each worker's iterations take when it has the job for itself, just now; workers that are alike are timed
// once.
class MeasuredIterations {
 public:
  MeasuredIterations(std::filesystem::path folder, live::LiveOptions options)
      : folder_(std::move(folder)), options_(std::move(options)) {}

  struct Timed {
    std::vector<live::AloneTime> times;
    std::string profile;  // corrected by them
  };
  const Timed& of(const LiveTrial& trial, WorkerId worker) {
    const Scenario& scenario = trial.loaded.scenario;
    const std::vector<std::int64_t> batches = live::batches_to_time(scenario.batching);
    Worker alike = scenario.cluster.workers.at(worker.value);
    alike.name.clear();
    alike.price_per_hour.reset();
    alike.random_stream.reset();
    for (const Known& known : known_)
      if (known.worker == alike && known.network == scenario.job.network && known.batches == batches &&
          known.learner == scenario.learner.model && known.job_profile == scenario.job.profile)
        return known.timed;
    Progress progress("timing iterations");
    Timed timed{live::time_alone(scenario, *trial.profiles, worker, batches, options_,
                                 [&](double share) {
                                   progress.update(
                                       share, fmt::format("{}, {}", scenario.name,
                                                          name_of(scenario.cluster.workers, worker.value)));
                                 }),
                folder_ / fmt::format("profile-{}.json", known_.size())};
    const Profile& profile = trial.profiles->of(worker.value);
    if (profile.correction)
      timed.profile = profile.path;
    else
      correct(profile, alike.cores, timed);
    known_.push_back({alike, scenario.job.network, scenario.learner.model, scenario.job.profile, batches,
                      std::move(timed)});
    return known_.back().timed;
  }

 private:
  struct Known {
    Worker worker;
    std::string network;
    std::string learner;
    std::filesystem::path job_profile;
    std::vector<std::int64_t> batches;
    Timed timed;
  };

  static void correct(const Profile& profile, int cores, const Timed& timed) {
    std::vector<calibrate::OwnBatchTime> times;
    for (const live::AloneTime& time : timed.times) times.push_back(time.computing);
    const auto by = times.size() == 1 ? calibrate::CorrectBy::factor : calibrate::CorrectBy::whatever_fits;
    const calibrate::Correction correction =
        calibrate::correct(profile, times, {.cores = cores, .by = by, .with_optimizer_step = false});
    write_file_atomically(timed.profile, calibrate::corrected_profile_text(
                                             profile.path, correction,
                                             {.source = "a live job of one worker", .date = utc_now()}));
  }

  std::filesystem::path folder_;
  live::LiveOptions options_;
  std::deque<Known> known_;
};

void calibrate_iterations(LiveTrial& trial, MeasuredIterations& measured, InputFiles& files) {
  std::vector<Worker>& workers = trial.loaded.scenario.cluster.workers;
  std::vector<std::string> corrected;
  for (std::uint64_t w = 0; w < workers.size(); ++w) {
    const MeasuredIterations::Timed& timed = measured.of(trial, WorkerId{w});
    trial.alone.push_back(timed.times);
    corrected.push_back(timed.profile);
    for (const live::AloneTime& time : timed.times)
      fmt::print("{}: {}, alone: an iteration of {} takes {} (calibrated: {})\n", trial.loaded.scenario.name,
                 name_of(workers, w), time.computing.batch, calibrate::duration_text(time.measured.value()),
                 calibrate::duration_text(time.modelled.value()));
  }
  for (std::size_t w = 0; w < workers.size(); ++w) workers[w].profile = corrected[w];
  trial.profiles = files.profiles_of(trial.loaded);
}

void say_calibrated(const LiveTrial& trial) {
  if (!trial.calibrated.empty())
    fmt::print("{}: measured here, for the prediction: {}\n", trial.loaded.scenario.name, trial.calibrated);
  std::fflush(stdout);  // or every simulating process says it again
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
  const std::string time = utc_now();
  nlohmann::ordered_json sealed{
      {"file", "prediction.csv"}, {"fnv1a", hash}, {"time", time}, {"command", command}};
  for (const LiveTrial& trial : trials)
    if (!trial.calibrated.empty()) sealed["calibrated"][trial.loaded.scenario.name] = trial.calibrated;
  for (const LiveTrial& trial : trials) {
    nlohmann::ordered_json& gate = sealed["gate"][trial.loaded.scenario.name];
    for (std::size_t w = 0; w < trial.alone.size(); ++w)
      for (const live::AloneTime& own : trial.alone[w])
        gate["alone"].push_back({{"worker", w},
                                 {"batch", own.computing.batch},
                                 {"measured_s", own.measured.value()},
                                 {"calibrated_s", own.modelled.value()},
                                 {"half_width_s", own.computing.wall.half_width_s}});
    if (trial.sharing)
      gate["sharing"] = {{"cores", trial.sharing->cores},
                         {"without_messages_s", trial.sharing->alone.value()},
                         {"speeds_of_busy_processes", trial.sharing->speeds}};
  }
  write_file_atomically(folder / "sealed.json", sealed.dump(1) + "\n");
  fmt::print("sealed at {}: prediction.csv {}\n", time, hash);
  std::fflush(stdout);
}

// Iterations of a live run begin and end when its server hears of it; their times are what the workers
// measured: computing alone, where a simulated one holds the processor time of its messages, too.
void use_measured_times(live::LiveRun& run) {
  std::map<WorkerId, std::deque<Seconds>> durations;
  for (const live::TimedEvent& timed : run.events)
    if (const auto* finished = std::get_if<IterationFinished>(&timed.event))
      durations[finished->worker].push_back(finished->compute_time);
  for (IterationRecord& iteration : run.result.iterations) {
    std::deque<Seconds>& of_worker = durations[iteration.worker];
    if (!iteration.finish || of_worker.empty()) continue;
    if (iteration.start) iteration.start = *iteration.finish - of_worker.front();
    of_worker.pop_front();
  }
}

// Run after run, each scenario in turn. False when a job was not carried out as asked for.
bool carry_out(std::vector<LiveTrial>& trials, const ValidateLiveArguments& arguments) {
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
                                .recording = with_iterations};
      options.progress = [&](double share) {
        progress.update((done + std::min(share, 1.0)) / all,
                        fmt::format("run {} of {}, {}", r + 1, arguments.runs, name));
      };
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
      use_measured_times(run);
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
  MeasuredCommunication measured(arguments.accept_load);
  MeasuredSharing sharing(arguments.accept_load);
  MeasuredIterations iterations(staged.path(), {.program = live::worker_program(),
                                                .patience = Seconds{arguments.patience},
                                                .accepts_load = arguments.accept_load});
  for (LiveTrial& trial : trials) {
    calibrate_iterations(trial, iterations, files);
    calibrate_communication(trial, measured);
    calibrate_sharing(trial, sharing);
    say_calibrated(trial);
    predict(trial, arguments.jobs);
  }
  seal(staged.path(), trials, command);
  const bool all_well = carry_out(trials, arguments);
  std::vector<LiveComparison> comparisons;
  for (const LiveTrial& trial : trials)
    comparisons.push_back(compare_live(trial.loaded.scenario, *trial.profiles, trial.predicted, trial.real));
  write_file_atomically(staged.path() / "measured.csv", observations_csv(trials, &LiveTrial::real));
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
