// What commands that time messages say of their fits.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "calibrate/live/communication_fit.hpp"

namespace paceline::calibrate {

// "40 us ± 1 us and 200 us ± 4 us a MB; mean error 3 %"
[[nodiscard]] std::string fitted_text(const live::FittedTime& fit);
[[nodiscard]] nlohmann::ordered_json fitted_json(const live::FittedTime& fit);
// Of other programs, on stderr, where it is too much.
void warn_of_load(double load);

}  // namespace paceline::calibrate
