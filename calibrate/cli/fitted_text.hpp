// What commands that time messages say of their fits, and of the machine meanwhile.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "calibrate/live/communication_fit.hpp"
#include "calibrate/live/steady_passes.hpp"

namespace paceline::calibrate {

// "40 us ± 1 us and 200 us ± 4 us a MB; mean error 3 %"
[[nodiscard]] std::string fitted_text(const live::FittedTime& fit);
[[nodiscard]] nlohmann::ordered_json fitted_json(const live::FittedTime& fit);
// Of other programs, on stderr, where it is too much.
void warn_of_load(double load);
// Of passes that met a slow core, on stderr, where there were any.
void say_if_unsteady(const live::SteadyPasses& passes);
// How many were taken, and how slow the machine was in those kept.
[[nodiscard]] nlohmann::ordered_json steadiness_json(const live::SteadyPasses& passes);

}  // namespace paceline::calibrate
