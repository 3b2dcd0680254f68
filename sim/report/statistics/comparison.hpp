// Several ways to run one job, side by side: for the terminal and as CSV.
//
// Equation:    speed-up: that of paired.hpp, inside its interval; where some run never reached, median time
//              of the first / median time of this one, absent when either is. The
//              times are those to the target accuracy when both have the same one; to the end of the work
//              when neither has one and their workloads are equal: a job that diverged or stalled never does
//              it. Other variants are not compared, nor those that meet other conditions (cluster, network,
//              task): the first is the first under the same ones. Cost: that median time · the price of all
//              workers, of a worker that is away too. Probability, interval and correlation: paired.hpp.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/report/output/column.hpp"
#include "sim/report/output/results_folder.hpp"
#include "sim/report/output/text_table.hpp"
#include "sim/report/output/validity_table.hpp"
#include "sim/report/statistics/expectations.hpp"
#include "sim/report/statistics/paired.hpp"
#include "sim/report/statistics/remarks.hpp"
#include "sim/report/statistics/run_summary.hpp"
#include "sim/report/statistics/time_to_accuracy.hpp"

namespace paceline {

struct ComparedRuns : Comparable {
  std::vector<RunSummary> runs;  // not empty
  std::string conditions = {};   // it is compared with what meets the same ones; empty: there are none
  std::optional<Bottleneck> bottleneck = {};
  std::vector<ExpectationOutcome> expectations = {};
  bool is_live = false;     // carried out for real
  std::string choice = {};  // its name without the conditions; empty: there are none
};

struct ComparedVariant : ComparedRuns {
  Outcomes outcomes;
  TimeToAccuracy summary;  // with the horizon common to all that are compared
  EndTimes end_times;
  std::optional<Seconds> median;  // of the times compared; absent: never
  std::optional<double> speedup;
  std::optional<PairedComparison> against_first;  // absent for the first, and where nothing can be compared
  double mean_samples_per_s = 0.0;  // over the replications: throughput of the simulated cluster
};

// Of the times compared; nothing where half of the runs or more never get there.
[[nodiscard]] std::optional<Seconds> median_time(const ComparedRuns& runs);
// What the workers cost until then; nothing where they have no price.
[[nodiscard]] std::optional<double> cost_of(const Comparable& runs, const std::optional<Seconds>& time);
// That time, or in its place how most runs ended: "8.56 h", "diverges", "never".
[[nodiscard]] std::string time_or_outcome(const ComparedRuns& runs, const std::optional<Seconds>& time);
[[nodiscard]] std::vector<ComparedVariant> compare(std::vector<ComparedRuns> variants);
[[nodiscard]] std::vector<ComparedRuns> compared_runs(const std::vector<ScenarioResults>& variants);
// The second against the first, over the replications that both have with the same seed; nothing when their
// targets or workloads differ, or no pair is there.
[[nodiscard]] std::optional<PairedComparison> compare_pairs(const ComparedRuns& first,
                                                            const ComparedRuns& second);
// Run by run: what it showed, beside what profiles and learners hold for.
void add_validity(const ComparedRuns& runs, ValidityTable& table);
// "P [low, high]" of being faster.
[[nodiscard]] std::string faster_text(const PairedComparison& paired);
[[nodiscard]] const Columns<ComparedVariant>& comparison_columns();
[[nodiscard]] std::string comparison_csv(const std::vector<ComparedVariant>& compared);
// The tables a person reads, each with a head, and the sentences below them.
struct ComparisonText {
  std::vector<TextRows> tables;
  std::vector<std::string> sentences;
};
[[nodiscard]] ComparisonText comparison_text(const std::vector<ComparedVariant>& compared,
                                             bool has_pairs = true);
// The same for the terminal, with a line that says what its intervals are.
[[nodiscard]] std::string comparison_table(const std::vector<ComparedVariant>& compared);
// One object for each variant, with the columns of the CSV file, its bottleneck and its expectations.
[[nodiscard]] std::string comparison_json(const std::vector<ComparedVariant>& compared);

}  // namespace paceline
