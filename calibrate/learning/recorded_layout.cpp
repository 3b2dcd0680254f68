#include "calibrate/learning/recorded_layout.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <regex>

#include <fmt/format.h>

#include "calibrate/learning/curve_log.hpp"
#include "calibrate/learning/recorded_policy.hpp"
#include "calibrate/logs/recorded_times.hpp"
#include "sim/base/csv.hpp"
#include "sim/base/diagnostic.hpp"

namespace paceline {
namespace {

constexpr const char* second_campaign_from = "2020-09-01";
constexpr const char* policies_file = "policies.yaml";
constexpr const char* time_column = "wall_time_s";
constexpr std::size_t fewest_records = 5;
constexpr double least_interval_s = 50.0;  // of whole seconds: 2 % from rounding

std::string name_of(const CsvRow& row) {
  return fmt::format("{}/{}/run{}", row.text("setup"), row.text("policy"), row.text("run"));
}

struct RecordedPhases {
  std::vector<PhaseTime> phases;
  double workers = 0.0;
  bool ends_with_last_loss = false;  // the time, not the job
};

std::map<std::string, RecordedPhases> read_phases(const std::filesystem::path& file) {
  const CsvFile csv(file);
  std::map<std::string, RecordedPhases> by_run;
  for (const CsvRow& row : csv.rows()) {
    RecordedPhases& run = by_run[name_of(row)];
    run.workers = row.positive("workers");
    run.ends_with_last_loss = csv.has("source") && row.text("source") == "loss_csv";
    run.phases.push_back(
        {row.text("protocol") == "BSP", row.positive("steps"), row.positive("seconds_per_step")});
  }
  return by_run;
}

std::string campaign_of(const CsvRow& row) {
  static const std::regex with_workers(R"((.*cifar.*)-\d+)");
  std::smatch match;
  const std::string& setup = row.text("setup");
  const std::string network = std::regex_match(setup, match, with_workers) ? match[1].str() : setup;
  // A straggler setup repeats the network of the campaign of its time.
  if (network.starts_with("straggler") && network.find("cifar") == std::string::npos)
    return "resnet32-cifar10, from September 2020";
  if (network.find("cifar") == std::string::npos || network.find("cifar100") != std::string::npos)
    return network;
  const bool second = row.text("date_utc") >= second_campaign_from;
  return network + (second ? ", from September 2020" : ", until August 2020");
}

// Of "resnet50-cifar100": a ResNet made for larger images has a name of its own here when its images are
// small.
Identity identity_of(const std::string& campaign) {
  static const std::regex parts(R"((\w+)-(cifar10|cifar100)(,.*)?)");
  std::smatch match;
  if (!std::regex_match(campaign, match, parts)) return {};
  const std::string network = match[1].str();
  const bool is_for_larger = network == "resnet18" || network == "resnet50";
  return {.network = is_for_larger ? network + "-cifar" : network, .dataset = match[2].str()};
}

// Times in whole seconds tell intervals of seconds apart from pauses only by chance.
bool is_fine_enough(const std::vector<calibrate::StepRecord>& records) {
  const bool whole = std::ranges::all_of(
      records, [](double time_s) { return time_s == std::floor(time_s); }, &calibrate::StepRecord::time_s);
  const double intervals = static_cast<double>(records.size()) - 1.0;
  return !whole || (records.back().time_s - records.front().time_s) / intervals >= least_interval_s;
}

// Records after step `from` and up to `until`, steps and times ascending.
std::vector<calibrate::StepRecord> records_between(const CurveLog& log, double from, double until) {
  std::vector<calibrate::StepRecord> records;
  for (const CurveRow& row : log.rows) {
    if (row.step <= from || row.step > until) continue;
    if (!records.empty() && (row.step <= records.back().step || *row.time_s <= records.back().time_s))
      continue;
    records.push_back({*row.time_s, row.step});
  }
  return records;
}

TrainingPlan plan_of(const CsvRow& row, const RecordedPolicy& policy, double workers) {
  TrainingPlan plan;
  plan.workers = static_cast<std::uint32_t>(std::lround(workers));
  plan.momentum = policy.momentum;
  plan.delayed_workers = policy.delayed_workers;
  plan.added_latency_s = policy.added_latency_s;
  const bool recorded = !row.text("workload_minibatches").empty();
  const double steps = row.positive("end_step");
  const double workload = recorded ? row.positive("workload_minibatches")
                                   : steps * (policy.phases.front().synchronous ? workers : 1.0);
  plan.phases = policy.phases;
  for (PlanPhase& phase : plan.phases) phase.minibatches *= workload;
  const std::string& basis = row.text("lr_drop_basis");
  if (basis == "workload50") {
    plan.drops_minibatches = {0.5 * workload, 0.75 * workload};
  } else if (basis == "step32000") {
    for (const double step : {32000.0, 48000.0})
      if (plan.minibatches_at_step(step) < workload)
        plan.drops_minibatches.push_back(plan.minibatches_at_step(step));
  } else {
    row.fail_at("lr_drop_basis", fmt::format("unknown lr_drop_basis `{}`", basis),
                "it is `workload50` or `step32000`");
  }
  return plan;
}

TrainingRun read_run(const std::filesystem::path& folder, const CsvRow& row, const RecordedPolicy& policy,
                     const RecordedPhases& phases, std::vector<std::string>& defects) {
  TrainingRun run;
  run.name = name_of(row);
  run.plan = plan_of(row, policy, phases.workers);
  run.group = fmt::format("{}/{}", row.text("setup"), row.text("policy"));
  if (row.text("lr_drop_basis") != "workload50") run.group += fmt::format(" ({})", row.text("lr_drop_basis"));
  run.classes = row.text("setup").find("cifar100") != std::string::npos ? 100 : 10;
  run.phases = phases.phases;
  add_step_times(run, folder / run.name / "loss.csv");
  run.training_time_s = row.positive("training_time_s");
  const auto minibatches = [&](double step) { return run.plan.minibatches_at_step(step); };
  run.accuracy = read_positioned(folder / run.name / "accuracy.csv", {}, minibatches, defects);
  run.loss = read_positioned(folder / run.name / "loss.csv", {}, minibatches, defects);
  run.final_accuracy = row.share("final_accuracy");
  if (phases.ends_with_last_loss && !run.loss.empty()) run.timed_minibatches = run.loss.back().minibatches;
  run.session = row.text("date_utc");
  return run;
}

// As the file beside the runs describes it, or as its name tells.
std::optional<RecordedPolicy> policy_of(const CsvRow& row,
                                        const std::map<std::string, RecordedPolicy>& described) {
  for (const std::string& name :
       {fmt::format("{}/{}", row.text("setup"), row.text("policy")), std::string(row.text("policy"))})
    if (const auto found = described.find(name); found != described.end()) return found->second;
  return policy_of_name(row.text("policy"));
}

}  // namespace

void add_step_times(TrainingRun& run, const std::filesystem::path& log) {
  if (run.phases.size() != run.plan.phases.size() ||
      !CsvFile(log, {}, {.keeps_ragged_rows = true}).has(time_column))
    return;
  const CurveLog timed = read_curve(log, {.step = "step", .value = "value", .time = time_column});
  double minibatches = 0.0;
  double from = -1.0;
  for (std::size_t p = 0; p < run.phases.size(); ++p) {
    minibatches += run.plan.phases[p].minibatches;
    const double until = run.plan.step_at_minibatches(minibatches);
    const std::vector<calibrate::StepRecord> records = records_between(timed, from, until);
    from = until;
    if (records.size() < fewest_records || !is_fine_enough(records)) continue;
    const calibrate::StepTimes times = calibrate::step_times(records);
    run.phases[p].seconds_between_pauses = times.step_s;
    run.phases[p].pauses_s = times.pauses_s;
  }
}

std::string setup_of(const std::string& group) {
  return group.substr(0, group.find('/'));
}

std::string policy_of(const std::string& group) {
  const std::size_t slash = group.find('/');
  const std::size_t start = slash == std::string::npos ? 0 : slash + 1;
  return group.substr(start, group.find(" (", start) - start);
}

RecordedRuns read_recorded_runs(const std::filesystem::path& folder, bool skip_bad) {
  for (const char* name : {"runs.csv", "phases.csv"})
    if (!std::filesystem::is_regular_file(folder / name))
      throw UserError(fmt::format("{}: there is no file {}", folder.string(), name),
                      "a folder of recorded runs has runs.csv, phases.csv, and the curves of each run");
  const CsvFile csv(folder / "runs.csv");
  const std::map<std::string, RecordedPhases> phases = read_phases(folder / "phases.csv");
  const std::map<std::string, RecordedPolicy> described = read_policies(folder / policies_file);
  std::vector<std::string> names;
  std::map<std::string, std::vector<TrainingRun>> runs;
  std::vector<std::string> defects;
  std::vector<std::string> skipped;
  for (const CsvRow& row : csv.rows()) {
    const std::optional<RecordedPolicy> policy = policy_of(row, described);
    if (!policy) {
      std::string note = fmt::format("{}/{}: its name does not say what was done; {} beside runs.csv can",
                                     row.text("setup"), row.text("policy"), policies_file);
      if (std::ranges::find(skipped, note) == skipped.end()) skipped.push_back(std::move(note));
      continue;
    }
    const auto timed = phases.find(name_of(row));
    if (timed == phases.end())
      row.fail(fmt::format("phases.csv has no row of {}", name_of(row)), "each run has one for each phase");
    const std::string campaign = campaign_of(row);
    if (!runs.contains(campaign)) names.push_back(campaign);
    runs[campaign].push_back(read_run(folder, row, *policy, timed->second, defects));
  }
  RecordedRuns recorded;
  recorded.notes = accept_or_refuse(defects, skip_bad);
  recorded.notes.insert(recorded.notes.end(), skipped.begin(), skipped.end());
  for (const std::string& name : names)
    recorded.campaigns.push_back({name, identity_of(name), group_runs(runs[name])});
  return recorded;
}

}  // namespace paceline
