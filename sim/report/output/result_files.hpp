// Every file that paceline writes for the runs of a scenario: what it holds, its columns, and how it is
// written.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/report/output/column.hpp"
#include "sim/report/output/results_folder.hpp"

namespace paceline {

struct ResultFile {
  std::string name;
  std::string content;
  std::vector<ColumnText> columns = {};  // empty: no table
  // Of a table: its text, empty where it was not asked for.
  std::function<std::string(const ScenarioResults&)> text = {};
};

// Every file of the results folder of a scenario.
[[nodiscard]] const std::vector<ResultFile>& result_files();

// Whether paceline writes files of this name into a results folder or a study's folder.
[[nodiscard]] bool is_result_file(std::string_view name);

}  // namespace paceline
