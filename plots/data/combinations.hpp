// The combinations of a study as figures of the whole study need them: time and cost of each.
//
// Models:      a combination is all runs with the same labels.
// Equation:    time: to the target where any run of the study reached one, else to the end of the work; the
//              median, a run without one counting as slowest. Cost of a run: core-hours until then,
//              core_hours · time / end_time, or `cost_to_target` where the study has prices; the median
//              likewise. Pareto front: no other combination of the case is both sooner and cheaper, or equal
//              in one and better in the other.
// Units:       seconds; core-hours, or the prices' money.
// Assumptions: runs.csv and manifest.json of `paceline study`.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "plots/data/results.hpp"

namespace paceline::plots {

struct Combination {
  std::size_t point = 0;                 // of the study, from 1
  std::vector<std::string> labels = {};  // by column
  std::optional<double> time_s = {};     // absent: half of the runs or more never got there
  std::optional<double> cost = {};
  std::size_t runs = 0;
  std::size_t diverged = 0;
  bool is_on_front = false;
  bool has_assumed_learner = false;
};

// What a study varies.
struct StudyNames {
  std::vector<std::string> columns;                  // "variant" and what is varied
  std::vector<std::string> conditions;               // of these, what is met rather than chosen
  std::vector<std::vector<std::string>> all_labels;  // by column, each once, in the order of the study

  StudyNames() = default;
  // Of the manifest of `paceline study` and the table of its runs, done or not.
  StudyNames(const nlohmann::json& manifest, const CsvFile& runs);
};

struct Combinations : StudyNames {
  bool has_target = false;
  bool has_price = false;
  std::vector<Combination> all;  // that have runs, in the order of the study

  [[nodiscard]] std::vector<std::string> labels_of(std::size_t column) const;  // that have runs, each once
  // Those with more than one label, that are conditions or not.
  [[nodiscard]] std::vector<std::size_t> varied_columns(std::optional<bool> of_conditions = {}) const;
  // "ASP, rate 0.1, straggler none" of these columns.
  [[nodiscard]] std::string text_of(const Combination& one, const std::vector<std::size_t>& of_columns) const;
};

// What has a colour and a marker of its own in all figures of a study: the labels of the first name that is
// chosen rather than met (the policies, mostly). What else is varied keeps the colour, with other markers.
class InkPlaces {
 public:
  explicit InkPlaces(const StudyNames& study);

  [[nodiscard]] std::size_t column() const { return column_; }
  [[nodiscard]] std::size_t labels() const { return labels_.size(); }
  // `others`: everything else that tells one series from the next. Numbered in the order asked for.
  [[nodiscard]] SeriesPlace of(const std::string& label, const std::string& others = {});

 private:
  std::size_t column_ = 0;
  std::vector<std::string> labels_;
  std::map<std::string, std::vector<std::string>> others_of_;  // by label
};

// Nothing where the folder holds no study with a table of its runs.
[[nodiscard]] std::optional<Combinations> read_combinations(const std::filesystem::path& folder);

}  // namespace paceline::plots
