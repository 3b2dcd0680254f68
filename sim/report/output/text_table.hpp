// Tables for the terminal: names to the left, numbers to the right.
#pragma once

#include <string>
#include <vector>

namespace paceline {

using TextRows = std::vector<std::vector<std::string>>;

// The first row is the head. Names (the first column) may hold anything: what would disturb a terminal is shown as `?`.
[[nodiscard]] std::string text_table(TextRows rows);
[[nodiscard]] std::string printable(std::string text);

// A probability that is never 0 or 1, and must not look like it: "<0.01", "0.50", ">0.99".
[[nodiscard]] std::string inner_probability(double p);

}  // namespace paceline
