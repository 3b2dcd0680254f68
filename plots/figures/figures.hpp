// The figures: each says what it shows, or nothing when there is nothing to show. They draw in the order
// given and have no opinion on which policy is best.
#pragma once

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "plots/data/results.hpp"
#include "plots/data/study_runs.hpp"
#include "plots/page/figure.hpp"
#include "plots/page/page.hpp"

namespace paceline::plots {

// What somebody recorded of a policy, to be marked beside what was simulated.
struct RecordedOutcome {
  std::optional<double> final_accuracy;  // 0-1
  std::optional<double> relative_time;   // over that of the first policy
};
using RecordedOutcomes = std::map<std::string, RecordedOutcome>;  // by the policy's name
// From a CSV file with the columns variant, final_accuracy, relative_time; cells may be empty.
[[nodiscard]] RecordedOutcomes read_recorded_outcomes(const std::filesystem::path& path);

[[nodiscard]] inline Ink series_ink(const SeriesPlace& place) {
  return series_ink(place.colour, place.variation);
}

struct ShownRuns {
  std::vector<PlottedRun> runs;
  RecordedOutcomes recorded = {};
  PageOptions page = {};

  template <class Condition>
  [[nodiscard]] std::vector<PlottedRun> those_with(Condition condition) const {
    std::vector<PlottedRun> kept;
    std::ranges::copy_if(runs, std::back_inserter(kept), condition);
    return kept;
  }
};

// Nothing when no run has a learning curve.
[[nodiscard]] std::optional<Figure> accuracy_figure(const ShownRuns& shown);
[[nodiscard]] std::optional<Figure> accuracy_over_samples_figure(const ShownRuns& shown);
// Nothing when no run has a loss.
[[nodiscard]] std::optional<Figure> loss_figure(const ShownRuns& shown);
[[nodiscard]] std::optional<Figure> loss_over_samples_figure(const ShownRuns& shown);
// Nothing when no run has a target accuracy.
[[nodiscard]] std::optional<Figure> time_to_accuracy_figure(const ShownRuns& shown);
// Nothing when no batch ever changes.
[[nodiscard]] std::optional<Figure> batch_figure(const ShownRuns& shown);
// Final accuracy and relative time of several policies. Nothing for one, nor for jobs that end at a target
// (whose time is the other figure's) unless something recorded stands beside them.
[[nodiscard]] std::optional<Figure> outcome_figure(const ShownRuns& shown);
// Nothing when no run was traced.
[[nodiscard]] std::optional<Figure> timeline_figure(const ShownRuns& shown);
// Nothing when no run kept its iterations.
[[nodiscard]] std::optional<Figure> compute_time_figure(const ShownRuns& shown);
// Nothing when every worker of every run contributed the same number of gradients.
[[nodiscard]] std::optional<Figure> update_density_figure(const ShownRuns& shown);

// How stale gradients were. Nothing when none was.
[[nodiscard]] std::optional<Figure> staleness_figure(const ShownRuns& shown);
// What the workers' time went into, stacked. Nothing for results that do not say.
[[nodiscard]] std::optional<Figure> attribution_figure(const ShownRuns& shown);

// Of a whole study's folder. Time against cost, with what nothing beats in both, a panel for each case;
// nothing for fewer than three combinations.
[[nodiscard]] std::optional<Figure> pareto_figure(const std::filesystem::path& folder);
// The time over the last two varied names, a map for each combination of the others; nothing without two.
[[nodiscard]] std::optional<Figure> time_map_figure(const std::filesystem::path& folder);
// How far each varied name alone moves the time from the first combination's; nothing without two.
[[nodiscard]] std::optional<Figure> tornado_figure(const std::filesystem::path& folder,
                                                   const PageOptions& page);

// One metric of a study against what is varied, a line for each series, recorded values as hollow markers. An
// axis whose numbers span a factor of 30 or more, all above 0, is logarithmic. Nothing when no run has the
// metric.
[[nodiscard]] std::optional<Figure> study_figure(const StudyChart& chart);

// A calibration profile: above, seconds of an iteration over the batch: a point for each measuring process
// (the mean of its durations without stalls), the fitted law of each core count, and the central 95 % of the
// laws of the profile's ensemble; below, the residuals point / law - 1. A derived profile has no samples: its
// laws are drawn alone. Throws UserError when the file is no profile.
[[nodiscard]] Figure profile_figure(const std::filesystem::path& profile, const PageOptions& page = {});

struct ShareAccuracy {
  double share = 0.0;     // 0-1, above 0
  double accuracy = 0.0;  // 0-1, mean
  double deviation = 0.0;
};
struct ShareResults {
  std::vector<ShareAccuracy> tried;
  double target = 0.0;
  double tolerance = 0.0;
  double chosen = 1.0;
  bool has_assumed_learner = false;
  std::vector<ShareAccuracy> recorded;  // deviations are not used
};
// From a CSV file with the columns share_percent, final_accuracy.
[[nodiscard]] std::vector<ShareAccuracy> read_recorded_shares(const std::filesystem::path& path);
// Final accuracy against the share of synchronous training, with the share a search chose.
[[nodiscard]] Figure share_figure(const ShareResults& results);

struct ScatterPoint {
  double x = 0.0;
  double y = 0.0;
  std::optional<double> low = {};  // of an upright bar
  std::optional<double> high = {};
};
struct ScatterSeries {
  std::string name;
  std::vector<ScatterPoint> points = {};
};
struct Scatter {
  std::string name;  // of the figure's files
  std::string x_title;
  std::string y_title;
  std::string note;
  bool is_diagonal = false;  // over the line y = x; else over y = 0
  std::vector<ScatterSeries> series = {};
};
// Predicted against recorded, or residuals against progress.
[[nodiscard]] Figure scatter_figure(const Scatter& scatter);

// Of a validation.csv of `paceline validate recorded`: a figure for each quantity.
[[nodiscard]] std::vector<Figure> validation_figures(const std::filesystem::path& path);

// Of a learner's file: final accuracies of the groups that were left out. Throws UserError where there are
// none.
[[nodiscard]] Figure learner_figure(const std::filesystem::path& path, const nlohmann::json& learner);

inline constexpr double named_bar_in = 0.12;  // thickness of a bar below its name
struct NamedRow {
  std::string name;
  std::string value = {};  // stands at the right
};
struct StackedRows {
  Panel panel;                  // its y axis counts inches downwards
  std::vector<double> middles;  // of the bars, along that axis
};
// A panel of named rows, one below the other, each with a place for a bar below its name.
[[nodiscard]] StackedRows stacked_rows(const std::vector<NamedRow>& rows, double bar_in,
                                       std::size_t name_lines_max, const PageOptions& page);

}  // namespace paceline::plots
