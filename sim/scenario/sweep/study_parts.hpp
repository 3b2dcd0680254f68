// The parts of load_study_plan. Private to sim/scenario.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "sim/scenario/sweep/study_text.hpp"

namespace paceline {

// One axis for each entry of `vary`. After a problem the axes must not be used.
[[nodiscard]] std::vector<Axis> axes_of(const StudyText& text, const Reading& reading);
// Refuses an axis that sets nothing and that nothing refers to.
void check_axes_matter(const StudyText& text, const std::vector<Axis>& axes, const Reading& reading);

// All combinations that `exclude` does not name: variants vary slowest, the last axis fastest.
[[nodiscard]] std::vector<StudyPoint> combinations(const std::vector<StudyVariantSet>& variants,
                                                   const std::vector<Axis>& axes, const StudyText& text,
                                                   const Reading& reading);

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
