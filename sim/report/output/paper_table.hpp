// Tables for papers and pages: the cells of the terminal's table in another notation. Whatever names hold
// comes out as text.
#pragma once

#include "sim/report/output/text_table.hpp"

namespace paceline {

// A tabular with the rules of the package booktabs.
[[nodiscard]] std::string latex_table(const TextRows& rows);
[[nodiscard]] std::string markdown_table(const TextRows& rows);
[[nodiscard]] std::string csv_table(const TextRows& rows);

}  // namespace paceline
