// What a study's values mean in one combination: `${AXIS}`, `repeat` and `lookup` (study_plan.hpp). Private to
// sim/scenario.
#pragma once

#include <map>
#include <set>
#include <string>

#include "sim/description/assignment.hpp"

namespace paceline {

// Of one axis in this combination. `value` outlives the use.
struct AxisMeaning {
  std::string label;
  const YamlNode* value = nullptr;
};
using AxisMeanings = std::map<std::string, AxisMeaning, std::less<>>;

// The assignment with everything in its path and its value replaced by what it stands for.
[[nodiscard]] Assignment in_combination(const Assignment& assignment, const AxisMeanings& meanings,
                                        Problems& problems);

// The names that the path and the value refer to.
void collect_names(const Assignment& assignment, std::set<std::string, std::less<>>& names);

}  // namespace paceline
