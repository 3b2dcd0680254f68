// Rules of a scenario that join several keys. Each broken one is a problem with its place.
//
// A rule is only looked at when the values it needs were read without a mistake, so that one mistake does not
// cause a second message.
#pragma once

#include "sim/scenario/scenario.hpp"
#include "sim/description/reading.hpp"

namespace paceline {

void check_scenario(const Scenario& scenario, const Reading& reading);

}  // namespace paceline
