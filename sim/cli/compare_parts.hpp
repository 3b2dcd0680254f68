// What `compare` found, for the terminal and for machines. Private to sim/commands.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sim/report/statistics/sensitivity.hpp"
#include "sim/study/store/run_store.hpp"

namespace paceline {

// A study as far as it has been run.
struct StudySoFar {
  PlannedStudy study;
  RunCounts counts;
  ComparedTable table;
  std::vector<std::size_t> point_of;  // by combination of the table
};

struct StudyFindings {
  std::vector<Ranked> ranked;
  std::size_t reference = 0;  // of the table: what all others are paired with
  std::vector<Sensitivity> effects;
  std::vector<WinnerChange> winners;
  std::vector<std::string> warnings;
};

[[nodiscard]] std::string comparison_json(const StudySoFar& so_far, const StudyFindings& found);

}  // namespace paceline
