// Tidy CSV: one header row, numbers in their shortest exact form, text quoted where it must be.
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <fmt/format.h>

#include "sim/base/check.hpp"
#include "sim/base/quantity.hpp"

namespace paceline {

class CsvTable {
 public:
  explicit CsvTable(const std::vector<std::string>& columns) : columns_(columns.size()) {
    for (const std::string& column : columns) cell(column);
    end_row();
  }

  template <class Number>
  requires std::is_arithmetic_v<Number> CsvTable& add(Number value) { return cell(fmt::format("{}", value)); }
  CsvTable& add(Seconds time) { return add(time.value()); }
  // Empty when absent, or when a loss is no longer a number.
  CsvTable& add(const std::optional<double>& value) {
    return value && std::isfinite(*value) ? add(*value) : cell("");
  }
  CsvTable& add(const std::optional<Seconds>& time) { return time ? add(*time) : cell(""); }
  CsvTable& add(std::string_view text) { return cell(quoted(text)); }

  void end_row() {
    check(cells_in_row_ == columns_, "a CSV row has as many cells as the table has columns");
    text_ += '\n';
    cells_in_row_ = 0;
  }

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  CsvTable& cell(std::string_view content) {
    if (cells_in_row_++ > 0) text_ += ',';
    text_ += content;
    return *this;
  }

  static std::string quoted(std::string_view text) {
    if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
    std::string result = "\"";
    for (const char c : text) {
      if (c == '"') result += '"';
      result += c;
    }
    return result + '"';
  }

  std::string text_;
  std::size_t columns_;
  std::size_t cells_in_row_ = 0;
};

}  // namespace paceline
