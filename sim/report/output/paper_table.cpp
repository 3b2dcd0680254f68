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

// An empty head would be no cell to join to.
std::string tex_cell(const std::string& cell) {
  return cell.empty() ? "~" : tex_text(cell);
}

std::string tex_row(const std::vector<std::string>& row) {
  return joined(row, " & ", tex_cell) + " \\\\\n";
}

}  // namespace

std::string latex_table(const PaperTable& table) {
  const std::size_t columns = table.head.size();
  std::string text = fmt::format(
      "{{\\footnotesize\\setlength{{\\tabcolsep}}{{3pt}}%\n\\begin{{tabular}}{{@{{}}l{}@{{}}}}\n\\toprule\n",
      std::string(columns - 1, 'r'));
  text += tex_row(table.head);
  for (const PaperGroup& group : table.groups) {
    text += "\\midrule\n";
    if (!group.title.empty())
      text += fmt::format("\\multicolumn{{{}}}{{@{{}}l@{{}}}}{{\\emph{{{}}}}} \\\\\n", columns,
                          tex_text(group.title));
    for (const auto& row : group.rows) text += tex_row(row);
  }
  return text + "\\bottomrule\n\\end{tabular}}\n";
}

std::string markdown_table(const PaperTable& table) {
  TextRows rows{table.head};
  std::string text;
  for (const PaperGroup& group : table.groups) {
    rows.resize(1);
    rows.insert(rows.end(), group.rows.begin(), group.rows.end());
    if (!group.title.empty())
      text += fmt::format("{}**{}**\n\n", text.empty() ? "" : "\n", markdown_text(group.title));
    text += markdown_table(rows);
  }
  return text;
}

std::string csv_table(const PaperTable& table) {
  TextRows rows;
  const auto add = [&](const std::string& title, const std::vector<std::string>& row) {
    rows.emplace_back();
    rows.back().push_back(title);
    rows.back().insert(rows.back().end(), row.begin(), row.end());
  };
  add("case", table.head);
  for (const PaperGroup& group : table.groups)
    for (const auto& row : group.rows) add(group.title, row);
  return csv_table(rows);
}

std::string latex_table(const TextRows& rows) {
  std::string text = fmt::format("\\begin{{tabular}}{{@{{}}l{}@{{}}}}\n\\toprule\n",
                                 std::string(rows.front().size() - 1, 'r'));
  for (const auto& row : rows) {
    text += tex_row(row);
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
