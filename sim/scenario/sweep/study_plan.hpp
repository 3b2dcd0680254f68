// What a study runs: every combination of its variants and of the values it varies, as scenarios made on
// demand.
//
// Models:      a product of axes. An axis is a list of points, each with a label and the assignments it
//              makes; the variants are the first axis. Combinations that `exclude` names are left out.
// Equation:    scenario = base + variant's `set` + each axis' assignments, in order + the study's `set` +
//              `--set`, the later winning. In the study's own values
//                ${AXIS}           stands for the value of an axis (or the name of the `variant`),
//                {repeat: N, of: V}  in a list for N times V,
//                {lookup: AXIS, in: {LABEL: V, …}}  for the V of the axis' label: values that depend on it.
// Units:       as in a scenario. The numbers of a range keep the unit they are written with.
// Assumptions: combinations are few enough to be listed (a million); a scenario is made again when needed.
// Not modelled: arithmetic in values.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/description/assignment.hpp"
#include "sim/scenario/reader.hpp"

namespace paceline {

struct AxisPoint {
  std::string label;            // in tables, figures and `exclude`
  YamlNode value;               // what `${AXIS}` stands for
  std::vector<Assignment> set;  // what it changes by itself
};

enum class RangeScale { linear, log };

// Between its ends any number may be tried, in the unit both are written with ("%", " Gbit/s"; empty: none).
struct AxisRange {
  double from = 0.0;
  double to = 0.0;
  std::string unit = {};
  RangeScale scale = RangeScale::linear;
  bool whole = false;  // rounded

  [[nodiscard]] double at(double share) const;  // of the way from one end to the other
  [[nodiscard]] std::string text(double number) const;
};

struct Axis {
  std::string name;  // a word: a column of the results
  Spot spot;
  std::optional<Assignment> key;  // the one key path it sets; its value is not used
  std::vector<AxisPoint> points;  // labels differ
  std::optional<AxisRange> range;

  // A point that is not in the list, by its number. The axis has a range.
  [[nodiscard]] AxisPoint at(double number) const;
};

// One metric against one varied key; a series for each label of another axis.
struct StudyFigure {
  std::string name;    // of its files
  std::string metric;  // a column of runs.csv
  std::string against;
  std::string series;              // empty: one series
  std::vector<Assignment> where;   // axis: the label (or labels) that are shown
  std::filesystem::path recorded;  // CSV with the columns series, x, y: drawn as hollow markers; empty: none
  std::string difference_from;     // a label of `series`; empty: the metric itself is drawn
};

enum class SearchMethod { exhaustive, golden_section, successive_halving };
enum class SearchObjective { time_to_accuracy, core_hours, money };

struct SearchConfig {
  SearchMethod method = SearchMethod::exhaustive;
  SearchObjective minimize = SearchObjective::time_to_accuracy;
  std::string over = {};  // the axis of a search along a line; empty: all combinations
  std::optional<double> accuracy = {};
  int replications = 20;
  int first_replications = 4;
  int keep_one_of = 3;
  std::optional<double> tolerance = {};
  std::optional<double> price_per_core_hour = {};
  Spot spot = {};
};

struct StudyVariantSet {
  std::string name;
  Spot spot;
  std::vector<Assignment> set;
};

// One combination.
struct StudyPoint {
  std::string name;
  std::uint32_t variant = 0;           // of the variants; 0 when there are none
  std::vector<std::uint32_t> on_axis;  // index of its point on each axis
};

struct StudyPlan {
  std::string name;
  std::string question;
  std::filesystem::path file;
  std::filesystem::path base_file;
  YamlNode base;
  std::vector<StudyVariantSet> variants;  // empty: the base alone
  std::vector<Axis> axes;
  std::vector<Assignment> set;        // for every combination
  std::vector<Assignment> overrides;  // `--set`
  std::vector<StudyFigure> figures;
  std::optional<SearchConfig> search;
  std::vector<StudyPoint> points;  // variants vary slowest, the last axis fastest; names differ

  // What tells combinations apart: "variant" if there are variants, then the axes; and of one combination,
  // its labels.
  [[nodiscard]] std::vector<std::string> columns() const;
  [[nodiscard]] std::vector<std::string> labels(const StudyPoint& point) const;
  // The folder of a combination's results.
  [[nodiscard]] std::string folder(std::size_t point) const;

  // The scenario of a combination. After a problem it must not be used.
  [[nodiscard]] LoadedScenario scenario(const StudyPoint& point, Problems& problems) const;
  // The same with another value on one axis, for a search between the listed values.
  [[nodiscard]] LoadedScenario scenario_with(const StudyPoint& point, std::size_t axis,
                                             const AxisPoint& other, Problems& problems) const;
};

// Reads a study and checks every combination, each of which is shown to `visit` and then forgotten. Throws
// UserError with all mistakes of the study, its base, its combinations and the overrides.
[[nodiscard]] StudyPlan load_study_plan(
    const std::filesystem::path& file, std::span<const std::string> overrides,
    const std::function<void(std::size_t point, LoadedScenario& loaded)>& visit = {});

}  // namespace paceline
