// The parts of load_study_plan. Private to sim/scenario.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "sim/scenario/sweep/study_plan.hpp"

namespace paceline {

// The points of an axis, and its name where none is given. `path` is that of its entry of `vary`.
void complete_axis(Axis& axis, const std::string& path, const Reading& reading);
// Refuses an axis that sets nothing and that nothing refers to.
void check_axes_matter(const StudyPlan& plan, const Reading& reading);

// All combinations that `exclude` does not name.
[[nodiscard]] std::vector<StudyPoint> combinations(const StudyPlan& plan, const Reading& reading);
// Refuses names of nothing that is varied, and labels that it does not have.
void check_labels(const StudyPlan& plan, const std::vector<Assignment>& rule, Problems& problems);
// All labels of an axis, or of the variants; none when there is no such axis.
[[nodiscard]] std::vector<std::string> all_labels(const StudyPlan& plan, std::string_view column);

// What `${AXIS}` and `lookup` mean in one combination. `value` outlives the use.
struct AxisMeaning {
  std::string label;
  const YamlNode* value = nullptr;
};
using AxisMeanings = std::map<std::string, AxisMeaning, std::less<>>;
// The assignment with everything in its value replaced by what it stands for.
[[nodiscard]] Assignment in_combination(const Assignment& assignment, const AxisMeanings& meanings,
                                        Problems& problems);
// The names that a value refers to.
void collect_names(const YamlNode& value, std::set<std::string, std::less<>>& names);

// "did you mean `level`?", or the names there are.
[[nodiscard]] std::string hint_for(std::string_view name, const std::vector<std::string>& known,
                                   std::string_view what_these_are);
void refuse_unknown_axis(std::string_view name, const std::vector<std::string>& known, const Spot& spot,
                         Problems& problems);

}  // namespace paceline
