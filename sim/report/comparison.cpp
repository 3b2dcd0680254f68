#include "sim/report/comparison.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/report/csv.hpp"

namespace paceline {
namespace {

std::string interval_text(const TimeToAccuracy& summary) {
  if (!summary.low) return "-";
  const std::string high = summary.high ? format_time(*summary.high) : "never";
  return fmt::format("{} - {}", format_time(*summary.low), high);
}

std::vector<std::string> table_row(const ComparedVariant& variant) {
  const TimeToAccuracy& s = variant.summary;
  const std::string throughput = fmt::format("{:.4g}", variant.mean_samples_per_s);
  if (!variant.target_accuracy) return {variant.name, "-", "-", "-", "-", "-", "-", throughput};
  return {variant.name,
          fmt::format("{:g}", *variant.target_accuracy),
          s.median ? format_time(*s.median) : "never",
          interval_text(s),
          fmt::format("{}/{}", s.reached, s.runs),
          fmt::format("{:.2f} [{:.2f}, {:.2f}]", s.p_reach, s.p_reach_interval.low, s.p_reach_interval.high),
          variant.speedup ? fmt::format("{:.2f}x", *variant.speedup) : "-",
          throughput};
}

// Characters, not bytes: continuation bytes of UTF-8 take no column.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

std::string printable(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20U || c == 0x7F) c = '?';
  return text;
}

std::string aligned(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths(rows.front().size(), 0);
  for (const auto& row : rows)
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], width(row[c]));
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c) {
      const std::string padding(widths[c] - width(row[c]), ' ');
      // Names to the left, everything else to the right, so that numbers line up.
      line += c == 0 ? row[c] + padding : "  " + padding + row[c];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace

std::string format_time(Seconds time) {
  const double s = time.value();
  if (s < 100.0) return fmt::format("{:#.3g} s", s);
  if (s < 6000.0) return fmt::format("{:#.3g} min", s / 60.0);
  return fmt::format("{:#.3g} h", s / 3600.0);
}

std::vector<ComparedVariant> compare(const std::vector<ScenarioResults>& variants) {
  Seconds horizon;
  for (const ScenarioResults& variant : variants) horizon = std::max(horizon, longest(variant.runs));
  std::vector<ComparedVariant> compared;
  for (const ScenarioResults& variant : variants) {
    ComparedVariant one;
    one.name = variant.loaded.scenario.name;
    one.target_accuracy = variant.loaded.scenario.stop.accuracy;
    one.summary = summarize_time_to_accuracy(variant.runs, horizon);
    one.longest_run = longest(variant.runs);
    for (const RunResult& run : variant.runs)
      if (run.end_time > Seconds{})
        one.mean_samples_per_s += static_cast<double>(run.samples) / run.end_time.value() /
                                  static_cast<double>(variant.runs.size());
    compared.push_back(std::move(one));
  }
  const ComparedVariant& first = compared.front();
  for (ComparedVariant& one : compared)
    if (one.target_accuracy && one.target_accuracy == first.target_accuracy && first.summary.median &&
        one.summary.median && *one.summary.median > Seconds{})
      one.speedup = *first.summary.median / *one.summary.median;
  return compared;
}

std::string comparison_csv(const std::vector<ComparedVariant>& compared) {
  CsvTable table({"variant", "target_accuracy", "replications", "reached", "p_reach", "p_reach_low",
                  "p_reach_high", "time_to_accuracy_median_s", "time_to_accuracy_low_s",
                  "time_to_accuracy_high_s", "restricted_mean_s", "horizon_s", "speedup",
                  "throughput_samples_per_s"});
  for (const ComparedVariant& one : compared) {
    const TimeToAccuracy& s = one.summary;
    const auto if_learns = [&](double value) {
      return one.target_accuracy ? std::optional(value) : std::nullopt;
    };
    table.add(one.name)
        .add(one.target_accuracy)
        .add(s.runs)
        .add(s.reached)
        .add(if_learns(s.p_reach))
        .add(if_learns(s.p_reach_interval.low))
        .add(if_learns(s.p_reach_interval.high))
        .add(s.median)
        .add(s.low)
        .add(s.high)
        .add(if_learns(s.restricted_mean.value()))
        .add(s.horizon)
        .add(one.speedup)
        .add(one.mean_samples_per_s)
        .end_row();
  }
  return table.text();
}

std::string comparison_json(const std::vector<ComparedVariant>& compared) {
  using json = nlohmann::ordered_json;
  const auto time = [](const std::optional<Seconds>& t) { return t ? json(t->value()) : json(nullptr); };
  json rows = json::array();
  for (const ComparedVariant& one : compared) {
    const TimeToAccuracy& s = one.summary;
    json row = {{"variant", one.name},
                {"replications", s.runs},
                {"throughput_samples_per_s", one.mean_samples_per_s},
                {"horizon_s", s.horizon.value()}};
    if (one.target_accuracy) {
      row["reached"] = s.reached;
      row["p_reach"] = {
          {"estimate", s.p_reach}, {"low", s.p_reach_interval.low}, {"high", s.p_reach_interval.high}};
      row["time_to_accuracy_s"] = {{"median", time(s.median)}, {"low", time(s.low)}, {"high", time(s.high)}};
      row["restricted_mean_s"] = s.restricted_mean.value();
      row["speedup"] = one.speedup ? json(*one.speedup) : json(nullptr);
    }
    rows.push_back(row);
  }
  return rows.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

std::string comparison_table(const std::vector<ComparedVariant>& compared) {
  const bool any_target = std::any_of(compared.begin(), compared.end(), [](const ComparedVariant& one) {
    return one.target_accuracy.has_value();
  });
  std::vector<std::vector<std::string>> rows;
  if (any_target) {
    rows.push_back(
        {"", "target", "time to it", "90 % interval", "reached", "P(reach) [90 %]", "speed-up", "samples/s"});
    for (const ComparedVariant& one : compared) rows.push_back(table_row(one));
  } else {
    rows.push_back({"", "longest run", "samples/s"});
    for (const ComparedVariant& one : compared)
      rows.push_back({one.name, format_time(one.longest_run), fmt::format("{:.4g}", one.mean_samples_per_s)});
  }
  for (auto& row : rows) row.front() = printable(row.front());
  std::string text = aligned(rows);
  if (any_target)
    text +=
        "Times are simulated. Median over the seeds (a run that never reaches the target counts as "
        "slowest);\n"
        "interval: where one further seed's time lies with 90 % probability.\n";
  return text;
}

}  // namespace paceline
