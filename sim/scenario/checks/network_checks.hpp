// Rules of `cluster.network` and `cluster.servers` that join several keys. Called by semantic_checks.hpp's.
#pragma once

#include "sim/scenario/scenario.hpp"
#include "sim/description/reading.hpp"

namespace paceline {

void check_network(const Scenario& scenario, const Reading& reading);

}  // namespace paceline
