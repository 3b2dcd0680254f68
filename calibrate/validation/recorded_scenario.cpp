#include "calibrate/validation/recorded_scenario.hpp"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "sim/base/check.hpp"
#include "sim/base/order_statistics.hpp"
#include "sim/scenario/reader.hpp"
#include "sim/study/study_runs.hpp"

namespace paceline {
namespace {

constexpr const char* network = "recorded";
constexpr std::int64_t parameter_count = 1;  // transfers cost nothing here: their time is in the iteration
constexpr double bytes_per_parameter = 4.0;
constexpr double fast_server = 1e15;
constexpr double evaluations_per_run = 32.0;

std::string phases_text(const TrainingPlan& plan) {
  std::string text;
  for (const PlanPhase& phase : plan.phases)
    text += fmt::format("  - {{policy: {}, transport: {}, share: {:.12g} %}}\n",
                        phase.synchronous ? "bsp" : "asp", phase.synchronous ? "ring" : "server",
                        100.0 * phase.minibatches / plan.workload_minibatches());
  return text;
}

std::string schedule_text(const TrainingPlan& plan) {
  std::vector<std::string> milestones;
  for (const double drop : plan.drops_minibatches)
    milestones.push_back(fmt::format("{:.12g} %", 100.0 * drop / plan.workload_minibatches()));
  if (milestones.empty()) return "";
  return fmt::format("  learning_rate_schedule: {{basis: progress, milestones: [{}], factor: {:.12g}}}\n",
                     fmt::join(milestones, ", "), plan.drop_factor);
}

std::string costs_text(const RecordedCosts& costs, bool waits) {
  std::string text;
  if (waits)
    text = fmt::format("coordination: {{per_worker: {:.9g} s}}\n", costs.serial_per_worker_s.value_or(0.0));
  if (costs.checkpoints)
    text += fmt::format("checkpoints: {{every: {:.0f} samples, cost: {:.9g} s}}\n",
                        std::max(1.0, costs.checkpoints->every_samples), costs.checkpoints->pause_s);
  text += fmt::format("jitter: {{run: {:.6g} %, worker: 0 %, iteration: {:.6g} %}}\n", 100.0 * costs.run_cv,
                      100.0 * costs.iteration_cv);
  return text;
}

std::string delay_text(const Delay& delay) {
  if (delay.workers == 0) return "";
  std::string text = "heterogeneity:\n  stragglers:\n";
  for (int w = 0; w < delay.workers; ++w)
    text += fmt::format(
        "    - {{worker: {}, from: 0 s, duration: 1000000 h, added_latency: {:.9g} s, round_trips: 1}}\n", w,
        delay.seconds);
  return text;
}

PredictedRun predicted_run(const RunResult& run, const TrainingPlan& plan) {
  PredictedRun predicted;
  predicted.total_time_s = run.end_time.value();
  for (std::size_t p = 0; p < run.phases.size() && p < plan.phases.size(); ++p) {
    const PhaseRecord& phase = run.phases[p];
    if (phase.updates == 0) continue;
    const auto updates = static_cast<double>(phase.updates);
    predicted.phases.push_back(
        {plan.phases[p].synchronous, updates, (phase.end - phase.begin).value() / updates});
  }
  if (run.end_reason != "workload-done") return predicted;
  for (const CurvePoint& point : run.curve) {
    predicted.accuracy.push_back({static_cast<double>(point.samples) / plan.batch_samples, point.accuracy});
    predicted.time_s.emplace_back(point.time.value());
  }
  return predicted;
}

}  // namespace

std::string profile_text(const RecordedCosts& costs, double batch_samples, const std::string& source) {
  const auto batch = static_cast<std::int64_t>(batch_samples);
  const Json fit = {{"cores", 1},
                    {"law", "affine"},
                    {"intercept_s", 0.0},
                    {"slope_s_per_sample", costs.iteration_s / batch_samples},
                    {"knee", nullptr},
                    {"leave_one_out_error", nullptr},
                    {"relative_half_width", nullptr},
                    {"batch_min", batch},
                    {"batch_max", batch},
                    {"candidates", Json::array()}};
  const Json json = {
      {"format", "paceline-profile"},
      {"version", 2},
      {"origin", "derived"},
      {"sources",
       {source,
        "an iteration includes its transfers, so the network and the server of the scenario cost nothing",
        "iteration jitter: 10 %, assumed"}},
      {"network",
       {{"name", network},
        {"parameter_count", parameter_count},
        {"parameter_bytes", bytes_per_parameter * static_cast<double>(parameter_count)}}},
      {"machine", {{"cpu_model", "a worker of the recorded runs"}}},
      {"fits",
       {{"compute", Json::array({fit})},
        {"optimizer_step", Json::array({{{"cores", 1}, {"seconds", 0.0}}})},
        {"server_accumulate_bytes_per_s", fast_server},
        {"server_step_bytes_per_s", fast_server},
        {"core_scaling", nullptr},
        {"memory", nullptr},
        {"ensemble", Json::array()}}},
      {"jitter",
       {{"iteration_cv", costs.iteration_cv},
        {"run_cv", costs.run_cv},
        {"processes", 3},
        {"process_cv", nullptr},
        {"run_cv_upper", nullptr},
        {"iteration_law", "log_normal"},
        {"iteration_quantiles", nullptr}}}};
  return json.dump(1) + "\n";
}

std::string scenario_text(const RecordedSetting& setting, const RecordedCosts& costs) {
  const TrainingPlan& plan = setting.plan;
  const bool waits = std::any_of(plan.phases.begin(), plan.phases.end(),
                                 [](const PlanPhase& phase) { return phase.synchronous; });
  check(!waits || costs.serial_per_worker_s.has_value(), "the serial part of synchronous steps is known");
  std::string text = "# Written by `paceline validate recorded`: predicted from runs of other settings.\n";
  text += fmt::format("name: \"{}\"\nseed: 1\nreplications: {}\n", setting.name, setting.replications);
  text += fmt::format("job:\n  network: {}\n  profile: {}\n  dataset: {{train_samples: {:.0f}}}\n", network,
                      setting.profile, plan.workload_minibatches() * plan.batch_samples);
  text += fmt::format("  optimizer: {{learning_rate: {:.12g}, momentum: {:.12g}, worker_scaling: linear}}\n",
                      plan.rate_per_gradient, plan.momentum);
  text += schedule_text(plan);
  const std::vector<std::string> workers(plan.workers, "{cores: 1}");
  text += fmt::format(
      "cluster:\n  workers: [{}]\n  network: {{topology: star, bandwidth: 1000 Gbit/s, latency: 1 ns}}\n",
      fmt::join(workers, ", "));
  text += "synchronization:\n" + phases_text(plan) + costs_text(costs, waits) + delay_text(setting.delay);
  text += fmt::format("batching: {{controller: uniform, initial: {:.0f}}}\n", plan.batch_samples);
  text += setting.learner.empty()
              ? std::string("learner: {kind: none}\n")
              : fmt::format("learner: {{kind: statistical, model: {}}}\n", setting.learner);
  text += fmt::format("evaluation: {{every: {:.0f} samples, who_pays: free}}\nstop: {{epochs: 1}}\n",
                      setting.evaluate_every_minibatches * plan.batch_samples);
  return text;
}

double evaluation_spacing(const RunGroup& group) {
  std::vector<double> spacings;
  for (const TrainingRun& run : group.runs)
    for (std::size_t i = 1; i < run.accuracy.size(); ++i)
      if (run.accuracy[i].minibatches > run.accuracy[i - 1].minibatches)
        spacings.push_back(run.accuracy[i].minibatches - run.accuracy[i - 1].minibatches);
  if (spacings.empty()) return group.plan().workload_minibatches() / evaluations_per_run;
  return median(std::move(spacings));
}

std::string file_name_of(const std::string& text) {
  std::string name;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.')
      name += c;
    else if (!name.empty() && name.back() != '-')
      name += '-';
  }
  while (name.ends_with('-')) name.pop_back();
  return name;
}

std::vector<SimulatedSetting> simulate_settings(const std::vector<std::filesystem::path>& files, int jobs) {
  std::vector<LoadedScenario> scenarios;
  scenarios.reserve(files.size());
  for (const std::filesystem::path& file : files) scenarios.push_back(load_scenario(file, {}));
  std::vector<SimulatedSetting> settings;
  if (scenarios.empty()) return settings;
  PreparedStudy study = prepare_scenarios(std::move(scenarios), ProfileUse::as_fitted);
  WholeRuns whole = run_whole(study, missing_runs(study.planned, {}), jobs, {});
  for (ScenarioResults& results : whole.variants)
    settings.push_back({std::move(results.runs), std::move(results.notes)});
  return settings;
}

PredictedRuns predicted_runs(const std::vector<RunResult>& runs, const TrainingPlan& plan) {
  PredictedRuns predicted;
  for (const RunResult& run : runs) predicted.runs.push_back(predicted_run(run, plan));
  return predicted;
}

}  // namespace paceline
