// One replication of one scenario, composed from all rooms: the place to see how they fit together.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/cost/profile.hpp"
#include "sim/report/run_result.hpp"
#include "sim/scenario/scenario.hpp"

namespace paceline {

// Sentences about defaults used and measured ranges left, for the manifest and the terminal. Throws UserError when
// the scenario asks for what its profile cannot tell (another network, cores that were not measured).
[[nodiscard]] std::vector<std::string> check_against_profile(const Scenario& scenario,
                                                             const Profile& profile);

// Simulates under SimGrid. At most one call per process.
[[nodiscard]] RunResult simulate(const Scenario& scenario, const Profile& profile, std::uint32_t replication);

}  // namespace paceline
