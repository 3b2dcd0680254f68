#include "sim/report/statistics/comparison.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "sim/base/json.hpp"
#include "sim/base/order_statistics.hpp"
#include "sim/report/output/text_table.hpp"
#include "sim/report/output/validity_table.hpp"

namespace paceline {
namespace {

std::string interval_text(const std::optional<Seconds>& low, const std::optional<Seconds>& high) {
  return low ? fmt::format("{} - {}", format_time(*low), time_or_never(high)) : "-";
}

std::string shortfall(const ComparedVariant& one) {
  return one.outcomes.shortfall(one.target_accuracy.has_value());
}
bool has_prices(const std::vector<ComparedVariant>& compared) {
  return std::ranges::any_of(compared,
                             [](const ComparedVariant& one) { return one.price_per_hour.has_value(); });
}

bool falls_short(const ComparedVariant& one) {
  return !shortfall(one).empty();
}

// The Kaplan-Meier median stands beside the other where censoring makes them differ.
std::string median_text(const ComparedVariant& one) {
  const TimeToAccuracy& s = one.summary;
  const std::string median = time_or_outcome(one, s.median);
  if (s.median == s.kaplan_meier_median) return median;
  return fmt::format("{} (KM: {})", median,
                     s.kaplan_meier_median ? format_time(*s.kaplan_meier_median) : "unknown");
}

TextRows times_to_target(const std::vector<ComparedVariant>& compared, const AssumedLearners& assumed) {
  TextRows rows{{"", "target", "time to it", "90 % interval", "reached", "P(reach) [90 %]", "samples/s"}};
  const bool any_short = std::ranges::any_of(compared, falls_short);
  const bool any_price = has_prices(compared);
  if (any_short) rows.front().emplace_back("others");
  if (any_price) rows.front().emplace_back("cost to it");
  for (const ComparedVariant& one : compared) {
    const TimeToAccuracy& s = one.summary;
    rows.push_back({assumed.marked(one.name, one.has_assumed_learner), "-", "-", "-", "-", "-",
                    fmt::format("{:.4g}", one.mean_samples_per_s)});
    if (any_short) rows.back().push_back(falls_short(one) ? shortfall(one) : "-");
    if (any_price) rows.back().push_back(or_dash("{:.4g}", cost_of(one, one.median)));
    if (!one.target_accuracy) continue;
    const std::vector<std::string> to_target{fmt::format("{:g}", *one.target_accuracy), median_text(one),
                                             interval_text(s.low, s.high),
                                             fmt::format("{}/{}", s.reached, s.runs),
                                             fmt::format("{:.2f} [{:.2f}, {:.2f}]", s.p_reach.value,
                                                         s.p_reach.interval.low, s.p_reach.interval.high)};
    std::ranges::copy(to_target, rows.back().begin() + 1);
  }
  return rows;
}

TextRows end_times(const std::vector<ComparedVariant>& compared, const AssumedLearners& assumed) {
  TextRows rows{{"", "end of job", "90 % interval", "samples/s"}};
  if (has_prices(compared)) rows.front().emplace_back("cost");
  for (const ComparedVariant& one : compared) {
    const EndTimes& ends = one.end_times;
    std::string end = time_or_outcome(one, one.median);
    if (falls_short(one)) end += fmt::format(" ({} of {})", shortfall(one), one.outcomes.runs);
    // With jobs cut short it would be an interval of all ends, not of the median beside it.
    rows.push_back({assumed.marked(one.name, one.has_assumed_learner), std::move(end),
                    ends.cut_short > 0 ? "-" : interval_text(ends.low, ends.high),
                    fmt::format("{:.4g}", one.mean_samples_per_s)});
    if (has_prices(compared)) rows.back().push_back(or_dash("{:.4g}", cost_of(one, one.median)));
  }
  return rows;
}

TextRows pairs_with_first(const std::vector<ComparedVariant>& compared, const AssumedLearners& assumed) {
  TextRows rows{{"against the first", "speed-up [90 %]", "P(faster) [90 %]", "pairs", "correlation"}};
  for (const ComparedVariant& one : compared) {
    if (!one.against_first) continue;
    const PairedComparison& paired = *one.against_first;
    std::string speedup = or_dash("{:.2f}x", one.speedup);
    if (const auto& interval = paired.speedup_interval)
      speedup += fmt::format(" [{:.2f}, {:.2f}]", interval->low, interval->high);
    rows.push_back({assumed.marked(one.name, one.has_assumed_learner), std::move(speedup),
                    faster_text(paired), fmt::format("{}", paired.pairs),
                    or_dash("{:.2f}", paired.correlation)});
  }
  return rows;
}

// A variant's own measure of time: to its target, or to the end of its work when it has none.
std::optional<Seconds> compared_time(const Comparable& variant, const RunSummary& run) {
  if (variant.target_accuracy) return run.time_to_accuracy;
  return run.did_its_work() ? std::optional(run.end_time) : std::nullopt;
}

bool are_comparable(const Comparable& a, const Comparable& b) {
  if (a.target_accuracy || b.target_accuracy) return a.target_accuracy == b.target_accuracy;
  return a.workload_epochs == b.workload_epochs && a.epoch_samples == b.epoch_samples;
}

Seconds evaluation_grid(const ComparedRuns& variant) {
  return variant.target_accuracy ? mean_evaluation_interval(variant.runs) : Seconds{};
}

}  // namespace

void add_validity(const ComparedRuns& runs, ValidityTable& table) {
  for (const RunSummary& run : runs.runs) table.add(validity_in({run}, runs.validity), 1);
}

std::string faster_text(const PairedComparison& paired) {
  const Interval& interval = paired.p_faster.interval;
  return fmt::format("{} [{}, {}]", inner_probability(paired.p_faster.value), inner_probability(interval.low),
                     inner_probability(interval.high));
}

std::optional<Seconds> median_time(const ComparedRuns& runs) {
  constexpr Seconds never{std::numeric_limits<double>::infinity()};
  std::vector<double> times;
  for (const RunSummary& run : runs.runs) times.push_back(compared_time(runs, run).value_or(never).value());
  const Seconds middle{median(std::move(times))};
  return middle == never ? std::nullopt : std::optional(middle);
}

std::optional<PairedComparison> compare_pairs(const ComparedRuns& first, const ComparedRuns& second) {
  if (!are_comparable(first, second)) return std::nullopt;
  // Of one scenario each replication occurs once, in order: two sorted lists are merged.
  std::vector<TimePair> pairs;
  auto b = second.runs.begin();
  for (const RunSummary& a : first.runs) {
    while (b != second.runs.end() && b->seed.replication < a.seed.replication) ++b;
    if (b != second.runs.end() && b->seed == a.seed)
      pairs.push_back({compared_time(first, a), compared_time(second, *b)});
  }
  if (pairs.empty()) return std::nullopt;
  return compare_paired(pairs, {evaluation_grid(first), evaluation_grid(second)});
}

std::optional<double> cost_of(const Comparable& runs, const std::optional<Seconds>& time) {
  constexpr double seconds_per_hour = 3600.0;
  if (!runs.price_per_hour || !time) return std::nullopt;
  return *runs.price_per_hour * time->value() / seconds_per_hour;
}

std::string time_or_outcome(const ComparedRuns& runs, const std::optional<Seconds>& time) {
  if (time) return format_time(*time);
  return std::string(count_outcomes(runs.runs).word(runs.target_accuracy.has_value()));
}

std::vector<ComparedVariant> compare(std::vector<ComparedRuns> variants) {
  Seconds horizon;
  for (const ComparedRuns& variant : variants) horizon = std::max(horizon, longest(variant.runs));
  std::vector<ComparedVariant> compared;
  for (ComparedRuns& variant : variants) {
    ComparedVariant& one = compared.emplace_back();
    static_cast<ComparedRuns&>(one) = std::move(variant);
    one.outcomes = count_outcomes(one.runs);
    one.summary = summarize_time_to_accuracy(one.runs, horizon);
    one.end_times = summarize_end_times(one.runs);
    one.median = median_time(one);
    for (const RunSummary& run : one.runs)
      if (run.end_time > Seconds{})
        one.mean_samples_per_s +=
            static_cast<double>(run.samples) / run.end_time.value() / static_cast<double>(one.runs.size());
    const ComparedVariant& first = *std::ranges::find(compared, one.conditions, &ComparedVariant::conditions);
    if (!are_comparable(first, one)) continue;
    if (first.median && one.median && *one.median > Seconds{}) one.speedup = *first.median / *one.median;
    if (&first != &one) one.against_first = compare_pairs(first, one);
    if (one.against_first && one.against_first->speedup) one.speedup = one.against_first->speedup;
  }
  return compared;
}

std::vector<ComparedRuns> compared_runs(const std::vector<ScenarioResults>& variants) {
  std::vector<ComparedRuns> runs;
  for (const ScenarioResults& variant : variants) {
    std::vector<RunSummary> summaries = summaries_of(variant.runs);
    std::vector<ExpectationOutcome> expectations = evaluate_expectations(variant.loaded, summaries);
    Comparable facts = comparable_of(variant.loaded.scenario);
    facts.validity = variant.validity;
    runs.push_back({std::move(facts),
                    std::move(summaries),
                    {},  // conditions are a study's
                    find_bottleneck(variant.runs),
                    std::move(expectations),
                    variant.engine == "live"});
  }
  return runs;
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
      {"diverged", "runs", "whose loss was not finite any more",
       [](const V& one) { return one.outcomes.diverged; }},
      {"stalled", "runs", "in which every worker waited for ever",
       [](const V& one) { return one.outcomes.stalled; }},
      {"never_reached", "runs", "that did the whole workload short of the target; empty: none",
       [](const V& one) { return one.target_accuracy ? Cell(one.outcomes.done) : Cell(); }},
      {"outcome", "-",
       "of more than half of the runs: reached, diverges or stalls; else never; without a target done, "
       "diverges or stalls",
       [](const V& one) { return std::string(one.outcomes.word(one.target_accuracy.has_value())); }},
      {"p_reach", "probability", "that one further run does; never 0 or 1",
       if_learns([](const Times& s) { return s.p_reach.value; })},
      {"p_reach_low", "probability", "lower end of its 90 % interval",
       if_learns([](const Times& s) { return s.p_reach.interval.low; })},
      {"p_reach_high", "probability", "upper end",
       if_learns([](const Times& s) { return s.p_reach.interval.high; })},
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
       "geometric mean over the pairs of the time of the first variant under the same conditions over this "
       "one's; where some run never got there, the ratio of the medians. Times to the end of the work when "
       "neither has a target: a job cut short never does it",
       &V::speedup},
      {"speedup_low", "-",
       "lower end of the 90 % confidence interval of the mean paired ratio; empty: fewer than 5 pairs, or "
       "some never reached",
       of_pairs([](const Pairs& p) { return p.speedup_interval ? Cell(p.speedup_interval->low) : Cell(); })},
      {"speedup_high", "-", "upper end",
       of_pairs([](const Pairs& p) { return p.speedup_interval ? Cell(p.speedup_interval->high) : Cell(); })},
      {"p_faster", "probability", "that this variant beats that first one; never 0 or 1",
       of_pairs([](const Pairs& p) { return p.p_faster.value; })},
      {"p_faster_low", "probability", "lower end of its 90 % interval",
       of_pairs([](const Pairs& p) { return p.p_faster.interval.low; })},
      {"p_faster_high", "probability", "upper end",
       of_pairs([](const Pairs& p) { return p.p_faster.interval.high; })},
      {"pairs", "pairs", "of replications with a common seed behind p_faster; empty: not comparable",
       of_pairs([](const Pairs& p) { return p.pairs; })},
      {"time_correlation", "-",
       "realized, of the two variants' log times over those pairs; empty: fewer than 3, or no variance",
       of_pairs([](const Pairs& p) { return p.correlation; })},
      {"throughput_samples_per_s", "samples/s", "mean over the replications", &V::mean_samples_per_s},
      {"cost", "-", "of all workers for the median of the times compared; empty: never, or no prices",
       [](const V& one) { return cost_of(one, one.median); }}};
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

