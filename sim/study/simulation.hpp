// One replication of one scenario, composed from all rooms: the place to see how they fit together.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/cost/profiles.hpp"
#include "sim/report/recording/run_recorder.hpp"
#include "sim/report/recording/run_result.hpp"
#include "sim/scenario/reader.hpp"

namespace paceline {

class InputFiles;

// Reads the scenario's profiles. Throws UserError at the place that names a missing one.
[[nodiscard]] Profiles read_profiles_of(const LoadedScenario& loaded, InputFiles& files);
[[nodiscard]] Profiles read_profiles_of(const LoadedScenario& loaded);

// Sentences about defaults used, measured ranges left and poor fits, for the manifest and the terminal. Throws
// UserError, at its place, for what the profile cannot tell (another network, cores that were not measured) and for
// data that is not there.
[[nodiscard]] std::vector<std::string> check_before_running(const LoadedScenario& loaded,
                                                            const Profiles& profiles, InputFiles& files);
[[nodiscard]] std::vector<std::string> check_before_running(const LoadedScenario& loaded,
                                                            const Profiles& profiles);

// What a replication takes for the machine's true times.
enum class ProfileUse {
  as_fitted,
  drawn,  // one equally likely calibration for each replication, the same for every policy (profile_draw.hpp)
};

// Throws UserError, at its place, when the profile cannot be drawn from; else one sentence for the results.
[[nodiscard]] std::string check_drawing(const LoadedScenario& loaded, const Profiles& profiles);

// Simulates under SimGrid. At most one call per process.
[[nodiscard]] RunResult simulate(const Scenario& scenario, const Profiles& profiles,
                                 std::uint32_t replication, RecordingOptions recording,
                                 ProfileUse use = ProfileUse::as_fitted);

}  // namespace paceline
