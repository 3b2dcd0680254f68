// The parts of check_scenario, by section of a scenario, and what they share. Private to sim/scenario.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "sim/scenario/scenario.hpp"
#include "sim/description/reading.hpp"

namespace paceline {

void check_phases(const Scenario& scenario, const Reading& reading);
void check_reaction(const Scenario& scenario, const Reading& reading);
void check_heterogeneity(const Scenario& scenario, const Reading& reading);
void check_batching(const Scenario& scenario, const Reading& reading);
void check_no_effect(const Scenario& scenario, const Reading& reading);

[[nodiscard]] inline std::string phase_path(std::size_t phase, std::string_view key) {
  return fmt::format("synchronization.{}.{}", phase, key);
}

[[nodiscard]] inline bool all_sound(const Reading& reading, std::initializer_list<const char*> paths) {
  return std::all_of(paths.begin(), paths.end(), [&](const char* path) { return reading.is_sound(path); });
}

// Whether two keys were written in the same text. A variant that overrides the controller of its base leaves
// the other controller's keys behind on purpose.
[[nodiscard]] inline bool same_source(const Reading& reading, const std::string& a, const std::string& b) {
  return reading.spot(a).source == reading.spot(b).source;
}

}  // namespace paceline
