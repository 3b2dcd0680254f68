// From what a study says it varies to axes of labelled points. Private to sim/scenario.
#pragma once

#include <vector>

#include "sim/description/reading.hpp"
#include "sim/scenario/sweep/study_text.hpp"

namespace paceline {

// One axis for each entry of `vary`. After a problem the axes must not be used.
[[nodiscard]] std::vector<Axis> axes_of(const StudyText& text, const Reading& reading);

// Refuses an axis that sets nothing and that nothing refers to.
void check_axes_matter(const StudyText& text, const std::vector<Axis>& axes, const Reading& reading);

}  // namespace paceline
