#include "sim/study/search/setting.hpp"

#include <utility>

#include "sim/base/check.hpp"

namespace paceline::search {

const Outcome& Trials::of(double setting, int replications) {
  check(replications > 0, "a setting is tried at least once");
  const auto [entry, is_new] = index_of_.try_emplace(setting, tried_.size());
  if (is_new) tried_.push_back({setting, {}});
  Tried& tried = tried_[entry->second];
  if (tried.runs.size() < static_cast<std::size_t>(replications)) {
    Outcome outcome = evaluate_(setting, replications);
    check(outcome.size() == static_cast<std::size_t>(replications), "every replication has an outcome");
    tried.runs = std::move(outcome);
  }
  return tried.runs;
}

SearchCost Trials::cost() const {
  SearchCost cost;
  cost.settings = tried_.size();
  for (const Tried& tried : tried_) {
    cost.runs += tried.runs.size();
    for (const RunOutcome& run : tried.runs) {
      cost.simulated_s += run.end_time_s;
      cost.simulated_core_hours += run.core_hours;
    }
  }
  return cost;
}

}  // namespace paceline::search
