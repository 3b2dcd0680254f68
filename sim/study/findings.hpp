// What the runs of a study say about its combinations: who competes with whom, in which order they come in,
// and which settings matter.
//
// Models:      a study as far as it has been run, or one results folder as a study of one combination.
// Equation:    ranks, ties and the Pareto front: ranking.hpp; pairs: paired.hpp; effects and winners:
//              sensitivity.hpp. Combinations compete within a case: where all that is met rather than chosen
//              (cluster, network, task) is the same.
// Assumptions: those of these headers. Runs that are not done yet are like those that are.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "sim/report/output/text_table.hpp"
#include "sim/report/output/validity_table.hpp"
#include "sim/report/statistics/sensitivity.hpp"
#include "sim/study/store/run_store.hpp"

namespace paceline {

// Combinations that meet the same conditions, and so compete.
struct Case {
  std::string at;              // "network 10 Gbit/s, straggler none"; empty: there are no conditions
  std::vector<Ranked> ranked;  // by index into the table
  std::size_t reference = 0;   // of the table: what the others are paired with

  // Those of the first rank: one, unless these runs do not tell it apart from others.
  [[nodiscard]] std::vector<std::size_t> first() const {
    std::vector<std::size_t> indices;
    for (const Ranked& one : ranked)
      if (one.rank == 1) indices.push_back(one.index);
    return indices;
  }
};

// A study as far as it has been run, and what follows from that.
struct Findings {
  PlannedStudy study;
  RunCounts counts;
  ComparedTable table;
  std::vector<std::size_t> point_of;  // by combination of the table
  AssumedLearners assumed;
  std::vector<Case> cases;
  ValidityTable validity;
  std::vector<Sensitivity> effects;
  std::vector<WinnerChange> winners;
  std::vector<std::string> warnings;
  std::vector<std::string> failures;  // runs without a result, and jobs that stalled

  [[nodiscard]] std::string name(std::size_t index) const {
    return assumed.marked(table.runs[index].name, table.runs[index].has_assumed_learner);
  }
  // Without the conditions.
  [[nodiscard]] std::string choice(std::size_t index) const { return study.choice_text(table.labels[index]); }
  // Without the conditions where these vary.
  [[nodiscard]] std::string name_in_case(std::size_t index) const;
};

// Of a study's folder, or of a results folder. `against`: the combination that the others of its case are
// paired with; empty: the best of each. Throws UserError when nothing is done, or no combination has that
// name.
[[nodiscard]] Findings findings_in(const std::filesystem::path& folder, const std::string& against);

// The only one of the first rank, if it gets there.
[[nodiscard]] std::optional<std::size_t> winner_of(const Case& one);
// "BSP wins, then ASP", or who cannot be told apart.
[[nodiscard]] std::string verdict(const Findings& found, const Case& one);
// The choice that wins every case; nothing when there is none.
[[nodiscard]] std::optional<std::string> winner_everywhere(const Findings& found);
// "3 of 60 runs are not done"; empty when all are.
[[nodiscard]] std::string missing_text(const RunCounts& counts);

// Tables with a head, of at most so many combinations: rank, time, accuracy, work; and everything paired with
// the reference of the case.
[[nodiscard]] TextRows ranking_rows(const Findings& found, const Case& one, std::size_t lines);
[[nodiscard]] TextRows paired_rows(const Findings& found, const Case& one, std::size_t lines);
// Difference, speed-up and P(faster), each with its interval, and how many pairs.
[[nodiscard]] std::vector<std::string> pair_cells(const std::optional<PairedComparison>& paired);
[[nodiscard]] TextRows sensitivity_rows(const std::vector<Sensitivity>& all);
// What the columns of these tables mean.
inline constexpr const char* ranking_note =
    "Medians over the seeds. P: that a further run is faster than that of the first of its rank, or, for "
    "this\n"
    "first, of the rank above (Jeffreys). `=`: its 90 % interval reaches 0.5, so these runs do not tell "
    "them\n"
    "apart. `*`: without a target, no other is both faster and as accurate. Runs paired by seed; differences "
    "and speed-ups "
    "only\n"
    "where every run of both reached the target, from five pairs on. Batch growth: mean total batch over "
    "that\n"
    "at the start.\n";
inline constexpr const char* sensitivity_note =
    "Alone: as the first combination, but for this. Total effect: share of the variance of ln(time) left\n"
    "when all else is known.\n";

}  // namespace paceline
