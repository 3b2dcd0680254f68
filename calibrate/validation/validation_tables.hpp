// The rows of a validation as a table for a terminal, and as CSV.
#pragma once

#include <string>

#include "calibrate/validation/recorded_validation.hpp"

namespace paceline {

// Every row: predicted, recorded with its 90 % interval, error, errors of the null models.
[[nodiscard]] std::string fold_text(const FoldResult& fold);
[[nodiscard]] std::string step_times_text(const std::vector<StepTimeRow>& rows);
[[nodiscard]] std::string validation_csv(const RecordedValidation& validation);

}  // namespace paceline
