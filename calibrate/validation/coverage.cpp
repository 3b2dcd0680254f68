#include "calibrate/validation/coverage.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include <fmt/format.h>

#include "calibrate/learning/exact_interval.hpp"
#include "sim/base/csv.hpp"
#include "sim/base/order_statistics.hpp"
#include "sim/report/output/text_table.hpp"

namespace paceline {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();
constexpr double coverage_tail = 0.05;
constexpr std::size_t least_runs = 3;
constexpr std::size_t least_in_set = 5;
constexpr int all_sets = 80;
constexpr int sets_of_one = 40;
constexpr std::array<SourcesOfVariation, 4> alone{{{true, false, false, false},
                                                   {false, true, false, false},
                                                   {false, false, true, false},
                                                   {false, false, false, true}}};

double first_at(const PredictedRun& run, double threshold) {
  for (std::size_t i = 0; i < run.accuracy.size(); ++i)
    if (run.accuracy[i].value >= threshold) return run.time_s[i].value_or(never);
  return never;
}

// A quantity as numbers, of predicted and of recorded runs.
struct LeftOutQuantity {
  CoveredQuantity name = CoveredQuantity::final_accuracy;
  double at = 0.0;
  std::function<std::optional<double>(const PredictedRun&)> of;
};

std::vector<double> values_of(const PredictedRuns& runs, const LeftOutQuantity& quantity) {
  std::vector<double> values;
  for (const PredictedRun& run : runs.runs)
    if (const std::optional<double> value = quantity.of(run)) values.push_back(*value);
  return values;
}

// What never happens counts as the end of the job.
double spread_deviation(std::vector<double> values, double end) {
  for (double& value : values)
    if (value == never) value = end;
  return spread_of(values).deviation;
}

PredictedRuns predicted(const CoverageRequest& request, const TracedGroup& group, PredictionSets how) {
  const auto only = [](bool& source, bool asked) { source = source && asked; };
  only(how.sources.model, request.sources.model);
  only(how.sources.cluster, request.sources.cluster);
  return predict_sets(request.model, group, request.rates, request.variation, how);
}

// Over the values that are finite; nothing without any.
std::optional<double> finite_mean(const std::vector<double>& values) {
  std::vector<double> finite;
  for (const double value : values)
    if (value < never) finite.push_back(value);
  return mean_of(finite);
}

// Of the mean over the first `runs` runs of a set; nothing where fewer than half of the sets have one. One
// more mean of n lies below the k-th smallest of them with probability k / (n + 1).
std::optional<Interval> range_of_mean(const PredictedRuns& sets, std::size_t runs,
                                      const LeftOutQuantity& quantity) {
  std::vector<double> means;
  for (std::size_t begin = 0; begin + sets.runs_in_set <= sets.runs.size(); begin += sets.runs_in_set) {
    std::vector<double> values;
    for (std::size_t r = begin; r < begin + runs; ++r)
      if (const std::optional<double> value = quantity.of(sets.runs[r])) values.push_back(*value);
    if (const std::optional<double> mean = finite_mean(values)) means.push_back(*mean);
  }
  if (2 * means.size() * sets.runs_in_set < sets.runs.size()) return std::nullopt;
  const auto n = static_cast<double>(means.size());
  const double tail = std::max(0.0, (coverage_tail * (n + 1.0) - 1.0) / (n - 1.0));
  return Interval{quantile(means, tail), quantile(means, 1.0 - tail)};
}

class GroupCoverage {
 public:
  GroupCoverage(const CoverageRequest& request, const TracedGroup& recorded, const PredictedRuns& sets,
                std::span<const double> thresholds)
      : request_(request), recorded_(recorded), plan_(recorded.group.plan()), all_(sets) {
    for (const SourcesOfVariation& source : alone)
      alone_.push_back(
          predicted(request, recorded, {.sets = sets_of_one, .runs_in_set = 1, .sources = source}));
    const double workload = plan_.workload_minibatches();
    const std::optional<double> all = time_at(plan_, request.rates, workload);
    end_ = all.value_or(never);
    add_final();
    if (!all) return;
    add_job_time(*all);
    for (const double threshold : thresholds) add_threshold(threshold);
  }
  [[nodiscard]] std::vector<CoverageRow> take() { return std::move(rows_); }

 private:
  void add_final() {
    std::vector<CoveredRun> runs;
    for (const TrainingRun& run : recorded_.group.runs) runs.push_back({run.name, run.final_accuracy});
    add({CoveredQuantity::final_accuracy, 0.0,
         [](const PredictedRun& run) {
           return run.accuracy.empty() ? std::nullopt : std::optional(run.accuracy.back().value);
         }},
        std::move(runs), 1.0);
  }

