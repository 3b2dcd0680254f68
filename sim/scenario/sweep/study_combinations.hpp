// Which combinations of variants and axis points a study runs. Private to sim/scenario.
#pragma once

#include <vector>

#include "sim/description/reading.hpp"
#include "sim/scenario/sweep/study_text.hpp"

namespace paceline {

// All combinations that `exclude` does not name: variants vary slowest, the last axis fastest. A rule that names what is
// not varied or a label that is not there, and rules that leave nothing, are problems at their place.
[[nodiscard]] std::vector<StudyPoint> combinations(const std::vector<StudyVariantSet>& variants,
                                                   const std::vector<Axis>& axes, const StudyText& text,
                                                   const Reading& reading);

}  // namespace paceline
