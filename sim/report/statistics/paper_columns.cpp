#include "sim/report/statistics/paper_columns.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/check.hpp"

namespace paceline {
namespace {

struct PaperUnit {
  const char* symbol;
  double seconds;
};

// Times of all rows stand in one unit, so that they can be compared at a glance.
PaperUnit unit_of(const std::vector<ComparedVariant>& compared) {
  Seconds longest;
  for (const ComparedVariant& one : compared) longest = std::max(longest, one.median.value_or(Seconds{}));
  for (const PaperUnit unit : {PaperUnit{"h", 3600.0}, PaperUnit{"min", 60.0}})
    if (longest >= Seconds{1.5 * unit.seconds}) return unit;
  return {"s", 1.0};
}

struct PaperStyle {
  PaperUnit unit;
  bool has_target = false;

  [[nodiscard]] std::string scaled(Seconds time) const { return three_digits(time.value() / unit.seconds); }
};

std::string interval_cell(const ComparedVariant& one, const PaperStyle& style) {
  const bool is_cut_short = !one.target_accuracy && one.end_times.cut_short > 0;
  const auto& low = one.target_accuracy ? one.summary.low : one.end_times.low;
  const auto& high = one.target_accuracy ? one.summary.high : one.end_times.high;
  if (!low || is_cut_short) return "-";
  return fmt::format("{}–{}", style.scaled(*low), high ? style.scaled(*high) : "never");
}

std::string p_reach_cell(const ComparedVariant& one, const PaperStyle&) {
  if (!one.target_accuracy) return "-";
  const Probability& p = one.summary.p_reach;
  return fmt::format("{} [{}, {}]", inner_probability(p.value), inner_probability(p.interval.low),
                     inner_probability(p.interval.high));
}

std::string speedup_cell(const ComparedVariant& one, const PaperStyle&) {
  if (!one.speedup) return "-";
  std::string text = fmt::format("{:.2f}", *one.speedup);
  if (one.against_first && one.against_first->speedup_interval)
    text += fmt::format(" [{:.2f}, {:.2f}]", one.against_first->speedup_interval->low,
                        one.against_first->speedup_interval->high);
  return text;
}

struct PaperRule {
  PaperColumn column;
  std::string (*head)(const PaperStyle& style);
  std::string (*cell)(const ComparedVariant& one, const PaperStyle& style);
};

const std::vector<PaperRule>& rules() {
  using V = ComparedVariant;
  using S = PaperStyle;
  static const std::vector<PaperRule> all{
      {{"time", "median to the target, or to the end"},
       [](const S& style) {
         return fmt::format("{} ({})", style.has_target ? "time" : "end", style.unit.symbol);
       },
       [](const V& one, const S& style) {
         return one.median ? style.scaled(*one.median) : time_or_outcome(one, {});
       }},
      {{"interval", "where one further seed's time lies with 90 % probability"},
       [](const S& style) { return fmt::format("90 % ({})", style.unit.symbol); },
       interval_cell},
      {{"reached", "runs that reached the target, or did their work"},
       [](const S& style) { return std::string(style.has_target ? "reached" : "done"); },
       [](const V& one, const S&) {
         return fmt::format("{}/{}", one.target_accuracy ? one.outcomes.reached : one.outcomes.done,
                            one.outcomes.runs);
       }},
      {{"p-reach", "probability to reach it"},
       [](const S&) { return std::string("P(reach) [90 %]"); },
       p_reach_cell},
      {{"speedup", "over the first of its case"},
       [](const S&) { return std::string("speed-up [90 %]"); },
       speedup_cell},
      {{"faster", "probability to be faster than that"},
       [](const S&) { return std::string("P(faster) [90 %]"); },
       [](const V& one, const S&) {
         return one.against_first ? faster_text(*one.against_first) : std::string("-");
       }},
      {{"samples", "a second"},
       [](const S&) { return std::string("samples/s"); },
       [](const V& one, const S&) { return three_digits(one.mean_samples_per_s); }},
      {{"cost", "until then, by the workers' prices"},
       [](const S&) { return std::string("cost"); },
       [](const V& one, const S&) {
         const std::optional<double> cost = cost_of(one, one.median);
         return cost ? three_digits(*cost) : std::string("-");
       }}};
  return all;
}

}  // namespace

std::vector<PaperColumn> paper_columns() {
  std::vector<PaperColumn> columns;
  for (const PaperRule& rule : rules()) columns.push_back(rule.column);
  return columns;
}

std::vector<std::string> usual_paper_columns(const std::vector<ComparedVariant>& compared) {
  std::vector<std::string> words{"time", "interval", "reached"};
  if (std::ranges::any_of(compared,
                          [](const ComparedVariant& one) { return one.price_per_hour.has_value(); }))
    words.emplace_back("cost");
  return words;
}

PaperTable paper_table(const std::vector<ComparedVariant>& compared,
                       const std::vector<std::string>& columns) {
  const PaperStyle style{unit_of(compared), std::ranges::any_of(compared, [](const ComparedVariant& one) {
                           return one.target_accuracy.has_value();
                         })};
  AssumedLearners assumed;
  for (const ComparedVariant& one : compared) assumed.count(one.has_assumed_learner);
  std::vector<const PaperRule*> shown;
  for (const std::string& word : columns) {
    const auto rule = std::ranges::find(rules(), word, [](const PaperRule& one) { return one.column.word; });
    check(rule != rules().end(), "a column of a table that exists");
    shown.push_back(&*rule);
  }
  PaperTable table{{""}, {}};
  for (const PaperRule* rule : shown) table.head.push_back(rule->head(style));
  for (const ComparedVariant& one : compared) {
    auto group = std::ranges::find(table.groups, one.conditions, &PaperGroup::title);
    if (group == table.groups.end()) group = table.groups.insert(group, PaperGroup{one.conditions, {}});
    const std::string& name = one.conditions.empty() || one.choice.empty() ? one.name : one.choice;
    std::vector<std::string> row{assumed.marked(name, one.has_assumed_learner)};
    for (const PaperRule* rule : shown) row.push_back(rule->cell(one, style));
    group->rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace paceline
