// One line of a CSV file as text, and its numbers: for logs written by others. No quoting.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace paceline::calibrate {

[[nodiscard]] std::vector<std::string> cells_of(const std::string& line);
// Where a column stands; throws UserError that lists the columns there are, and ends with `hint`.
[[nodiscard]] std::size_t column_of(const std::vector<std::string>& names, const std::string& wanted,
                                    const std::filesystem::path& path, const std::string& hint);
// Throws UserError naming file and line when the cell is no finite number.
[[nodiscard]] double number_of(const std::string& cell, const std::filesystem::path& path, std::size_t line);

}  // namespace paceline::calibrate
