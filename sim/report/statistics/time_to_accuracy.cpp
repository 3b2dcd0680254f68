#include "sim/report/statistics/time_to_accuracy.hpp"

#include <algorithm>
#include <cmath>

#include <boost/math/distributions/beta.hpp>
#include <boost/math/distributions/students_t.hpp>

#include "sim/base/check.hpp"

namespace paceline {
namespace {

// The middle of the times; an absent time is infinitely late.
std::optional<Seconds> median_time(std::vector<Seconds> reached, std::size_t runs) {
  std::sort(reached.begin(), reached.end());
  const std::size_t upper = runs / 2;
  const std::size_t lower = (runs - 1) / 2;
  if (upper >= reached.size()) return std::nullopt;
  return (reached[lower] + reached[upper]) / 2.0;
}

// Where one further time lies with 90 % probability.
std::optional<Interval> prediction_interval(const std::vector<Seconds>& times, Seconds grid) {
  if (times.size() < least_for_interval) return std::nullopt;
  std::vector<double> logs;
  double mean = 0.0;
  for (const Seconds t : times) {
    // A target met by the untrained network takes no time, and its logarithm says nothing.
    if (t <= Seconds{}) return std::nullopt;
    logs.push_back(std::log(t.value()));
    mean += logs.back() / static_cast<double>(times.size());
  }
  const auto n = static_cast<double>(logs.size());
  double squares = 0.0;
  for (const double y : logs) squares += (y - mean) * (y - mean);
  // Not smaller than rounding to the evaluation grid alone would give.
  const double relative_grid = grid.value() / std::exp(mean);
  const double s = std::sqrt(std::max(squares / (n - 1.0), relative_grid * relative_grid / 12.0));
  const double quantile = boost::math::quantile(boost::math::students_t(n - 1.0), 1.0 - interval_tail);
  const double half_width = quantile * s * std::sqrt(1.0 + 1.0 / n);
  return Interval{std::exp(mean - half_width), std::exp(mean + half_width)};
}

std::optional<Seconds> kaplan_meier_median(const std::vector<RunSummary>& runs) {
  constexpr double half = 0.5;
  constexpr double rounding = 1e-12;
  std::vector<Seconds> reached;
  for (const RunSummary& run : runs)
    if (run.time_to_accuracy) reached.push_back(*run.time_to_accuracy);
  std::sort(reached.begin(), reached.end());
  const auto is_at_risk = [](const RunSummary& run, Seconds t) {
    if (run.time_to_accuracy) return *run.time_to_accuracy >= t;
    return !run.did_its_work() || run.end_time >= t;
  };
  double surviving = 1.0;
  for (std::size_t i = 0; i < reached.size(); ++i) {
    const auto at_risk = std::count_if(runs.begin(), runs.end(),
                                       [&](const RunSummary& run) { return is_at_risk(run, reached[i]); });
    const auto next = std::upper_bound(reached.begin(), reached.end(), reached[i]);
    const auto now = next - reached.begin() - static_cast<std::ptrdiff_t>(i);
    surviving *= 1.0 - static_cast<double>(now) / static_cast<double>(at_risk);
    if (surviving < half - rounding) return reached[i];
    if (surviving < half + rounding)
      return next == reached.end() ? std::nullopt : std::optional((reached[i] + *next) / 2.0);
    i += static_cast<std::size_t>(now) - 1;
  }
  return std::nullopt;
}

}  // namespace

Probability jeffreys(double successes, double trials) {
  check(trials > 0.0 && successes >= 0.0 && successes <= trials, "a probability needs trials");
  const boost::math::beta_distribution<double> posterior(successes + 0.5, trials - successes + 0.5);
  return {(successes + 0.5) / (trials + 1.0),
          {boost::math::quantile(posterior, interval_tail),
           boost::math::quantile(posterior, 1.0 - interval_tail)}};
}

Seconds longest(const std::vector<RunSummary>& runs) {
  Seconds end;
  for (const RunSummary& run : runs) end = std::max(end, run.end_time);
  return end;
}

Seconds mean_evaluation_interval(const std::vector<RunSummary>& runs) {
  Seconds interval;
  for (const RunSummary& run : runs) interval += run.evaluation_interval / static_cast<double>(runs.size());
  return interval;
}

EndTimes summarize_end_times(const std::vector<RunSummary>& runs) {
  check(!runs.empty(), "a summary needs runs");
  std::vector<Seconds> ends;
  int cut_short = 0;
  for (const RunSummary& run : runs) {
    ends.push_back(run.end_time);
    if (!run.did_its_work()) ++cut_short;
  }
  EndTimes summary{.median = *median_time(ends, ends.size()), .cut_short = cut_short, .low = {}, .high = {}};
  if (const auto interval = prediction_interval(ends, Seconds{})) {
    summary.low = Seconds{interval->low};
    summary.high = Seconds{interval->high};
  }
  return summary;
}

TimeToAccuracy summarize_time_to_accuracy(const std::vector<RunSummary>& runs, Seconds horizon) {
  check(!runs.empty(), "a summary needs runs");
  check(horizon >= longest(runs), "the horizon covers every run");
  TimeToAccuracy summary;
  summary.horizon = horizon;
  summary.runs = static_cast<int>(runs.size());
  std::vector<Seconds> reached;
  for (const RunSummary& run : runs)
    if (run.time_to_accuracy) reached.push_back(*run.time_to_accuracy);
  summary.reached = static_cast<int>(reached.size());
  summary.p_reach = jeffreys(summary.reached, summary.runs);
  summary.median = median_time(reached, runs.size());
  summary.kaplan_meier_median = kaplan_meier_median(runs);
  if (const auto interval = prediction_interval(reached, mean_evaluation_interval(runs))) {
    summary.low = Seconds{interval->low};
    if (summary.reached == summary.runs) summary.high = Seconds{interval->high};
  }
  Seconds total = static_cast<double>(summary.runs - summary.reached) * summary.horizon;
  for (const Seconds t : reached) total += t;
  summary.restricted_mean = total / static_cast<double>(summary.runs);
  return summary;
}

}  // namespace paceline
