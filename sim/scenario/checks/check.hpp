// Rules of a scenario that join several keys, by section. Each broken one is a problem with its place.
//
// A rule is only looked at when the values it needs were read without a mistake, so that one mistake does not
// cause a second message.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sim/description/reading.hpp"
#include "sim/scenario/scenario.hpp"

namespace paceline {

void check_scenario(const Scenario& scenario, const Reading& reading);

void check_job(const Scenario& scenario, const Reading& reading);
void check_cluster(const Scenario& scenario, const Reading& reading);
void check_network(const Scenario& scenario, const Reading& reading);
void check_phases(const Scenario& scenario, const Reading& reading);
void check_local_training(const Scenario& scenario, const Reading& reading);

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
  // Whether a key is given, and not left behind by an override of the one that takes it its meaning.
  [[nodiscard]] bool meant(const std::string& key, const std::string& deciding) const {
    return given(key) && !reading_.is_left_behind(reading_.spot(key), deciding);
  }
  // Keys that overrides set by themselves: whoever varies them expects something of it. A base may have them
  // for other variants.
  [[nodiscard]] std::vector<std::string> varied_below(const std::string& path) const {
    return reading_.varied_below(path);
  }
  void error(const std::string& path, std::string message, std::string hint = {}) const {
    reading_.problems().error(reading_.spot(path), std::move(message), std::move(hint));
  }
  void warn(const std::string& path, std::string message, std::string hint = {}) const {
    reading_.problems().warning(reading_.spot(path), std::move(message), std::move(hint));
  }
  void warn_without_effect(const std::string& path, std::string message, std::string hint) const {
    reading_.problems().add(
        {Severity::warning, reading_.spot(path), std::move(message), std::move(hint), /*is_idle=*/true});
  }
  [[nodiscard]] static std::string in_phase(std::size_t phase, std::string_view key) {
    return fmt::format("synchronization.{}.{}", phase, key);
  }

  // Whether what the workload is computed from was read without a mistake.
  [[nodiscard]] bool workload_is_sound() const {
    return sound("stop.epochs", "job.dataset.train_samples", "batching.initial", "cluster.workers");
  }
  [[nodiscard]] double workload_samples() const {
    return scenario.stop.epochs * static_cast<double>(scenario.job.dataset.train_samples);
  }
  // An estimate of the workload in updates, from the batch sizes at the start.
  [[nodiscard]] double expected_updates() const;

  const Scenario& scenario;
  const Reading& reading_;
};

}  // namespace paceline
