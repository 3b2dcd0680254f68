#include "sim/report/statistics/remarks.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/report/statistics/time_to_accuracy.hpp"

namespace paceline {
namespace {

bool is_healthy(const HeterogeneityConfig& heterogeneity) {
  const Heterogeneity& changes = heterogeneity.changes;
  return changes.schedule.empty() && changes.stragglers.empty() && !changes.random_stragglers &&
         heterogeneity.trace.empty();
}

}  // namespace

std::optional<Bottleneck> find_bottleneck(const std::vector<RunResult>& runs) {
  constexpr double worth_naming = 0.5;
  std::vector<Bottleneck> shares;
  for (const RunResult& run : runs) {
    if (run.end_time <= Seconds{}) continue;
    for (const ResourceUse& resource : run.resources) {
      auto known = std::ranges::find(shares, resource.name, &Bottleneck::resource);
      if (known == shares.end()) known = shares.insert(known, {resource.name, 0.0});
      known->share += resource.saturated / run.end_time / static_cast<double>(runs.size());
    }
  }
  std::optional<Bottleneck> worst;
  for (const Bottleneck& candidate : shares)
    if (candidate.share >= worth_naming && (!worst || candidate.share > worst->share)) worst = candidate;
  return worst;
}

std::vector<std::string> alarm_notes(const Scenario& scenario, const std::vector<RunResult>& runs) {
  std::uint64_t windows = 0;
  std::uint64_t slow = 0;
  std::uint64_t alarms = 0;
  for (const RunResult& run : runs) {
    windows += run.windows_judged;
    slow += run.slow_windows;
    for (const DecisionRecord& record : run.decisions)
      if (record.kind == DecisionKind::alarm) ++alarms;
  }
  if (windows == 0) return {};
  const double share_slow = static_cast<double>(slow) / static_cast<double>(windows);
  if (!is_healthy(scenario.heterogeneity))
    return {fmt::format("{}: {} alarms in {} windows of a worker, {:.2g} % of them slow", scenario.name,
                        alarms, windows, 100.0 * share_slow)};
  const Interval rate = jeffreys(static_cast<double>(alarms), static_cast<double>(windows)).interval;
  return {fmt::format(
      "{}: false alarms on this healthy cluster: {} in {} windows of a worker "
      "({:.2g} %, 90 % interval {:.2g} to {:.2g} %); {:.2g} % of the windows were slow",
      scenario.name, alarms, windows, 100.0 * static_cast<double>(alarms) / static_cast<double>(windows),
      100.0 * rate.low, 100.0 * rate.high, 100.0 * share_slow)};
}

}  // namespace paceline
