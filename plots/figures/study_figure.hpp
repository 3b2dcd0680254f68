// The figure of a study: one metric against what is varied, a line for each series, recorded values as hollow markers.
//
// Models:      see study_runs.hpp.
// Units:       times in s, min, h or d; accuracies in %; other metrics as they are.
// Assumptions: an axis whose numbers span a factor of 30 or more, all above 0, is logarithmic.
// Not modelled: more than one panel.
// Source:      none.
#pragma once

#include <optional>
#include <string_view>

#include "plots/data/study_runs.hpp"
#include "plots/figures.hpp"

namespace paceline::plots {

// Nothing when no run has the metric.
[[nodiscard]] std::optional<Figure> study_figure(const StudyChart& chart, std::string_view command);

}  // namespace paceline::plots
