// Tables for papers and pages: the cells of the terminal's table in another notation. Whatever names hold
// comes out as text.
#pragma once

#include "sim/report/output/text_table.hpp"

namespace paceline {

// Rows below a title each: the case they are of. A single group may have none.
struct PaperGroup {
  std::string title;
  TextRows rows;  // without a head
};
struct PaperTable {
  std::vector<std::string> head;
  std::vector<PaperGroup> groups;
};
// A tabular in small type, close set, with the rules of booktabs and the title of each group above its rows;
// in Markdown the title in bold above a table of its own, in CSV in a first column.
[[nodiscard]] std::string latex_table(const PaperTable& table);
[[nodiscard]] std::string markdown_table(const PaperTable& table);
[[nodiscard]] std::string csv_table(const PaperTable& table);

// A tabular with the rules of the package booktabs.
[[nodiscard]] std::string latex_table(const TextRows& rows);
[[nodiscard]] std::string markdown_table(const TextRows& rows);
[[nodiscard]] std::string csv_table(const TextRows& rows);

}  // namespace paceline
