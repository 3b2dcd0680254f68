// The job that times all workers of a scenario together, simulated: what the measured one is held against.
//
// Models:      five runs of that job (calibrate/live/iteration_timing.hpp), as the scenario has it so far.
// Assumptions: what messages take of a worker's processor is no part of its iterations, nor is it of real
//              ones.
#pragma once

#include <vector>

#include "calibrate/live/iteration_timing.hpp"
#include "calibrate/logs/step_variation.hpp"
#include "sim/study/input_files.hpp"

namespace paceline {

// Of each worker: means over the runs.
[[nodiscard]] std::vector<live::CycleTime> simulated_cycles(const LoadedScenario& loaded,
                                                            const Profiles& profiles);
// What iterations vary by though nothing does so by itself: a server and turns interrupt them.
[[nodiscard]] calibrate::StepVariation simulated_variation(LoadedScenario loaded, const Profiles& profiles);

}  // namespace paceline
