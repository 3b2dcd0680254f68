#include "sim/base/csv.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/atomic_file.hpp"
#include "sim/base/check.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/base/number_text.hpp"

namespace paceline {
namespace {

// Spreadsheets write it before UTF-8.
constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

struct Record {
  int line = 1;
  std::vector<CsvCell> cells{};

  [[nodiscard]] bool is_empty() const { return cells.size() == 1 && cells.front().text.empty(); }
};

[[noreturn]] void complain(const std::filesystem::path& file, int line, std::string_view message,
                           std::string_view hint) {
  throw UserError(fmt::format("{}:{}: {}", file.string(), line, message), hint);
}

std::string joined_hints(std::string_view first, std::string_view second) {
  return fmt::format("{}{}{}", first, first.empty() || second.empty() ? "" : "; ", second);
}

// Reads one record and leaves `at` behind its line break.
class RecordReader {
 public:
  RecordReader(std::string_view content, const CsvHeader& header) : content_(content), header_(header) {}

  // Nothing at the end of the file.
  std::optional<Record> next() {
    while (at_ < content_.size()) {
      Record record = read();
      if (header_.rules.is_hand_written)
        for (CsvCell& cell : record.cells) trim(cell);
      if (!record.is_empty()) return record;
    }
    return std::nullopt;
  }

 private:
  Record read() {
    Record record{.line = line_};
    begin_cell(record, at_);
    bool quoted = false;
    bool comment = false;
    for (; at_ < content_.size(); ++at_) {
      const char c = content_[at_];
      if (c == '\n') {
        ++line_;
        line_begin_ = at_ + 1;
        if (!quoted) break;
      }
      comment = comment || (header_.rules.is_hand_written && !quoted && c == '#');
      if (comment) continue;
      if (quoted && content_.substr(at_, 2) == "\"\"") {
        record.cells.back().text += '"';
        ++at_;
      } else if (c == '"') {
        quoted = !quoted;
      } else if (!quoted && c == ',') {
        begin_cell(record, at_ + 1);
      } else if (quoted || c != '\r') {
        record.cells.back().text += c;
      }
    }
    if (quoted) complain(header_.file, record.line, "a quoted cell does not end", header_.rules.hint);
    ++at_;
    return record;
  }

  void begin_cell(Record& record, std::size_t at) const {
    record.cells.push_back({{}, line_, static_cast<int>(at - line_begin_) + 1});
  }

  static void trim(CsvCell& cell) {
    const std::string_view kept = trimmed(cell.text);
    if (!kept.empty()) cell.column += static_cast<int>(kept.data() - cell.text.data());
    cell.text = std::string(kept);
  }

  std::string_view content_;
  const CsvHeader& header_;
  std::size_t at_ = 0;
  std::size_t line_begin_ = 0;
  int line_ = 1;
};

}  // namespace

std::size_t CsvHeader::index_of(std::string_view column) const {
  const auto found = std::ranges::find(columns, column);
  if (found == columns.end())
    complain(file, line, fmt::format("there is no column `{}`", column),
             joined_hints(fmt::format("the columns are {}", fmt::join(columns, ", ")), rules.hint));
  return static_cast<std::size_t>(found - columns.begin());
}

CsvRow::CsvRow(std::shared_ptr<const CsvHeader> header, int line, std::vector<CsvCell> cells)
    : header_(std::move(header)), line_(line), cells_(std::move(cells)) {}

const CsvCell& CsvRow::cell(std::string_view column) const {
  const std::size_t index = header_->index_of(column);
  if (index >= cells_.size())
    fail(fmt::format("{} cells, but {} columns", cells_.size(), header_->columns.size()),
         "was the file cut off?");
  return cells_[index];
}

double CsvRow::number(std::string_view column) const {
  const std::string& written = text(column);
  const std::optional<double> value = to_number(written);
  if (!value || !std::isfinite(*value))
    fail_at(column, fmt::format("`{}` in column `{}` is not a finite number", written, column));
  return *value;
}

double CsvRow::positive(std::string_view column) const {
  const double value = number(column);
  if (value <= 0.0) fail_at(column, fmt::format("`{}` must be above 0, is {:g}", column, value));
  return value;
}

double CsvRow::share(std::string_view column) const {
  const double value = number(column);
  if (value < 0.0 || value > 1.0)
    fail_at(column, fmt::format("`{}` must be from 0 to 1, is {:g}", column, value));
  return value;
}

std::uint64_t CsvRow::count(std::string_view column) const {
  const std::string& written = text(column);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(written.data(), written.data() + written.size(), value);
  if (error != std::errc{} || end != written.data() + written.size())
    fail_at(column, fmt::format("`{}` in column `{}` is not a whole number", written, column));
  return value;
}

std::optional<double> CsvRow::number_if_given(std::string_view column) const {
  return text(column).empty() ? std::nullopt : std::optional(number(column));
}

std::optional<double> CsvRow::positive_if_given(std::string_view column) const {
  return text(column).empty() ? std::nullopt : std::optional(positive(column));
}

void CsvRow::fail(std::string_view message, std::string_view hint) const {
  complain(header_->file, line_, message, joined_hints(hint, header_->rules.hint));
}

void CsvRow::fail_at(std::string_view column, std::string_view message, std::string_view hint) const {
  const CsvCell& at = cell(column);
  throw UserError(fmt::format("{}:{}:{}: {}", header_->file.string(), at.line, at.column, message),
                  joined_hints(hint, header_->rules.hint));
}

CsvFile::CsvFile(const std::filesystem::path& file, const std::vector<std::string>& needed, CsvRules rules) {
  const auto header = std::make_shared<CsvHeader>(CsvHeader{file, 1, {}, std::move(rules)});
  header_ = header;
  const std::string content = read_file(file);
  std::string_view text = content;
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  RecordReader reader(text, *header);
  std::optional<Record> record = reader.next();
  if (!record) fail("the file is empty", "its first row names the columns");
  header->line = record->line;
  for (CsvCell& cell : record->cells) header->columns.push_back(std::move(cell.text));
  for (const std::string& column : needed) {
    static_cast<void>(header->index_of(column));
    if (std::ranges::count(header->columns, column) > 1)
      fail(fmt::format("the column `{}` is there more than once", column));
  }
  while ((record = reader.next())) {
    rows_.emplace_back(header_, record->line, std::move(record->cells));
    if (!rows_.back().is_whole() && !header->rules.keeps_ragged_rows)
      rows_.back().fail(fmt::format("{} cells, but {} columns", rows_.back().size(), header->columns.size()),
                        "was the file cut off?");
  }
}

bool CsvFile::has(std::string_view column) const {
  return std::ranges::find(header_->columns, column) != header_->columns.end();
}

void CsvFile::fail(std::string_view message, std::string_view hint) const {
  complain(header_->file, header_->line, message, joined_hints(hint, header_->rules.hint));
}

CsvTable::CsvTable(const std::vector<std::string>& columns) : columns_(columns.size()) {
  for (const std::string& column : columns) cell(column);
  end_row();
}

CsvTable& CsvTable::add(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? add(*value) : cell("");
}

CsvTable& CsvTable::add(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return cell(text);
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return cell(quoted + '"');
}

void CsvTable::end_row() {
  check(cells_in_row_ == columns_, "a CSV row has as many cells as the table has columns");
  text_ += '\n';
  cells_in_row_ = 0;
}

CsvTable& CsvTable::cell(std::string_view content) {
  if (cells_in_row_++ > 0) text_ += ',';
  text_ += content;
  return *this;
}

}  // namespace paceline
