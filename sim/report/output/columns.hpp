// Every column of every CSV file of a results folder: the one place that says what there is and what it means.
//
// The files' headers are written from it, and README.md of this folder repeats it (a test compares all three).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace paceline {

struct Column {
  std::string file;
  std::string name;
  std::string unit;  // "s", "samples", ...; "-" for counts from 0, names and pure numbers
  std::string meaning;
};

[[nodiscard]] const std::vector<Column>& result_columns();
// The header of one of the files.
[[nodiscard]] std::vector<std::string> columns_of(std::string_view file);

// Every file of the results folder of a run, and comparison.csv of a study's folder.
[[nodiscard]] const std::vector<std::string>& result_files();

// Whether paceline writes files of this name into a results folder or a study's folder.
[[nodiscard]] bool is_result_file(std::string_view name);

}  // namespace paceline
