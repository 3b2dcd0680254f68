// Rules of a scenario that join several keys, by section. Each broken one is a problem with its place.
//
// A rule is only looked at when the values it needs were read without a mistake, so that one mistake does not
// cause a second message.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "sim/description/reading.hpp"
#include "sim/scenario/scenario.hpp"

namespace paceline {

void check_scenario(const Scenario& scenario, const Reading& reading);

void check_job(const Scenario& scenario, const Reading& reading);
void check_learner(const Scenario& scenario, const Reading& reading);
void check_cluster(const Scenario& scenario, const Reading& reading);
void check_network(const Scenario& scenario, const Reading& reading);
void check_phases(const Scenario& scenario, const Reading& reading);
void check_reaction(const Scenario& scenario, const Reading& reading);
void check_heterogeneity(const Scenario& scenario, const Reading& reading);
void check_batching(const Scenario& scenario, const Reading& reading);
void check_work(const Scenario& scenario, const Reading& reading);
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

// What the rules of one section share: the scenario, where its values are, and how to complain at a key.
class Rules {
 public:
  Rules(const Scenario& of, const Reading& reading) : scenario(of), reading_(reading) {}

 protected:
  template <class... Paths>
  [[nodiscard]] bool sound(const Paths&... paths) const {
    return (reading_.is_sound(paths) && ...);
  }
  [[nodiscard]] bool given(const std::string& path) const { return reading_.is_given(path); }
  [[nodiscard]] bool together(const std::string& a, const std::string& b) const {
    return same_source(reading_, a, b);
  }
  void error(const std::string& path, std::string message, std::string hint = {}) const {
    reading_.problems().error(reading_.spot(path), std::move(message), std::move(hint));
  }
  void warn(const std::string& path, std::string message, std::string hint = {}) const {
    reading_.problems().warning(reading_.spot(path), std::move(message), std::move(hint));
  }

  const Scenario& scenario;
  const Reading& reading_;
};

}  // namespace paceline
