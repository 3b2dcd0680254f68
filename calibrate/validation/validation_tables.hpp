// The rows of a validation as tables for a terminal, and as CSV.
#pragma once

#include <string>

#include "calibrate/validation/recorded_validation.hpp"

namespace paceline {

// Every row: predicted, recorded with its 90 % interval, error, errors of the null models; a summary of each
//            fold.
[[nodiscard]] std::string validation_text(const RecordedValidation& validation);
[[nodiscard]] std::string validation_csv(const RecordedValidation& validation);

}  // namespace paceline
