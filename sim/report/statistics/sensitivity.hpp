// How much what is varied matters to the time, and where the winner changes along it.
//
// Models:      a table: every combination has a label in each column and a time.
// Equation:    Y = ln of the restricted mean time (time_to_accuracy.hpp), so that factors add.
//              one at a time: exp(max Y - min Y) over the combinations that differ from the reference (the
//                first one) in that column only.
//              total effect: S_T = E[Var(Y | all other columns)] / Var(Y), the variances over the
//                combinations, each as likely as any other: what is left unexplained when everything else is
//                known. 0: it does not matter; the sum over the columns exceeds 1 where they act together.
//              winner: within one setting of all other columns, the label with the lowest median time, and
//                whether its runs tell it apart from the second (ranking.hpp).
// Units:       pure numbers.
// Assumptions: the listed values stand for what may be met, each equally likely. Noise of the runs counts as
//              effect: with few replications every column seems to matter a little.
// Not modelled: values between those listed; intervals of the effects.
// Source:      Homma and Saltelli 1996 (total effect), as usually given; exact over a full table.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/report/statistics/ranking.hpp"

namespace paceline {

struct ComparedTable {
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> labels;  // by combination, then column
  std::vector<ComparedRuns> runs;                // by combination
};

struct Sensitivity {
  std::string column;
  std::optional<double> alone;  // slowest over fastest; absent: nothing differs from the reference in it only
  std::optional<double> total_effect;  // absent: nothing differs in this column alone, or all times are equal
};

[[nodiscard]] std::vector<Sensitivity> sensitivities(const ComparedTable& table);

struct Winner {
  std::string at;      // label along the column
  std::string winner;  // label of the competing column
  std::optional<std::string> second;
  std::optional<PairedComparison> over_second;  // of the winner against the second
};

// Who wins along a column while all other columns stay as they are.
struct WinnerChange {
  std::string along;
  std::string between;             // the column whose labels compete
  std::vector<std::string> fixed;  // "network 10 Gbit/s", of the other columns
  std::vector<Winner> winners;     // by label of `along`, in the order of the study
  [[nodiscard]] bool changes() const;
};

// For each other column and setting of the rest; labels of `between` compete.
[[nodiscard]] std::vector<WinnerChange> winners_along(const ComparedTable& table, const std::string& between);

}  // namespace paceline