std::string comparison_json(const std::vector<ComparedVariant>& compared) {
  using json = nlohmann::ordered_json;
  json rows = json::array();
  for (const ComparedVariant& one : compared) {
    json& row = rows.emplace_back(json::object());
    for (const Column<ComparedVariant>& column : comparison_columns())
      row[column.name] = column.value(one, {});
    row["validity"] = validity_json(one.validity);
    row["bottleneck"] = bottleneck_json(one.bottleneck);
    row["expectations"] = expectations_json(one.expectations);
  }
  return rows.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

ComparisonText comparison_text(const std::vector<ComparedVariant>& compared, bool has_pairs) {
  const auto any = [&](const auto& condition) { return std::ranges::any_of(compared, condition); };
  const bool any_target = any([](const ComparedVariant& one) { return one.target_accuracy.has_value(); });
  const bool any_pair =
      has_pairs && any([](const ComparedVariant& one) { return one.against_first.has_value(); });
  const bool any_km = any([](const ComparedVariant& one) {
    return one.target_accuracy && one.summary.median != one.summary.kaplan_meier_median;
  });
  AssumedLearners assumed;
  for (const ComparedVariant& one : compared) assumed.count(one.has_assumed_learner);
  ComparisonText text;
  text.tables.push_back(any_target ? times_to_target(compared, assumed) : end_times(compared, assumed));
  if (any_pair) text.tables.push_back(pairs_with_first(compared, assumed));
  ValidityTable validity;
  for (const ComparedVariant& one : compared) add_validity(one, validity);
  if (TextRows rows = validity.rows(); !rows.empty()) text.tables.push_back(std::move(rows));
  text.sentences.push_back(fmt::format(
      "Times are {}. Median over the seeds {};\n"
      "interval: where one further seed's time lies with 90 % probability, from five runs on. P: Jeffreys.",
      any([](const ComparedVariant& one) { return one.is_live; }) ? "real" : "simulated",
      any_target ? "(a run that never reaches the target counts as slowest)"
                 : "of the end of the job (one that diverged or stalled counts as slowest)"));
  if (any_km)
    text.sentences.emplace_back(
        "KM: Kaplan-Meier median; a run that did its whole workload might have reached the target later.");
  if (any_pair) {
    const bool has_conditions = any([](const ComparedVariant& one) { return !one.conditions.empty(); });
    text.sentences.push_back(fmt::format(
        "Against {}: runs paired by seed, 90 % intervals; correlation of the paired times' logarithms.",
        has_conditions ? "the first under the same conditions" : printable(compared.front().name)));
  }
  if (std::string note = assumed.note(); !note.empty()) {
    note.pop_back();  // its line's end
    text.sentences.push_back(std::move(note));
  }
  for (const ComparedVariant& one : compared)
    if (one.bottleneck)
      text.sentences.push_back(fmt::format("bottleneck of {}: {}, at its full rate {:.0f} % of the time",
                                           printable(one.name), one.bottleneck->resource,
                                           100.0 * one.bottleneck->share));
  return text;
}

std::string comparison_table(const std::vector<ComparedVariant>& compared) {
  const ComparisonText parts = comparison_text(compared);
  std::string text;
  for (const TextRows& table : parts.tables)
    text += fmt::format("{}{}", text.empty() ? "" : "\n", text_table(table));
  for (const std::string& sentence : parts.sentences) text += fmt::format("{}\n", sentence);
  return text;
}

}  // namespace paceline
