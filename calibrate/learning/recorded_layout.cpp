#include "calibrate/learning/recorded_layout.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <regex>

#include <fmt/format.h>

#include "calibrate/learning/csv_rows.hpp"
#include "calibrate/learning/curve_log.hpp"
#include "calibrate/learning/phase_steps.hpp"
#include "sim/base/diagnostic.hpp"

namespace paceline {
namespace {

constexpr const char* second_campaign_from = "2020-09-01";

// One row of runs.csv by column names.
class RunRow {
 public:
  RunRow(const CsvRows& rows, const CsvRow& row) : rows_(rows), row_(row) {}
  [[nodiscard]] const std::string& text(const char* column) const {
    return rows_.cell(row_, rows_.column(column));
  }
  [[nodiscard]] double number(const char* column) const { return rows_.number(row_, rows_.column(column)); }
  [[nodiscard]] std::string name() const {
    return fmt::format("{}/{}/run{}", text("setup"), text("policy"), text("run"));
  }

 private:
  const CsvRows& rows_;
  const CsvRow& row_;
};

struct RecordedPhases {
  std::vector<PhaseTime> phases;
  double workers = 0.0;
};

std::map<std::string, RecordedPhases> read_phases(const std::filesystem::path& file) {
  const CsvRows rows(file);
  std::map<std::string, RecordedPhases> by_run;
  for (const CsvRow& row : rows.rows()) {
    const RunRow cells(rows, row);
    RecordedPhases& run = by_run[cells.name()];
    run.workers = cells.number("workers");
    run.phases.push_back(
        {cells.text("protocol") == "BSP", cells.number("steps"), cells.number("seconds_per_step")});
  }
  return by_run;
}

std::string network_of(const std::string& setup) {
  const std::size_t dash = setup.rfind('-');
  const bool counted = dash != std::string::npos &&
                       setup.find_first_not_of("0123456789", dash + 1) == std::string::npos &&
                       dash + 1 < setup.size();
  return counted && setup.find("cifar") != std::string::npos ? setup.substr(0, dash) : setup;
}

std::string campaign_of(const RunRow& row) {
  const std::string network = network_of(row.text("setup"));
  const bool second = row.text("date_utc") >= second_campaign_from;
  // A straggler setup repeats the network of the campaign of its time.
  const bool is_network = network.find("cifar") != std::string::npos;
  if (!is_network && network.starts_with("straggler")) return "resnet32-cifar10, from September 2020";
  if (!is_network || network.find("cifar100") != std::string::npos) return network;
  return network + (second ? ", from September 2020" : ", until August 2020");
}

std::vector<PositionedValue> read_positioned(const std::filesystem::path& file, const TrainingPlan& plan,
                                             std::vector<std::string>& defects) {
  const CurveLog log = read_curve(file, {});
  std::vector<PositionedValue> curve;
  std::vector<double> positions;
  for (const CurveRow& row : log.rows) {
    positions.push_back(plan.minibatches_at_step(row.step));
    curve.push_back({positions.back(), row.value});
  }
  defects.insert(defects.end(), log.defects.begin(), log.defects.end());
  for (std::string& gap : find_gaps(log, positions)) defects.push_back(std::move(gap));
  return curve;
}

TrainingPlan plan_of(const RunRow& row, double workers) {
  TrainingPlan plan;
  plan.workers = static_cast<std::uint32_t>(std::lround(workers));
  plan.momentum = 0.9;
  const std::string& policy = row.text("policy");
  const bool recorded = !row.text("workload_minibatches").empty();
  const double steps = row.number("end_step");
  const double workload =
      recorded ? row.number("workload_minibatches") : steps * (policy.starts_with("bsp") ? workers : 1.0);
  plan.phases = phases_of_policy(policy, workload);
  const std::string& basis = row.text("lr_drop_basis");
  if (basis == "workload50") {
    plan.drops_minibatches = {0.5 * workload, 0.75 * workload};
  } else if (basis == "step32000") {
    for (const double step : {32000.0, 48000.0})
      if (plan.minibatches_at_step(step) < workload)
        plan.drops_minibatches.push_back(plan.minibatches_at_step(step));
  } else {
    throw UserError(fmt::format("runs.csv: {}: unknown lr_drop_basis `{}`", row.name(), basis),
                    "it is `workload50` or `step32000`");
  }
  return plan;
}

TrainingRun read_run(const std::filesystem::path& folder, const RunRow& row, const RecordedPhases& phases,
                     std::vector<std::string>& defects) {
  TrainingRun run;
  run.name = row.name();
  run.plan = plan_of(row, phases.workers);
  run.group = fmt::format("{}/{}", row.text("setup"), row.text("policy"));
  if (row.text("lr_drop_basis") != "workload50") run.group += fmt::format(" ({})", row.text("lr_drop_basis"));
  run.classes = row.text("setup").find("cifar100") != std::string::npos ? 100 : 10;
  run.phases = phases.phases;
  add_step_times(run, folder / run.name / "loss.csv");
  run.training_time_s = row.number("training_time_s");
  run.accuracy = read_positioned(folder / run.name / "accuracy.csv", run.plan, defects);
  run.loss = read_positioned(folder / run.name / "loss.csv", run.plan, defects);
  run.final_accuracy = row.number("final_accuracy");
  return run;
}

}  // namespace

std::vector<PlanPhase> phases_of_policy(const std::string& policy, double workload_minibatches) {
  static const std::regex phase(R"((bsp|asp)(\d+(?:\.\d+)?)?(?:-|$))");
  std::vector<PlanPhase> phases;
  double percent = 0.0;
  std::smatch match;
  for (auto rest = policy.cbegin();
       std::regex_search(rest, policy.cend(), match, phase, std::regex_constants::match_continuous);
       rest = match[0].second) {
    const bool whole = !match[2].matched;
    if (whole && !phases.empty()) break;
    const double share = whole ? 100.0 : std::stod(match[2]);
    phases.push_back({match[1] == "bsp", share / 100.0 * workload_minibatches});
    percent += share;
    if (whole) break;
  }
  if (phases.empty() || std::abs(percent - 100.0) > 1e-6)
    throw UserError(fmt::format("the policy `{}` does not name phases that sum to 100 %", policy),
                    "for example `asp`, `bsp05-asp95` or `bsp12.5-asp87.5-remark`");
  return phases;
}

RecordedRuns read_recorded_runs(const std::filesystem::path& folder, bool skip_bad) {
  const CsvRows rows(folder / "runs.csv");
  const std::map<std::string, RecordedPhases> phases = read_phases(folder / "phases.csv");
  std::vector<std::string> names;
  std::map<std::string, std::vector<TrainingRun>> runs;
  std::vector<std::string> defects;
  for (const CsvRow& row : rows.rows()) {
    const RunRow cells(rows, row);
    const auto timed = phases.find(cells.name());
    if (timed == phases.end())
      throw UserError(fmt::format("phases.csv: has no row of {}", cells.name()),
                      "each run has one for each phase");
    const std::string campaign = campaign_of(cells);
    if (!runs.contains(campaign)) names.push_back(campaign);
    runs[campaign].push_back(read_run(folder, cells, timed->second, defects));
  }
  RecordedRuns recorded;
  recorded.notes = accept_or_refuse(defects, skip_bad);
  for (const std::string& name : names) recorded.campaigns.push_back({name, group_runs(runs[name])});
  return recorded;
}

}  // namespace paceline
