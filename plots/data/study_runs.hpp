// The runs of a study as figures need them: one metric against one varied name, grouped into series.
//
// Models:      series of points; a point is the median over the runs of one combination, with the 90 %
//              prediction interval of one further run; or the mean of how far its runs are from those of a
//              reference series, with its 95 % interval.
// Equation:    a run without the metric (it never reached its target) counts as above every number; with such
//              runs the upper end is absent. Of n values y (logarithms where all are above 0, but for
//              accuracies): mean ± t(0.95, n - 1) · s · √(1 + 1/n), as in tables, with s² at least
//              (Δ/median)²/12 for times read off evaluations Δ apart. Differences are paired by replication
//              and by everything varied but the series; of n of them: mean ± t(0.975, n - 1) · sd / √n
//              (Student's t).
// Units:       those of the metric. Numbers along the axis in the unit their labels are written with.
// Assumptions: runs.csv and manifest.json of `paceline study`. Differences are independent and nearly normal.
// Not modelled: pairs of which one failed or never reached: they are left out. So are the end, and the core
//              hours until then, of a job that diverged or stalled: it would look fast.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "plots/data/results.hpp"

namespace paceline::plots {

// Fewer runs than this have no interval, as in tables.
inline constexpr std::size_t least_for_interval = 5;

struct StudyFigureSpec {
  std::string name = {};
  std::string metric = {};
  std::string against = {};
  std::string series = {};                                     // empty: whatever else is varied
  std::map<std::string, std::vector<std::string>> where = {};  // only runs with one of these labels
  std::filesystem::path recorded = {};                         // empty: none
  std::string difference_from = {};  // a label of `series`; empty: the metric itself is shown
};

struct StudyPoint {
  double x = 0.0;                     // the number of its label, or its place among the labels
  std::optional<double> middle = {};  // median of the metric, mean of differences; or what was recorded
  std::optional<double> low = {};
  std::optional<double> high = {};
  std::size_t runs = 0;
  std::size_t diverged = 0;  // of all its runs, also those that have no such metric
  std::size_t label = 0;     // its place among the labels
  [[nodiscard]] bool is_divergent() const { return 2 * diverged > runs; }
};

struct StudySeries {
  std::string name = {};  // empty: the only one
  SeriesPlace place = {};
  bool has_assumed_learner = false;  // in some combination at least
  std::vector<StudyPoint> points = {};
  std::vector<StudyPoint> recorded = {};
};

struct StudyChart {
  StudyFigureSpec spec = {};
  std::string unit = {};                      // of the numbers along the axis; empty: none
  bool is_numeric = true;                     // else labels at equal distances, x = 0, 1, …
  std::vector<std::string> axis_labels = {};  // in the order of the study
  std::vector<StudySeries> series = {};
  std::size_t never = 0;      // combinations whose middle never reached
  std::size_t cut_short = 0;  // runs left out since they ended early and the metric is how long the job took
};

// The figures that a study's folder asks for; without any, its time against what varies last. Empty when
// nothing is varied, or the folder holds no study.
[[nodiscard]] std::vector<StudyFigureSpec> study_figure_specs(const std::filesystem::path& folder);

// Throws UserError naming the file at fault.
[[nodiscard]] StudyChart read_study_chart(const std::filesystem::path& folder, const StudyFigureSpec& spec);

}  // namespace paceline::plots
