// `paceline calibrate own --quota`: what a training loop takes longer after each stop by a quota.
#include <cmath>

#include <fmt/format.h>

#include "calibrate/cli/own_loop.hpp"
#include "calibrate/live/cpu_budget.hpp"
#include "calibrate/logs/text.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/base/json.hpp"
#include "sim/base/order_statistics.hpp"
#include "sim/base/progress.hpp"
#include "sim/cost/quota_clock.hpp"

namespace paceline::calibrate {
namespace {

using Json = nlohmann::ordered_json;

struct QuotaPass {
  double free_s = 0.0;  // processor time of a sample
  double held_s = 0.0;  // the same under the quota
  Seconds resume;
};

QuotaPass quota_pass(const OwnArguments& arguments, const CpuQuota& quota) {
  const auto warm_up = static_cast<std::size_t>(arguments.warm_up);
  QuotaPass pass;
  const OwnLoop free = run_command(arguments.command);
  pass.free_s = mean_processor_per_sample(free.steps, warm_up, free.source);
  const live::CpuBudget budget(quota, 0);
  const OwnLoop held = run_command(arguments.command, [&](pid_t id) { budget.add(id); });
  pass.held_s = mean_processor_per_sample(held.steps, warm_up, held.source);
  pass.resume = allowance_of(quota, arguments.cores) * (1.0 - pass.free_s / pass.held_s);
  return pass;
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
  for (int pass = 0; pass < passes; ++pass) {
    progress.update(static_cast<double>(pass) / passes, fmt::format("pass {} of {}", pass + 1, passes));
    all.push_back(quota_pass(arguments, quota));
    resumes.push_back(all.back().resume.value());
  }
  progress.update(1.0, fmt::format("{} passes", passes));
  // A machine that changes between two runs looks like a quota that costs, or pays.
  const Spread spread = spread_of(resumes);
  const double deviation_of_mean = spread.deviation / std::sqrt(static_cast<double>(passes));
  constexpr double deviations = 2.0;
  const bool is_told = passes > 1 && spread.mean > deviations * deviation_of_mean;
  if (arguments.json) {
    Json rows = Json::array();
    for (const QuotaPass& pass : all)
      rows.push_back({{"processor_s_per_sample", pass.free_s},
                      {"processor_s_per_sample_under_quota", pass.held_s},
                      {"resume_s", pass.resume.value()}});
    Json json = {{"format", "paceline-own-quota"},
                 {"version", 1},
                 {"quota_cores", quota.cores},
                 {"period_s", quota.period.value()},
                 {"resume_s", nullptr},
                 {"resume_deviation_s", deviation_of_mean},
                 {"passes", rows}};
    if (is_told) json["resume_s"] = spread.mean;
    fmt::print("{}\n", json.dump(2));
  } else {
    fmt::print("processor time of a sample\n    at will   under the quota   longer in each period\n");
    for (const QuotaPass& pass : all)
      fmt::print("{:>9}  {:>16}  {:>20.2f} ms\n", duration_text(pass.free_s), duration_text(pass.held_s),
                 1e3 * pass.resume.value());
    if (is_told)
      fmt::print(
          "in a scenario, of workers like this one (± {:.2g} ms):\n  quota: {{cores: {:g}, resume: {:.3g} "
          "ms}}\n",
          1e3 * deviation_of_mean, quota.cores, 1e3 * spread.mean);
  }
  if (!is_told)
    fmt::print(
        stderr,
        "note: {:.2g} ± {:.2g} ms cannot be told from nothing: more --passes, on a machine whose speed "
        "changes less\n",
        1e3 * spread.mean, 1e3 * deviation_of_mean);
  return exit_done;
}

}  // namespace paceline::calibrate
