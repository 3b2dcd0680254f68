// `paceline calibrate own --quota`: what a training loop takes longer after each stop by a quota.
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "calibrate/cli/own_loop.hpp"
#include "calibrate/live/cpu_budget.hpp"
#include "calibrate/logs/rest_cost.hpp"
#include "calibrate/logs/text.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/base/json.hpp"
#include "sim/base/order_statistics.hpp"
#include "sim/base/progress.hpp"
#include "sim/cost/quota_clock.hpp"

namespace paceline::calibrate {
namespace {

using Json = nlohmann::ordered_json;

struct PairOfRuns {  // processor time of a sample
  double free_s = 0.0;
  double held_s = 0.0;  // under the quota
};
struct QuotaPass {
  Seconds resume{};
  std::optional<PairOfRuns> in_pair{};  // of steps too long for stops
};

// As long as the quota's, which lets a loop go on where it stood still. A loop may read its clocks so that it
// never sees the quota's own: the kernel notices that a quota is used up when it is asked for the processor
// time.
OwnLoop run_with_stops(const OwnArguments& arguments, const CpuQuota& quota, std::size_t pass) {
  return run_stopping(arguments.command, {quota.period - allowance_of(quota, arguments.cores)},
                      arguments.cores == 1 ? std::optional(pass) : std::nullopt);
}

bool are_too_long(const std::vector<OwnStep>& steps) {
  std::vector<double> processor_s;
  for (const OwnStep& step : steps) processor_s.push_back(step.processor_s);
  return !steps.empty() && static_cast<double>(fewest_steps_after_stop) * median(std::move(processor_s)) >
                               between_stops.value();
}

Seconds cost_of_stops(const OwnLoop& stopped, const OwnArguments& arguments, const CpuQuota& quota) {
  const auto iterations =
      rested_steps(stopped.steps, static_cast<std::size_t>(arguments.warm_up),
                   {quota.period - allowance_of(quota, arguments.cores)}, arguments.cores, stopped.source);
  return iterations[1].processor_time - iterations[0].processor_time;
}

QuotaPass pair_of_runs(const OwnArguments& arguments, const CpuQuota& quota) {
  const live::CpuBudget budget(quota, 0);  // says at once where there can be none
  const auto warm_up = static_cast<std::size_t>(arguments.warm_up);
  const OwnLoop free = run_command(arguments.command);
  const double free_s = mean_processor_per_sample(free.steps, warm_up, free.source);
  const OwnLoop held = run_command(arguments.command, [&](pid_t id) { budget.add(id); });
  const double held_s = mean_processor_per_sample(held.steps, warm_up, held.source);
  return {allowance_of(quota, arguments.cores) * (1.0 - free_s / held_s), PairOfRuns{free_s, held_s}};
}

}  // namespace

int run_quota(const OwnArguments& arguments) {
  const CpuQuota quota{.cores = *arguments.quota};
  if (quota.cores >= arguments.cores)
    throw UserError(
        fmt::format("a quota of {:g} cores never holds up a loop on {}", quota.cores, arguments.cores),
        "--quota below --cores");
  const int passes = arguments.passes.value_or(9);
  Progress progress("timing under a quota");
  std::vector<QuotaPass> all;
  std::vector<double> resumes;
  bool in_pairs = false;
  for (int pass = 0; pass < passes; ++pass) {
    progress.update(static_cast<double>(pass) / passes, fmt::format("pass {} of {}", pass + 1, passes));
    std::optional<OwnLoop> stopped;
    if (!in_pairs) stopped = run_with_stops(arguments, quota, static_cast<std::size_t>(pass));
    if (pass == 0 && are_too_long(stopped->steps)) {
      in_pairs = true;
      fmt::print(stderr,
                 "note: its steps are too long to be stopped in between: it runs with and without a quota "
                 "instead\n");
    }
    all.push_back(in_pairs ? pair_of_runs(arguments, quota)
                           : QuotaPass{cost_of_stops(*stopped, arguments, quota)});
    resumes.push_back(all.back().resume.value());
  }
  progress.update(1.0, fmt::format("{} passes", passes));
  // A machine that changes between the two runs of a pair looks like a quota that costs, or pays.
  const Spread spread = spread_of(resumes);
  const double deviation_of_mean = spread.deviation / std::sqrt(static_cast<double>(passes));
  constexpr double deviations = 2.0;
  const bool is_told = passes > 1 && spread.mean > deviations * deviation_of_mean;
  if (arguments.json) {
    Json rows = Json::array();
    for (const QuotaPass& pass : all) {
      rows.push_back({{"resume_s", pass.resume.value()}});
      if (!pass.in_pair) continue;
      rows.back()["processor_s_per_sample"] = pass.in_pair->free_s;
      rows.back()["processor_s_per_sample_under_quota"] = pass.in_pair->held_s;
    }
    Json json = {{"format", "paceline-own-quota"},
                 {"version", 1},
                 {"quota_cores", quota.cores},
                 {"period_s", quota.period.value()},
                 {"method", in_pairs ? "pairs of runs" : "stops"},
                 {"resume_s", nullptr},
                 {"resume_deviation_s", deviation_of_mean},
                 {"passes", rows}};
    if (is_told) json["resume_s"] = spread.mean;
    fmt::print("{}\n", json.dump(2));
  } else {
    for (const QuotaPass& pass : all) {
      fmt::print("longer after each stop: {:.2f} ms", 1e3 * pass.resume.value());
      if (pass.in_pair)
        fmt::print("; processor time of a sample: {} at will, {} under the quota",
                   duration_text(pass.in_pair->free_s), duration_text(pass.in_pair->held_s));
      fmt::print("\n");
    }
    if (is_told)
      fmt::print(
          "in a scenario, of workers like this one (standard error {:.2g} ms):\n  quota: {{cores: {:g}, "
          "resume: {:.3g} ms}}\n",
          1e3 * deviation_of_mean, quota.cores, 1e3 * spread.mean);
  }
  if (!is_told)
    fmt::print(stderr,
               "note: {:.2g} ms, with a standard error of {:.2g} ms, cannot be told from nothing: more "
               "--passes, on a machine whose speed "
               "changes less\n",
               1e3 * spread.mean, 1e3 * deviation_of_mean);
  return exit_done;
}

}  // namespace paceline::calibrate
