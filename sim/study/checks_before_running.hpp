// What can be known to be wrong with a scenario, or is worth a note, before its first run.
#pragma once

#include <string>
#include <vector>

#include "sim/scenario/reader.hpp"
#include "sim/study/input_files.hpp"
#include "sim/study/simulation.hpp"

namespace paceline {

[[nodiscard]] Profiles read_profiles(const LoadedScenario& loaded, InputFiles& files);

// Sentences about defaults used, measured ranges left, poor fits and drawn profiles, for the manifest and the
// terminal. Throws UserError, at its place, for what a profile cannot tell (another network, cores that were
// not measured, how sure it is) and for data that is not there.
[[nodiscard]] std::vector<std::string> check_before_running(const LoadedScenario& loaded, InputFiles& files,
                                                            ProfileUse use = ProfileUse::as_fitted);

}  // namespace paceline
