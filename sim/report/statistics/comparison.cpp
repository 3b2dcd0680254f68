#include "sim/report/statistics/comparison.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "sim/base/json.hpp"
#include "sim/base/order_statistics.hpp"
#include "sim/report/output/text_table.hpp"

namespace paceline {
namespace {

std::string interval_text(const std::optional<Seconds>& low, const std::optional<Seconds>& high) {
  if (!low) return "-";
  return fmt::format("{} - {}", format_time(*low), high ? format_time(*high) : "never");
}

std::string probability_text(double estimate, const Interval& interval) {
  return fmt::format("{:.2f} [{:.2f}, {:.2f}]", estimate, interval.low, interval.high);
}

// The Kaplan-Meier median stands beside the other where censoring makes them differ.
std::string median_text(const TimeToAccuracy& s) {
  const auto text = [](const std::optional<Seconds>& t) {
    return t ? format_time(*t) : std::string("never");
  };
  if (s.median == s.kaplan_meier_median) return text(s.median);
  return fmt::format("{} (KM: {})", text(s.median),
                     s.kaplan_meier_median ? text(s.kaplan_meier_median) : "unknown");
}

std::vector<std::string> target_row(const std::string& name, const ComparedVariant& variant) {
  const TimeToAccuracy& s = variant.summary;
  const std::string throughput = fmt::format("{:.4g}", variant.mean_samples_per_s);
  if (!variant.target_accuracy) return {name, "-", "-", "-", "-", "-", throughput};
  return {name,
          fmt::format("{:g}", *variant.target_accuracy),
          median_text(s),
          interval_text(s.low, s.high),
          fmt::format("{}/{}", s.reached, s.runs),
          probability_text(s.p_reach, s.p_reach_interval),
          throughput};
}

std::vector<std::string> throughput_row(const std::string& name, const ComparedVariant& variant) {
  const EndTimes& ends = variant.end_times;
  std::string end = variant.median ? format_time(*variant.median) : "never";
  std::string interval = interval_text(ends.low, ends.high);
  if (ends.cut_short > 0) {
    end += fmt::format(" ({} of {} diverged or stalled)", ends.cut_short, variant.summary.runs);
    interval = "-";  // it would be one of all ends, not of the median beside it
  }
  return {name, std::move(end), std::move(interval), fmt::format("{:.4g}", variant.mean_samples_per_s)};
}

std::vector<std::string> against_first_row(const std::string& name, const ComparedVariant& variant) {
  const PairedComparison& paired = *variant.against_first;
  std::string speedup = variant.speedup ? fmt::format("{:.2f}x", *variant.speedup) : "-";
  if (paired.speedup_interval)
    speedup += fmt::format(" [{:.2f}, {:.2f}]", paired.speedup_interval->low, paired.speedup_interval->high);
  return {name, speedup,
          fmt::format("{} [{}, {}]", inner_probability(paired.p_faster),
                      inner_probability(paired.p_faster_interval.low),
                      inner_probability(paired.p_faster_interval.high)),
          fmt::format("{}", paired.pairs),
          paired.correlation ? fmt::format("{:.2f}", *paired.correlation) : "-"};
}

// A variant's own measure of time: to its target, or to the end of its work when it has none.
std::optional<Seconds> compared_time(const ComparedRuns& variant, const RunSummary& run) {
  if (variant.target_accuracy) return run.time_to_accuracy;
  return run.did_its_work() ? std::optional(run.end_time) : std::nullopt;
}

bool are_comparable(const ComparedRuns& a, const ComparedRuns& b) {
  if (a.target_accuracy || b.target_accuracy) return a.target_accuracy == b.target_accuracy;
  return a.workload_epochs == b.workload_epochs && a.epoch_samples == b.epoch_samples;
}

std::optional<double> speedup(const std::optional<Seconds>& first, const std::optional<Seconds>& other) {
  if (!first || !other || *other <= Seconds{}) return std::nullopt;
  return *first / *other;
}

double relative_grid(const ComparedRuns& variant, const std::vector<std::optional<Seconds>>& times) {
  if (!variant.target_accuracy) return 0.0;
  Seconds sum;
  for (const std::optional<Seconds>& time : times) sum += time.value_or(Seconds{});
  const Seconds mean = sum / static_cast<double>(times.size());
  return mean > Seconds{} ? mean_evaluation_interval(variant.runs) / mean : 0.0;
}

}  // namespace

std::optional<Seconds> median_time(const ComparedRuns& runs) {
  constexpr double never = std::numeric_limits<double>::infinity();
  std::vector<double> times;
  for (const RunSummary& run : runs.runs) {
    const std::optional<Seconds> time = compared_time(runs, run);
    times.push_back(time ? time->value() : never);
  }
  const double middle = median(std::move(times));
  return middle == never ? std::nullopt : std::optional(Seconds{middle});
}

std::optional<PairedComparison> compare_pairs(const ComparedRuns& first, const ComparedRuns& second) {
  if (!are_comparable(first, second)) return std::nullopt;
  // Of one scenario each replication occurs once, in order: two sorted lists are merged.
  std::vector<TimePair> pairs;
  std::vector<std::optional<Seconds>> firsts;
  std::vector<std::optional<Seconds>> seconds;
  auto b = second.runs.begin();
  for (const RunSummary& a : first.runs) {
    while (b != second.runs.end() && b->seed.replication < a.seed.replication) ++b;
    if (b == second.runs.end() || b->seed != a.seed) continue;
    pairs.push_back({compared_time(first, a), compared_time(second, *b)});
    firsts.push_back(pairs.back().first);
    seconds.push_back(pairs.back().second);
  }
  if (pairs.empty()) return std::nullopt;
  const double grid_first = relative_grid(first, firsts);
  const double grid_second = relative_grid(second, seconds);
  return compare_paired(pairs, grid_first * grid_first + grid_second * grid_second);
}

std::vector<ComparedVariant> compare(const std::vector<ComparedRuns>& variants) {
  Seconds horizon;
  for (const ComparedRuns& variant : variants) horizon = std::max(horizon, longest(variant.runs));
  std::vector<ComparedVariant> compared;
  for (const ComparedRuns& variant : variants) {
    ComparedVariant one;
    one.name = variant.name;
    one.target_accuracy = variant.target_accuracy;
    one.has_assumed_learner = variant.has_assumed_learner;
    one.summary = summarize_time_to_accuracy(variant.runs, horizon);
    one.end_times = summarize_end_times(variant.runs);
    one.median = median_time(variant);
    one.bottleneck = variant.bottleneck;
    one.expectations = variant.expectations;
    for (const RunSummary& run : variant.runs)
      if (run.end_time > Seconds{})
        one.mean_samples_per_s += static_cast<double>(run.samples) / run.end_time.value() /
                                  static_cast<double>(variant.runs.size());
    if (are_comparable(variants.front(), variant)) {
      one.speedup = speedup(median_time(variants.front()), one.median);
      if (!compared.empty()) one.against_first = compare_pairs(variants.front(), variant);
    }
    compared.push_back(std::move(one));
  }
  return compared;
}

std::vector<ComparedVariant> compare(const std::vector<ScenarioResults>& variants) {
  std::vector<ComparedRuns> runs;
  for (const ScenarioResults& variant : variants) {
    const Scenario& scenario = variant.loaded.scenario;
    std::vector<RunSummary> summaries = summaries_of(variant.runs);
    std::vector<ExpectationOutcome> expectations = evaluate_expectations(variant.loaded, summaries);
    runs.push_back({.name = scenario.name,
                    .target_accuracy = scenario.stop.accuracy,
                    .workload_epochs = scenario.stop.epochs,
                    .epoch_samples = scenario.job.dataset.train_samples,
                    .has_assumed_learner = scenario.learner.kind == LearnerKind::assumed,
                    .runs = std::move(summaries),
                    .bottleneck = find_bottleneck(variant.runs),
                    .expectations = std::move(expectations)});
  }
  return compare(runs);
}

const Columns<ComparedVariant>& comparison_columns() {
  using V = ComparedVariant;
  // Without a target there is nothing to reach.
  const auto if_learns = [](auto value_of) {
    return [value_of](const V& one) { return one.target_accuracy ? Cell(value_of(one.summary)) : Cell(); };
  };
  const auto of_pairs = [](auto value_of) {
    return
        [value_of](const V& one) { return one.against_first ? Cell(value_of(*one.against_first)) : Cell(); };
  };
  using Times = TimeToAccuracy;
  using Pairs = PairedComparison;
  static const Columns<V> columns = {
      {"variant", "-", "name", &V::name},
      {"target_accuracy", "fraction", "empty: none, end times are compared instead", &V::target_accuracy},
      {"assumed_learner", "0 or 1",
       "whether no recorded runs stand behind its accuracies, nor behind the times to them",
       [](const V& one) { return one.has_assumed_learner ? 1 : 0; }},
      {"replications", "runs", "that could be carried out", [](const V& one) { return one.summary.runs; }},
      {"reached", "runs", "that reached the target", [](const V& one) { return one.summary.reached; }},
      {"p_reach", "probability", "that one further run does; never 0 or 1",
       if_learns([](const Times& s) { return s.p_reach; })},
      {"p_reach_low", "probability", "lower end of its 90 % interval",
       if_learns([](const Times& s) { return s.p_reach_interval.low; })},
      {"p_reach_high", "probability", "upper end",
       if_learns([](const Times& s) { return s.p_reach_interval.high; })},
      {"time_to_accuracy_median_s", "s", "a run that never reaches counts as slowest; empty: never",
       [](const V& one) { return one.summary.median; }},
      {"time_to_accuracy_kaplan_meier_s", "s",
       "median if a run that ended short of its target might have reached it later; empty: beyond the runs",
       if_learns([](const Times& s) { return s.kaplan_meier_median; })},
      {"time_to_accuracy_low_s", "s", "lower end of a further run's 90 % interval; empty: none",
       [](const V& one) { return one.summary.low; }},
      {"time_to_accuracy_high_s", "s", "upper end; empty: none, or open",
       [](const V& one) { return one.summary.high; }},
      {"restricted_mean_s", "s", "mean time, at most the horizon each",
       if_learns([](const Times& s) { return s.restricted_mean; })},
      {"horizon_s", "s", "the longest run of all variants", [](const V& one) { return one.summary.horizon; }},
      {"end_time_median_s", "s", "of the job, whatever ended it: also what cut it short",
       [](const V& one) { return one.end_times.median; }},
      {"end_time_low_s", "s", "lower end of a further run's 90 % interval; empty: none",
       [](const V& one) { return one.end_times.low; }},
      {"end_time_high_s", "s", "upper end; empty: none", [](const V& one) { return one.end_times.high; }},
      {"cut_short", "runs", "that diverged or stalled", [](const V& one) { return one.end_times.cut_short; }},
      {"speedup", "-",
       "the first variant's median time over this one's; to the end of the work when neither has a target: a "
       "job cut short never does it",
       &V::speedup},
      {"speedup_low", "-",
       "lower end of the 90 % confidence interval of the mean paired ratio; empty: fewer than 2 pairs, or "
       "some never reached",
       of_pairs([](const Pairs& p) { return p.speedup_interval ? Cell(p.speedup_interval->low) : Cell(); })},
      {"speedup_high", "-", "upper end",
       of_pairs([](const Pairs& p) { return p.speedup_interval ? Cell(p.speedup_interval->high) : Cell(); })},
      {"p_faster", "probability", "that this variant beats the first one; never 0 or 1",
       of_pairs([](const Pairs& p) { return p.p_faster; })},
      {"p_faster_low", "probability", "lower end of its 90 % interval",
       of_pairs([](const Pairs& p) { return p.p_faster_interval.low; })},
      {"p_faster_high", "probability", "upper end",
       of_pairs([](const Pairs& p) { return p.p_faster_interval.high; })},
      {"pairs", "pairs", "of replications with a common seed behind p_faster; empty: not comparable",
       of_pairs([](const Pairs& p) { return p.pairs; })},
      {"time_correlation", "-",
       "realized, of the two variants' log times over those pairs; empty: fewer than 3, or no variance",
       of_pairs([](const Pairs& p) { return p.correlation; })},
      {"throughput_samples_per_s", "samples/s", "mean over the replications", &V::mean_samples_per_s}};
  return columns;
}

std::string comparison_csv(const std::vector<ComparedVariant>& compared) {
  CsvTable table(names_of(comparison_columns()));
  for (const ComparedVariant& one : compared) {
    add_cells(table, comparison_columns(), one);
    table.end_row();
  }
  return table.text();
}

namespace {

using json = nlohmann::ordered_json;

json interval_json(const char* name, const json& estimate, const json& low, const json& high) {
  return {{name, estimate}, {"low", low}, {"high", high}};
}

json against_first_json(const ComparedVariant& one) {
  const PairedComparison& paired = *one.against_first;
  const std::optional<Interval>& speedup = paired.speedup_interval;
  return {{"pairs", paired.pairs},
          {"speedup", interval_json("estimate", one.speedup, speedup ? json(speedup->low) : json(),
                                    speedup ? json(speedup->high) : json())},
          {"p_faster", interval_json("estimate", paired.p_faster, paired.p_faster_interval.low,
                                     paired.p_faster_interval.high)},
          {"time_correlation", paired.correlation}};
}

}  // namespace

std::string comparison_json(const std::vector<ComparedVariant>& compared) {
  json rows = json::array();
  for (const ComparedVariant& one : compared) {
    const TimeToAccuracy& s = one.summary;
    json row = {{"variant", one.name},
                {"assumed_learner", one.has_assumed_learner},
                {"replications", s.runs},
                {"throughput_samples_per_s", one.mean_samples_per_s},
                {"horizon_s", s.horizon}};
    if (one.target_accuracy) {
      row["reached"] = s.reached;
      row["p_reach"] = interval_json("estimate", s.p_reach, s.p_reach_interval.low, s.p_reach_interval.high);
      row["time_to_accuracy_s"] = {{"median", s.median},
                                   {"kaplan_meier_median", s.kaplan_meier_median},
                                   {"low", s.low},
                                   {"high", s.high}};
      row["restricted_mean_s"] = s.restricted_mean;
    }
    row["end_time_s"] = interval_json("median", one.end_times.median, one.end_times.low, one.end_times.high);
    row["cut_short"] = one.end_times.cut_short;
    row["speedup"] = one.speedup;
    if (one.against_first) row["against_first"] = against_first_json(one);
    row["bottleneck"] = bottleneck_json(one.bottleneck);
    row["expectations"] = expectations_json(one.expectations);
    rows.push_back(row);
  }
  return rows.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

namespace {

std::string legend(bool any_target, bool any_km, bool any_pair, const std::string& first) {
  std::string text = "Times are simulated. ";
  text +=
      any_target
          ? "Median over the seeds (a run that never reaches the target counts as slowest);\n"
          : "Median over the seeds of the end of the job (one that diverged or stalled counts as slowest);\n";
  text += "interval: where one further seed's time lies with 90 % probability.\n";
  if (any_km)
    text +=
        "KM: Kaplan-Meier median; a run that did its whole workload might have reached the target later.\n";
  if (any_pair)
    text += fmt::format(
        "Against {}: runs paired by seed, 90 % intervals; correlation of the paired times' logarithms.\n",
        printable(first));
  return text;
}

}  // namespace

std::string comparison_table(const std::vector<ComparedVariant>& compared) {
  const auto any = [&](const auto& condition) {
    return std::any_of(compared.begin(), compared.end(), condition);
  };
  const bool any_target = any([](const ComparedVariant& one) { return one.target_accuracy.has_value(); });
  const bool any_pair = any([](const ComparedVariant& one) { return one.against_first.has_value(); });
  const bool any_km = any([](const ComparedVariant& one) {
    return one.target_accuracy && one.summary.median != one.summary.kaplan_meier_median;
  });
  AssumedLearners assumed;
  for (const ComparedVariant& one : compared) assumed.count(one.has_assumed_learner);
  const auto name_of = [&](const ComparedVariant& one) {
    return assumed.marked(one.name, one.has_assumed_learner);
  };
  TextRows rows;
  if (any_target) {
    rows.push_back({"", "target", "time to it", "90 % interval", "reached", "P(reach) [90 %]", "samples/s"});
  } else {
    rows.push_back({"", "end of job", "90 % interval", "samples/s"});
  }
  for (const ComparedVariant& one : compared)
    rows.push_back(any_target ? target_row(name_of(one), one) : throughput_row(name_of(one), one));
  std::string text = text_table(std::move(rows));
  if (any_pair) {
    TextRows against_first{
        {"against the first", "speed-up [90 %]", "P(faster) [90 %]", "pairs", "correlation"}};
    for (const ComparedVariant& one : compared)
      if (one.against_first) against_first.push_back(against_first_row(name_of(one), one));
    text += fmt::format("\n{}", text_table(std::move(against_first)));
  }
  text += legend(any_target, any_km, any_pair, compared.front().name) + assumed.note();
  for (const ComparedVariant& one : compared)
    if (one.bottleneck)
      text += fmt::format("bottleneck of {}: {}, at its full rate {:.0f} % of the time\n",
                          printable(one.name), one.bottleneck->resource, 100.0 * one.bottleneck->share);
  return text;
}

}  // namespace paceline
