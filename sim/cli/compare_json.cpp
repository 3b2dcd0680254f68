#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/cli/compare_parts.hpp"

namespace paceline {
namespace {

using json = nlohmann::ordered_json;

json to_json(const std::optional<PairedComparison>& paired) {
  if (!paired) return nullptr;
  const auto interval = [](const Interval& i) { return json{{"low", i.low}, {"high", i.high}}; };
  json j = {{"pairs", paired->pairs},
            {"p_faster", paired->p_faster},
            {"p_faster_interval", interval(paired->p_faster_interval)},
            {"correlation", paired->correlation ? json(*paired->correlation) : json(nullptr)}};
  j["speedup_interval"] = paired->speedup_interval ? interval(*paired->speedup_interval) : json(nullptr);
  j["difference_s"] = paired->difference ? json{{"mean", paired->difference->mean_s},
                                                {"low", paired->difference->interval_s.low},
                                                {"high", paired->difference->interval_s.high}}
                                         : json(nullptr);
  return j;
}

json as_json(const StudySoFar& so_far, const StudyFindings& found) {
  const auto& [ranked, reference, effects, winners, warnings] = found;
  const auto number = [](const std::optional<double>& value) { return value ? json(*value) : json(nullptr); };
  json ranking = json::array();
  for (const Ranked& one : ranked) {
    const ComparedRuns& runs = so_far.table.runs[one.index];
    ranking.push_back(
        {{"name", runs.name},
         {"rank", one.rank},
         {"tied", one.is_tied},
         {"assumed_learner", runs.has_assumed_learner},
         {"runs", runs.runs.size()},
         {"time_s", one.time ? json(one.time->value()) : json(nullptr)},
         {"final_accuracy", number(one.accuracy)},
         {"pareto", one.is_on_front},
         {"against_reference", one.index == reference
                                   ? json(nullptr)
                                   : to_json(compare_pairs(so_far.table.runs[reference], runs))}});
  }
  json sensitivity = json::array();
  for (const Sensitivity& one : effects)
    sensitivity.push_back({{"column", one.column},
                           {"alone", number(one.one_at_a_time)},
                           {"total_effect", number(one.total_effect)}});
  json changes = json::array();
  for (const WinnerChange& change : winners) {
    json along = json::array();
    for (const Winner& winner : change.winners)
      along.push_back(
          {{"at", winner.at}, {"winner", winner.label}, {"over_second", to_json(winner.over_second)}});
    changes.push_back({{"along", change.along},
                       {"fixed", change.fixed},
                       {"changes", change.changes()},
                       {"winners", along}});
  }
  return {{"study", so_far.study.name}, {"reference", so_far.table.runs[reference].name},
          {"ranking", ranking},         {"sensitivity", sensitivity},
          {"winners", changes},         {"warnings", warnings}};
}

}  // namespace

std::string comparison_json(const StudySoFar& so_far, const StudyFindings& found) {
  return as_json(so_far, found).dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace paceline