  // Recorded times may end before the job does.
  void add_job_time(double all) {
    std::vector<CoveredRun> runs;
    double timed = 0.0;
    for (const TrainingRun& run : recorded_.group.runs) {
      if (!run.training_time_s) return;
      runs.push_back({run.name, *run.training_time_s});
      timed += run.timed_minibatches.value_or(plan_.workload_minibatches());
    }
    const double covered = *time_at(plan_, request_.rates, timed / static_cast<double>(runs.size())) / all;
    const double scale = mean_recorded(runs);
    add({CoveredQuantity::job_time, 0.0,
         [covered](const PredictedRun& run) -> std::optional<double> {
           if (!run.total_time_s) return std::nullopt;
           return *run.total_time_s * covered;
         }},
        std::move(runs), scale);
  }

  void add_threshold(double threshold) {
    std::vector<CoveredRun> runs;
    const PredictedRuns curves = recorded_curves(recorded_.group);
    for (std::size_t i = 0; i < curves.runs.size(); ++i)
      runs.push_back(
          {fmt::format("{} (curve {})", recorded_.group.name, i + 1), first_at(curves.runs[i], threshold)});
    const bool reached = std::ranges::any_of(runs, [](const CoveredRun& r) { return r.recorded < never; });
    if (!reached) return;
    const double scale = mean_recorded(runs);
    add({CoveredQuantity::time_to_accuracy, threshold,
         [threshold](const PredictedRun& run) { return std::optional(first_at(run, threshold)); }},
        std::move(runs), scale);
  }

  [[nodiscard]] double mean_recorded(const std::vector<CoveredRun>& runs) const {
    double sum = 0.0;
    for (const CoveredRun& run : runs) sum += run.recorded == never ? end_ : run.recorded;
    return sum / static_cast<double>(runs.size());
  }

  void add(const LeftOutQuantity& quantity, std::vector<CoveredRun> runs, double scale) {
    const std::vector<double> values = values_of(all_, quantity);
    if (values.size() < all_.runs.size() / 2 || runs.empty()) return;
    CoverageRow row{.left_out = request_.left_out,
                    .fold = request_.fold,
                    .group = recorded_.group.name,
                    .quantity = quantity.name,
                    .at = quantity.at,
                    .median = median(values),
                    .range = {quantile(values, coverage_tail), quantile(values, 1.0 - coverage_tail)},
                    .runs = std::move(runs)};
    std::vector<double> recorded;
    for (CoveredRun& run : row.runs) {
      run.inside = run.recorded >= row.range.low && run.recorded <= row.range.high;
      recorded.push_back(run.recorded);
    }
    row.recorded_mean = finite_mean(recorded);
    row.mean_range = range_of_mean(all_, recorded.size(), quantity);
    const auto known = [&](double value) { return value == never ? end_ : value; };
    row.relative_width = (known(row.range.high) - known(row.range.low)) / scale;
    if (recorded.size() >= least_runs)
      row.relative_spread = normal_5_to_95 * spread_deviation(recorded, end_) / scale;
    for (std::size_t s = 0; s < alone.size(); ++s) {
      const double deviation = spread_deviation(values_of(alone_[s], quantity), end_);
      row.variances[s] = deviation * deviation;
    }
    rows_.push_back(std::move(row));
  }

  const CoverageRequest& request_;
  const TracedGroup& recorded_;
  const TrainingPlan& plan_;
  const PredictedRuns& all_;
  std::vector<PredictedRuns> alone_;
  double end_ = never;
  std::vector<CoverageRow> rows_;
};

struct Summary {
  int inside = 0;
  int runs = 0;
  int means_inside = 0;
  int means = 0;
  double width = 0.0;
  double spread = 0.0;
  double compared = 0.0;
  double groups = 0.0;
  std::array<double, 4> shares{};

  void add(const CoverageRow& row) {
    for (const CoveredRun& run : row.runs) inside += run.inside ? 1 : 0;
    runs += static_cast<int>(row.runs.size());
    if (row.mean_range && row.recorded_mean) {
      ++means;
      if (*row.recorded_mean >= row.mean_range->low && *row.recorded_mean <= row.mean_range->high)
        ++means_inside;
    }
    if (row.relative_spread) {
      width += row.relative_width;
      spread += *row.relative_spread;
      compared += 1.0;
    }
    double sum = 0.0;
    for (const double variance : row.variances) sum += variance;
    if (sum <= 0.0) return;
    groups += 1.0;
    for (std::size_t s = 0; s < shares.size(); ++s) shares[s] += row.variances[s] / sum;
  }
};

// With its exact 90 % interval.
std::string share_text(int inside, int all) {
  if (all == 0) return "-";
  const Interval interval = exact_interval(inside, all);
  return fmt::format("{:.2f} [{:.2f}, {:.2f}]", static_cast<double>(inside) / all, interval.low,
                     interval.high);
}

}  // namespace

