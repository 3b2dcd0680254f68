// Tables for the terminal: names to the left, numbers to the right; and how times and numbers stand in them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "sim/base/quantity.hpp"

namespace paceline {

using TextRows = std::vector<std::vector<std::string>>;

// The first row is the head. Names (the first column) may hold anything: what would disturb a terminal is
// shown as `?`.
[[nodiscard]] std::string text_table(TextRows rows);
[[nodiscard]] std::string printable(std::string text);

// A probability that is never 0 or 1, and must not look like it: "<0.01", "0.50", ">0.99".
[[nodiscard]] std::string inner_probability(double p);

// "7.32", "12.5", "1250": three significant digits, or all before the point.
[[nodiscard]] std::string three_digits(double number);
// "7.32 s", "12.5 min", "3.08 h": three significant digits.
[[nodiscard]] std::string format_time(Seconds time);
[[nodiscard]] std::string format_difference(double seconds);  // with its sign
[[nodiscard]] std::string time_or_never(const std::optional<Seconds>& time);

// A number, or "-" where there is none.
[[nodiscard]] inline std::string or_dash(fmt::format_string<const double&> format,
                                         const std::optional<double>& number) {
  return number ? fmt::format(format, *number) : "-";
}

// Marks learners without recorded runs behind them: by row where only some are, and with a line below the
// table.
class AssumedLearners {
 public:
  // Every row is counted before the first name is asked for.
  void count(bool is_assumed) {
    ++rows_;
    if (is_assumed) ++assumed_;
  }

  // The name of a row.
  [[nodiscard]] std::string marked(const std::string& name, bool is_assumed) const;
  // The line below a table; empty when no row has an assumed learner.
  [[nodiscard]] std::string note() const;

 private:
  std::size_t rows_ = 0;
  std::size_t assumed_ = 0;
};

}  // namespace paceline
