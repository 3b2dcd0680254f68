// The profiles and learners that come with the program, in the checkout or where `cmake --install` put them.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "sim/cost/profile.hpp"
#include "sim/learning/statistical_model.hpp"

namespace paceline {

// The folder `scenarios`. Throws UserError when it is not there.
[[nodiscard]] std::filesystem::path shipped_scenarios();

// By path; files that are neither are left out.
[[nodiscard]] std::vector<Profile> profiles_below(const std::filesystem::path& folder);
[[nodiscard]] std::vector<StatisticalModel> learners_below(const std::filesystem::path& folder);

// Of this network: measured before derived, then the one with the most core counts.
[[nodiscard]] std::optional<Profile> shipped_profile(const std::string& network);
// Of the same network and data set, as far as both are known, and of workers that exchange every step.
[[nodiscard]] std::optional<StatisticalModel> shipped_learner(const Identity& job);

}  // namespace paceline
