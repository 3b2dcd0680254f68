#include "sim/report/output/paper_table.hpp"

#include "sim/base/csv.hpp"
#include "sim/base/markup.hpp"

namespace paceline {
namespace {

template <class Write>
std::string joined(const std::vector<std::string>& cells, std::string_view between, Write write) {
  std::string line;
  for (const std::string& cell : cells) line += fmt::format("{}{}", line.empty() ? "" : between, write(cell));
  return line;
}

}  // namespace

std::string latex_table(const TextRows& rows) {
  std::string text = fmt::format("\\begin{{tabular}}{{@{{}}l{}@{{}}}}\n\\toprule\n",
                                 std::string(rows.front().size() - 1, 'r'));
  for (const auto& row : rows) {
    // An empty head would be no cell to join to.
    text += joined(row, " & ", [](const std::string& cell) { return cell.empty() ? "~" : tex_text(cell); });
    text += " \\\\\n";
    if (&row == &rows.front()) text += "\\midrule\n";
  }
  return text + "\\bottomrule\n\\end{tabular}\n";
}

std::string markdown_table(const TextRows& rows) {
  std::string text;
  for (const auto& row : rows) {
    text += fmt::format("| {} |\n", joined(row, " | ", [](const std::string& cell) {
                          return cell.empty() ? std::string(" ") : markdown_text(cell);
                        }));
    if (&row != &rows.front()) continue;
    text += "|---|";
    for (std::size_t c = 1; c < row.size(); ++c) text += "---:|";
    text += '\n';
  }
  return text;
}

std::string csv_table(const TextRows& rows) {
  CsvTable csv(rows.front());
  for (std::size_t r = 1; r < rows.size(); ++r) {
    for (const std::string& cell : rows[r]) csv.add(cell);
    csv.end_row();
  }
  return csv.text();
}

}  // namespace paceline
