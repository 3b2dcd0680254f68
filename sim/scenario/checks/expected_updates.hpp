// The workload of a scenario before it runs.
#pragma once

#include "sim/description/reading.hpp"
#include "sim/scenario/scenario.hpp"

namespace paceline {

// Whether what these are computed from was read without a mistake.
[[nodiscard]] bool workload_is_sound(const Reading& reading);
[[nodiscard]] double workload_samples(const Scenario& scenario);
// An estimate of the workload in updates, from the batch sizes at the start.
[[nodiscard]] double expected_updates(const Scenario& scenario);

}  // namespace paceline
