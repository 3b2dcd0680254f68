// A CSV file with a header, read strictly.
//
// Models:      RFC 4180: commas, optional double quotes, one record a line; the first record names columns.
// Units:       whatever the column's name says.
// Assumptions: small enough to be held in memory.
// Not modelled: other separators, comments, decimal commas.
// Source:      RFC 4180.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paceline::plots {

class CsvTable {
 public:
  // Throws UserError naming the file (and line) when it is missing, lacks one of `columns`, or is ragged.
  // Further columns are ignored.
  CsvTable(const std::filesystem::path& path, const std::vector<std::string>& columns);

  [[nodiscard]] std::size_t size() const { return rows_.size(); }
  // Whether the file has a column that it need not have.
  [[nodiscard]] bool has(std::string_view column) const;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  // A finite number; throws UserError naming file, line and column otherwise.
  [[nodiscard]] double number(std::size_t row, std::string_view column) const;
  [[nodiscard]] const std::string& text(std::size_t row, std::string_view column) const {
    return cell(row, column);
  }
  // A whole number of at least 0.
  [[nodiscard]] std::uint64_t count(std::size_t row, std::string_view column) const;

 private:
  struct Row {
    std::size_t line;
    std::vector<std::string> cells;
  };

  [[nodiscard]] const std::string& cell(std::size_t row, std::string_view column) const;
  [[noreturn]] void fail(std::size_t line, const std::string& what) const;
  [[nodiscard]] std::vector<Row> records(std::string_view content) const;

  std::filesystem::path path_;
  std::vector<std::string> columns_;
  std::vector<Row> rows_;
};

// Of a table of runs: whether this one diverged or stalled, so that its end is not that of its work. Older files do not
// say.
[[nodiscard]] bool is_cut_short(const CsvTable& runs, std::size_t row);

}  // namespace paceline::plots
