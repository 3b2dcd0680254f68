// CSV files with a header. Read: cells by the names of their columns, complaints with file, line and, where
// they are about one cell, the place in the line. Written: numbers in their shortest exact form, text quoted
// where it must be.
//
// RFC 4180: commas, optional double quotes, one record a line; empty lines are skipped. The file is held in
// memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <fmt/format.h>

#include "sim/base/quantity.hpp"

namespace paceline {

struct CsvRules {
  std::string hint = {};         // ends every complaint
  bool is_hand_written = false;  // text after # is a comment, and blanks around cells do not count
  bool keeps_ragged_rows =
      false;  // rows with more or fewer cells than columns: the caller looks at is_whole()
};

struct CsvHeader {
  std::filesystem::path file;
  int line = 1;
  std::vector<std::string> columns;
  CsvRules rules;

  // Throws UserError that lists the columns there are.
  [[nodiscard]] std::size_t index_of(std::string_view column) const;
};

struct CsvCell {
  std::string text;
  int line = 1;  // of its first character, and where in this line: bytes from 1
  int column = 1;
};

class CsvRow {
 public:
  CsvRow(std::shared_ptr<const CsvHeader> header, int line, std::vector<CsvCell> cells);

  [[nodiscard]] int line() const { return line_; }
  [[nodiscard]] std::size_t size() const { return cells_.size(); }
  [[nodiscard]] bool is_whole() const { return cells_.size() == header_->columns.size(); }

  // Each throws UserError naming the place where the cell is missing or something else.
  [[nodiscard]] const CsvCell& cell(std::string_view column) const;
  [[nodiscard]] const std::string& text(std::string_view column) const { return cell(column).text; }
  [[nodiscard]] double number(std::string_view column) const;        // finite
  [[nodiscard]] double positive(std::string_view column) const;      // a number above 0
  [[nodiscard]] double share(std::string_view column) const;         // a number from 0 to 1
  [[nodiscard]] std::uint64_t count(std::string_view column) const;  // a whole number of at least 0
  // Nothing: an empty cell.
  [[nodiscard]] std::optional<double> number_if_given(std::string_view column) const;
  [[nodiscard]] std::optional<double> positive_if_given(std::string_view column) const;
  // A complaint about this row, or about its cell in this column.
  [[noreturn]] void fail(std::string_view message, std::string_view hint = "") const;
  [[noreturn]] void fail_at(std::string_view column, std::string_view message,
                            std::string_view hint = "") const;

 private:
  std::shared_ptr<const CsvHeader> header_;
  int line_;
  std::vector<CsvCell> cells_;
};

class CsvFile {
 public:
  // Throws UserError naming the file (and line) when it cannot be read, has no header, lacks one of `needed`
  // or is ragged.
  explicit CsvFile(const std::filesystem::path& file, const std::vector<std::string>& needed = {},
                   CsvRules rules = {});

  [[nodiscard]] const std::filesystem::path& path() const { return header_->file; }
  [[nodiscard]] const std::vector<std::string>& columns() const { return header_->columns; }
  [[nodiscard]] bool has(std::string_view column) const;
  [[nodiscard]] const std::vector<CsvRow>& rows() const { return rows_; }
  // A complaint about the header.
  [[noreturn]] void fail(std::string_view message, std::string_view hint = "") const;

 private:
  std::shared_ptr<const CsvHeader> header_;
  std::vector<CsvRow> rows_;
};

// A file as it is written, cell by cell.
class CsvTable {
 public:
  explicit CsvTable(const std::vector<std::string>& columns);

  template <class Number>
  requires std::is_arithmetic_v<Number> CsvTable& add(Number value) { return cell(fmt::format("{}", value)); }
  CsvTable& add(Seconds time) { return add(time.value()); }
  // Empty when absent, or when a loss is no longer a number.
  CsvTable& add(const std::optional<double>& value);
  CsvTable& add(const std::optional<Seconds>& time) { return time ? add(*time) : cell(""); }
  CsvTable& add(std::string_view text);

  void end_row();
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  CsvTable& cell(std::string_view content);

  std::string text_;
  std::size_t columns_;
  std::size_t cells_in_row_ = 0;
};

}  // namespace paceline
