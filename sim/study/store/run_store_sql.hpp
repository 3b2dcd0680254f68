// Pieces of SQL that the files of the store share. Private to sim/study.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/study/store/run_store.hpp"

namespace paceline {

// The metrics' columns, separated by commas; each after `table`, such as "runs.".
[[nodiscard]] inline std::string metric_list(std::string_view table = "") {
  std::vector<std::string> names;
  for (const std::string& name : run_metric_names())
    names.push_back(fmt::format("{}{}", table, sqlite::quoted_name(name)));
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace paceline
