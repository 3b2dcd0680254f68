// The job that times all workers of a scenario together, simulated: what the measured one is held against.
//
// Models:      five runs of that job (calibrate/live/iteration_timing.hpp), as the scenario has it so far.
//              What they vary by without jitter is no jitter: it is taken off what was measured.
// Assumptions: what messages take of a worker's processor is no part of its iterations, nor is it of real
//              ones.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "calibrate/live/iteration_timing.hpp"
#include "calibrate/logs/step_variation.hpp"
#include "sim/study/input_files.hpp"

namespace paceline {

// Of each worker with its batch: means over the runs.
[[nodiscard]] std::vector<live::CycleTime> simulated_cycles(const LoadedScenario& loaded,
                                                            const Profiles& profiles, WaitsFor waits_for,
                                                            std::span<const std::int64_t> batches);
// The batches of a job in step: the initial ones; or, where they change, those with which the scenario's
// controller ends under BSP with a server if nothing else changes meanwhile: medians of 20 runs as long as
// the scenario's, but of no more than 20 epochs or 20,000 updates, whichever is longer. The largest are
// lowered until the sum is a multiple of how many workers there are.
[[nodiscard]] std::vector<std::int64_t> batches_in_step(const LoadedScenario& loaded,
                                                        const Profiles& profiles);
// What iterations of the ASP job vary by though nothing does so by itself: a server and turns interrupt them.
[[nodiscard]] calibrate::StepVariation simulated_variation(LoadedScenario loaded, const Profiles& profiles,
                                                           std::span<const std::int64_t> batches);

// What iterations vary by themselves: less than `together`, as measured with the initial batch, by what a
// server and turns explain. Of any length where they were measured with the smallest batch, too, which comes
// first in `alone`: what the first worker's take, each batch of the job.
[[nodiscard]] calibrate::StepVariation own_variation(
    const LoadedScenario& loaded, const Profiles& profiles, const calibrate::StepVariation& together,
    const std::optional<calibrate::StepVariation>& of_smallest, const std::vector<live::AloneTime>& alone);

}  // namespace paceline
