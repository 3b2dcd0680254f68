// The comparison for a column of a paper: a row for each choice below the case it competes in, and only the
// columns that are asked for.
//
// Equation:    those of comparison.hpp.
// Units:       times in one unit, named in the head: that of the longest.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/report/output/paper_table.hpp"
#include "sim/report/statistics/comparison.hpp"

namespace paceline {

struct PaperColumn {
  std::string_view word;  // of --columns
  std::string_view meaning;
};
[[nodiscard]] std::vector<PaperColumn> paper_columns();
// What fits the column of a two-column paper.
[[nodiscard]] std::vector<std::string> usual_paper_columns(const std::vector<ComparedVariant>& compared);

// `columns`: words of paper_columns().
[[nodiscard]] PaperTable paper_table(const std::vector<ComparedVariant>& compared,
                                     const std::vector<std::string>& columns);

}  // namespace paceline
