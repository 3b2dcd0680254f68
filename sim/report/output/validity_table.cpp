#include "sim/report/output/validity_table.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/report/output/text_table.hpp"

namespace paceline {
namespace {

std::string range_text(const ValueRange& range) {
  return range.least == range.most ? fmt::format("{:.4g}", range.least)
                                   : fmt::format("{:.4g} - {:.4g}", range.least, range.most);
}

nlohmann::ordered_json row_json(const ValidityRow& row) {
  return {{"quantity", row.quantity},
          {"file", row.file},
          {"fitted", {row.fitted.least, row.fitted.most}},
          {"used", {row.used.least, row.used.most}},
          {"validity", to_string(row.validity())}};
}

}  // namespace

void ValidityTable::add(const std::vector<ValidityRow>& rows, std::size_t runs) {
  runs_ += runs;
  for (const ValidityRow& row : rows) {
    auto line = std::ranges::find_if(lines_, [&](const Line& known) {
      return known.quantity == row.quantity && known.file == row.file && known.fitted == row.fitted;
    });
    if (line == lines_.end()) line = lines_.insert(lines_.end(), Line{row, 0});
    line->used = {std::min(line->used.least, row.used.least), std::max(line->used.most, row.used.most)};
    if (row.validity() != Validity::inside) line->not_inside += runs;
  }
}

TextRows ValidityTable::rows() const {
  if (lines_.empty()) return {};
  TextRows rows{{"validity", "of", "holds for", "used", "", "runs not inside"}};
  for (const Line& line : lines_)
    rows.push_back({line.quantity, printable(std::filesystem::path(line.file).filename().string()),
                    range_text(line.fitted), range_text(line.used), std::string(to_string(line.validity())),
                    fmt::format("{} of {}", line.not_inside, runs_)});
  return rows;
}

std::string ValidityTable::text() const {
  return lines_.empty() ? std::string{} : text_table(rows());
}

nlohmann::ordered_json ValidityTable::json() const {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const Line& line : lines_) {
    all.push_back(row_json(line));
    all.back()["runs"] = runs_;
    all.back()["runs_not_inside"] = line.not_inside;
  }
  return all;
}

nlohmann::ordered_json validity_json(const std::vector<ValidityRow>& rows) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const ValidityRow& row : rows) all.push_back(row_json(row));
  return all;
}

}  // namespace paceline
