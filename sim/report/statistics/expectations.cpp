#include "sim/report/statistics/expectations.hpp"

#include <cmath>
#include <functional>
#include <limits>

#include <fmt/format.h>

#include "sim/base/order_statistics.hpp"
#include "sim/report/output/text_table.hpp"
#include "sim/report/statistics/time_to_accuracy.hpp"
#include "sim/scenario/sections/sections.hpp"

namespace paceline {
namespace {

constexpr double infinitely = std::numeric_limits<double>::infinity();

double median_over(const std::vector<RunSummary>& runs,
                   const std::function<double(const RunSummary&)>& measure) {
  std::vector<double> values;
  for (const RunSummary& run : runs) values.push_back(measure(run));
  return median(std::move(values));
}

double time_to_accuracy(const RunSummary& run) {
  return run.time_to_accuracy ? run.time_to_accuracy->value() : infinitely;
}
double samples_per_s(const RunSummary& run) {
  return run.end_time > Seconds{} ? static_cast<double>(run.samples) / run.end_time.value() : 0.0;
}
// A run that ended before its first evaluation was known has none: as good as 0.
double final_accuracy(const RunSummary& run) {
  return run.final_accuracy.value_or(0.0);
}

std::string duration_text(double seconds) {
  return std::isfinite(seconds) ? format_time(Seconds{seconds}) : "never";
}
std::string number_text(double number) {
  return fmt::format("{:.4g}", number);
}

class ExpectationCheck {
 public:
  ExpectationCheck(const LoadedScenario& loaded, std::vector<ExpectationOutcome>& outcomes)
      : loaded_(loaded), outcomes_(outcomes) {}

  void add(const char* key, const std::optional<Threshold>& threshold, const ThresholdText& kind,
           const std::function<double()>& measure) {
    if (!threshold) return;
    const double value = measure();
    outcomes_.push_back({.key = key,
                         .origin = origin_of(loaded_, fmt::format("expect.{}", key)),
                         .expected = kind.plain(*threshold),
                         .measured = kind.has_unit() ? duration_text(value) : number_text(value),
                         .value = std::isfinite(value) ? std::optional(value) : std::nullopt,
                         .held = holds(*threshold, value)});
  }

 private:
  const LoadedScenario& loaded_;
  std::vector<ExpectationOutcome>& outcomes_;
};

}  // namespace

std::vector<ExpectationOutcome> evaluate_expectations(const LoadedScenario& loaded,
                                                      const std::vector<RunSummary>& runs) {
  const ExpectConfig& expect = loaded.scenario.expect;
  const auto epoch = static_cast<double>(loaded.scenario.job.dataset.train_samples);
  std::vector<ExpectationOutcome> outcomes;
  ExpectationCheck check_that(loaded, outcomes);
  check_that.add("time_to_accuracy", expect.time_to_accuracy, expected_duration,
                 [&] { return median_over(runs, time_to_accuracy); });
  check_that.add("p_reach", expect.p_reach, expected_fraction,
                 [&] { return summarize_time_to_accuracy(runs, longest(runs)).p_reach; });
  check_that.add("time_per_epoch", expect.time_per_epoch, expected_duration, [&] {
    return median_over(runs, [&](const RunSummary& run) {
      const double rate = samples_per_s(run);
      return rate > 0.0 ? epoch / rate : infinitely;
    });
  });
  check_that.add("final_accuracy", expect.final_accuracy, expected_fraction,
                 [&] { return median_over(runs, final_accuracy); });
  check_that.add("samples_per_s", expect.samples_per_s, expected_rate,
                 [&] { return median_over(runs, samples_per_s); });
  check_that.add("staleness", expect.staleness, expected_staleness,
                 [&] { return median_over(runs, [](const RunSummary& run) { return run.mean_staleness; }); });
  return outcomes;
}

std::string failure_text(const std::string& scenario_name, const ExpectationOutcome& outcome) {
  return fmt::format("{}: {} is {}, expected {} ({})", scenario_name, outcome.key, outcome.measured,
                     outcome.expected, outcome.origin);
}

}  // namespace paceline
