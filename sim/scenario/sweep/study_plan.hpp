// Study files: one base scenario, named variants of it, and values that are varied; and what a study runs:
// every combination, as scenarios made on demand. How a file looks: study_example(), docs/study-reference.md.
//
// Models:      a product of axes. An axis is a list of points, each with a label and the assignments it
//              makes; the variants are the first axis. Combinations that `exclude` names are left out.
// Equation:    scenario = base + variant's `set` + each axis' assignments, in order + the study's `set` +
//              `--set`. A later assignment of the study adds to the earlier ones and replaces none of them.
//              In the study's own values
//                ${AXIS}           stands for the value of an axis (or the name of the `variant`),
//                {repeat: N, of: V}  in a list for N times V,
//                {lookup: AXIS, in: {LABEL: V, …}}  for the V of the axis' label: values that depend on it.
// Units:       as in a scenario. The numbers of a range keep the unit they are written with.
// Assumptions: combinations are few enough to be listed (a million); a scenario is made again when needed.
// Not modelled: arithmetic in values.
//
// A mistake is reported at its line of the study file; one that all combinations share is reported once.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
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
  std::string first;  // the ends as written
  std::string last;
  int points = 2;
  RangeScale scale = RangeScale::linear;
  bool whole = false;  // rounded
  double from = 0.0;   // the ends as numbers
  double to = 0.0;
  std::string unit;

  [[nodiscard]] double at(double share) const;  // of the way from one end to the other
  [[nodiscard]] std::string text(double number) const;
};

struct Axis {
  std::string name;              // a word: a column of the results
  std::string key;               // the one key path it sets; empty: none
  std::vector<YamlNode> values;  // one of these four gives the points
  std::optional<AxisRange> range;
  std::vector<AxisPoint> cases;
  std::vector<Assignment> zip;
  std::vector<AxisPoint> points;  // labels differ
  Spot spot;
  Spot key_spot;

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
  std::string over{};  // the axis of a search along a line; empty: all combinations
  std::optional<double> accuracy{};
  int replications = 20;
  int first_replications = 4;
  int keep_one_of = 3;
  std::optional<double> tolerance{};
  std::optional<double> price_per_core_hour{};
  Spot spot{};
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
  std::filesystem::path base_file;
  std::optional<int> replications;
  std::vector<StudyVariantSet> variants;  // empty: the base alone
  std::vector<Axis> axes;
  std::vector<Assignment> set;                   // for every combination
  std::vector<std::vector<Assignment>> exclude;  // axis or `variant`: the label or labels left out together
  std::vector<StudyFigure> figures;
  std::optional<SearchConfig> search;

  std::filesystem::path file;
  YamlNode base;
  std::vector<Assignment> overrides;  // `--set`
  std::vector<StudyPoint> points;     // variants vary slowest, the last axis fastest; names differ
  std::vector<std::string> warnings;  // rendered, with the combinations they are about

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

void describe(Visitor& v, StudyPlan& c);

// Reads a study and checks every combination, each of which is shown to `visit` and then forgotten, be it
// sound or not. Throws
// UserError with all mistakes of the study, its base, its combinations and the overrides.
[[nodiscard]] StudyPlan load_study_plan(
    const std::filesystem::path& file, std::span<const std::string> overrides,
    const std::function<void(std::size_t point, LoadedScenario& loaded)>& visit = {});

// All combinations at once, in their order: for small studies.
[[nodiscard]] std::vector<LoadedScenario> load_study(const std::filesystem::path& file,
                                                     std::span<const std::string> overrides);

// Whether a file is meant as a study (it has a top-level key `study`, `variants` or `vary`) rather than as a
// scenario. Throws UserError when it cannot be read.
[[nodiscard]] bool is_study_file(const std::filesystem::path& file);

// A name as a folder: lower-case letters, digits and single hyphens, never empty.
[[nodiscard]] std::string folder_name(std::string_view name);

// The JSON schema (draft-7) of a study file, for editors.
[[nodiscard]] std::string study_schema();
// Every key in Markdown; the example's base is scenario_example() in scenario.yaml.
[[nodiscard]] std::string study_reference();
[[nodiscard]] std::string_view study_example();

}  // namespace paceline
