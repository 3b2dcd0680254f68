#include "sim/report/statistics/expectations.hpp"

#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "sim/base/order_statistics.hpp"
#include "sim/report/output/text_table.hpp"
#include "sim/report/statistics/time_to_accuracy.hpp"
#include "sim/scenario/sections/sections.hpp"

namespace paceline {
namespace {

constexpr double infinitely = std::numeric_limits<double>::infinity();

double samples_per_s(const RunSummary& run) {
  return run.end_time > Seconds{} ? static_cast<double>(run.samples) / run.end_time.value() : 0.0;
}

std::string measured_text(double value, const ThresholdText& kind) {
  if (!kind.has_unit) return fmt::format("{:.4g}", value);
  return std::isfinite(value) ? format_time(Seconds{value}) : "never";
}

}  // namespace

std::vector<ExpectationOutcome> evaluate_expectations(const LoadedScenario& loaded,
                                                      const std::vector<RunSummary>& runs) {
  const ExpectConfig& expect = loaded.scenario.expect;
  const auto epoch = static_cast<double>(loaded.scenario.job.dataset.train_samples);
  const auto median_of = [&](const auto& measure) {
    std::vector<double> values;
    for (const RunSummary& run : runs) values.push_back(measure(run));
    return median(std::move(values));
  };
  struct Measure {
    const char* key;
    const std::optional<Threshold>& threshold;
    const ThresholdText& kind;
    double value;
  };
  const Measure measures[] = {
      {"time_to_accuracy", expect.time_to_accuracy, expected_duration, median_of([](const RunSummary& run) {
         return run.time_to_accuracy ? run.time_to_accuracy->value() : infinitely;
       })},
      {"p_reach", expect.p_reach, expected_fraction,
       summarize_time_to_accuracy(runs, longest(runs)).p_reach.value},
      {"time_per_epoch", expect.time_per_epoch, expected_duration,
       median_of([&](const RunSummary& run) { return epoch / samples_per_s(run); })},
      // A run that ended before its first evaluation was known has none: as good as 0.
      {"final_accuracy", expect.final_accuracy, expected_fraction,
       median_of([](const RunSummary& run) { return run.final_accuracy.value_or(0.0); })},
      {"samples_per_s", expect.samples_per_s, expected_rate, median_of(samples_per_s)},
      {"staleness", expect.staleness, expected_staleness,
       median_of([](const RunSummary& run) { return run.mean_staleness; })}};
  std::vector<ExpectationOutcome> outcomes;
  for (const auto& [key, threshold, kind, value] : measures)
    if (threshold)
      outcomes.push_back({.key = key,
                          .origin = origin_of(loaded, fmt::format("expect.{}", key)),
                          .expected = kind.plain(*threshold),
                          .measured = measured_text(value, kind),
                          .value = std::isfinite(value) ? std::optional(value) : std::nullopt,
                          .held = holds(*threshold, value)});
  return outcomes;
}

std::string failure_text(const std::string& scenario_name, const ExpectationOutcome& outcome) {
  return fmt::format("{}: {} is {}, expected {} ({})", scenario_name, outcome.key, outcome.measured,
                     outcome.expected, outcome.origin);
}

}  // namespace paceline
