// The rows of a CSV file as text, with their lines, found by column names.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paceline {

struct CsvRow {
  int line = 0;  // from 1
  std::vector<std::string> cells;
};

class CsvRows {
 public:
  // Throws UserError when the file cannot be read or is empty. Empty lines are skipped.
  explicit CsvRows(const std::filesystem::path& file);

  [[nodiscard]] const std::vector<std::string>& header() const { return header_; }
  [[nodiscard]] const std::vector<CsvRow>& rows() const { return rows_; }
  // Throws UserError that lists the columns there are.
  [[nodiscard]] std::size_t column(const std::string& name) const;
  // The cell; throws UserError with file and line when the row is too short.
  [[nodiscard]] const std::string& cell(const CsvRow& row, std::size_t column) const;
  // The cell as a finite number; throws UserError with file and line when it is none.
  [[nodiscard]] double number(const CsvRow& row, std::size_t column) const;

 private:
  std::filesystem::path file_;
  std::vector<std::string> header_;
  std::vector<CsvRow> rows_;
};

// The whole text as a number, `nan` and `inf` included; nothing when it is none.
[[nodiscard]] std::optional<double> to_number(std::string_view text);

}  // namespace paceline
