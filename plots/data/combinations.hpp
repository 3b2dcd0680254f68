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
#include <optional>
#include <string>
#include <vector>

namespace paceline::plots {

struct Combination {
  std::vector<std::string> labels = {};  // by column
  std::optional<double> time_s = {};     // absent: half of the runs or more never got there
  std::optional<double> cost = {};
  std::size_t runs = 0;
  std::size_t diverged = 0;
  bool is_on_front = false;
  bool has_assumed_learner = false;
};

struct Combinations {
  std::vector<std::string> columns;     // "variant" and what is varied
  std::vector<std::string> conditions;  // of these, what is met rather than chosen
  bool has_target = false;
  bool has_price = false;
  std::vector<Combination> all;  // in the order of the study

  [[nodiscard]] std::vector<std::string> labels_of(std::size_t column) const;  // each once
  // "ASP, rate 0.1, straggler none" of these columns.
  [[nodiscard]] std::string text_of(const Combination& one, const std::vector<std::size_t>& of_columns) const;
};

// Nothing where the folder holds no study with a table of its runs.
[[nodiscard]] std::optional<Combinations> read_combinations(const std::filesystem::path& folder);

}  // namespace paceline::plots
