// A search over what a study varies: which runs a setting needs, and what they gave.
//
// Models:      exhaustive search and successive halving choose among the combinations of the study; golden
//              section moves along one range, once for each combination of everything else. Runs are kept in
//              the study's store, so that a search that was interrupted, or asks again, pays for nothing
//              twice.
// Assumptions: those of sim/study/search/methods.hpp.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/study/search/methods.hpp"
#include "sim/study/study_runs.hpp"

namespace paceline {

struct TriedSetting {
  std::string name;
  std::optional<search::Score> score;   // absent: infeasible
  std::optional<double> mean_accuracy;  // absent: some run has none
  std::size_t runs = 0;
  bool has_assumed_learner = false;
  bool is_alike = false;  // these runs do not tell it apart from the best
};

struct SearchReport {
  std::string of;                   // everything else, where there is a choice; empty: all is searched
  std::vector<TriedSetting> tried;  // the best first
  std::optional<std::string> best;  // absent: no feasible setting
  search::SearchCost cost;
};

// One report, or one for each combination of everything that the search leaves alone. The study has a
// `search`. Throws SimulationFailed when a run could not be carried out.
[[nodiscard]] std::vector<SearchReport> search_study(PreparedStudy& study, int jobs, RunStore& store);

}  // namespace paceline