const char* name_of(CoveredQuantity quantity) {
  switch (quantity) {
    case CoveredQuantity::job_time:
      return "job time";
    case CoveredQuantity::time_to_accuracy:
      return "time to accuracy";
    case CoveredQuantity::final_accuracy:
      break;
  }
  return "final accuracy";
}

PredictedRuns predicted_sets(const CoverageRequest& request, const TracedGroup& recorded) {
  const std::size_t runs = std::max(least_in_set, recorded.group.runs.size());
  return predicted(request, recorded, {.sets = all_sets, .runs_in_set = static_cast<int>(runs)});
}

std::vector<CoverageRow> coverage_of(const CoverageRequest& request, const TracedGroup& recorded,
                                     const PredictedRuns& sets, std::span<const double> thresholds) {
  return GroupCoverage(request, recorded, sets, thresholds).take();
}

std::string coverage_text(std::span<const CoverageRow> rows) {
  TextRows table{{"left out", "quantity", "runs inside", "share", "means inside", "share", "width / recorded",
                  "runs", "fit", "model", "cluster"}};
  std::vector<std::string> kinds;
  for (const CoverageRow& row : rows)
    if (std::ranges::find(kinds, row.left_out) == kinds.end()) kinds.push_back(row.left_out);
  if (kinds.size() > 1) kinds.emplace_back();
  for (const std::string& kind : kinds) {
    for (const CoveredQuantity quantity : covered_quantities) {
      Summary sum;
      for (const CoverageRow& row : rows)
        if (row.quantity == quantity && (kind.empty() || row.left_out == kind)) sum.add(row);
      if (sum.runs == 0) continue;
      std::vector<std::string> cells{kind.empty() ? "all" : kind,
                                     name_of(quantity),
                                     fmt::format("{} of {}", sum.inside, sum.runs),
                                     share_text(sum.inside, sum.runs),
                                     fmt::format("{} of {}", sum.means_inside, sum.means),
                                     share_text(sum.means_inside, sum.means),
                                     sum.spread > 0.0 ? fmt::format("{:.2f}", sum.width / sum.spread) : "-"};
      for (const double share : sum.shares)
        cells.push_back(sum.groups > 0.0 ? fmt::format("{:.0f} %", 100.0 * share / sum.groups) : "-");
      table.push_back(std::move(cells));
    }
  }
  return "\n90 % ranges of what is left out: how many runs, and means of groups, lie inside; how wide those "
         "of "
         "single runs are; the share of each cause in the predicted variance\n" +
         text_table(table);
}

std::string coverage_csv(std::span<const CoverageRow> rows) {
  CsvTable table({"left_out",
                  "fold",
                  "group",
                  "quantity",
                  "at",
                  "run",
                  "recorded",
                  "predicted_median",
                  "low",
                  "high",
                  "inside",
                  "recorded_mean",
                  "mean_low",
                  "mean_high",
                  "relative_width",
                  "relative_spread",
                  "variance_runs",
                  "variance_fit",
                  "variance_model",
                  "variance_cluster"});
  const auto number = [](double value) {
    return std::isfinite(value) ? std::optional(value) : std::nullopt;  // empty: never
  };
  for (const CoverageRow& row : rows)
    for (const CoveredRun& run : row.runs) {
      table.add(row.left_out).add(row.fold).add(row.group).add(std::string_view(name_of(row.quantity)));
      table.add(row.at).add(run.run).add(number(run.recorded)).add(number(row.median));
      table.add(number(row.range.low)).add(number(row.range.high)).add(run.inside ? 1 : 0);
      const auto end_of = [&](double Interval::*end) {
        return row.mean_range ? std::optional((*row.mean_range).*end) : std::nullopt;
      };
      table.add(row.recorded_mean).add(end_of(&Interval::low)).add(end_of(&Interval::high));
      table.add(row.relative_width).add(row.relative_spread);
      for (const double variance : row.variances) table.add(variance);
      table.end_row();
    }
  return table.text();
}

}  // namespace paceline
