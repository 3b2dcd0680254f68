// What a switch costs for which worker processes end and start anew, measured before a prediction.
//
// Models:      a crew of these workers without a job: its state is saved, the workers end and start anew with
//              network and data, the state is read.
// Equation:    mean over passes and workers of the time from the order to save until a worker is ready.
// Units:       seconds of wall-clock time.
// Assumptions: a job's workers have nothing else to end; files are in the system's caches, as at a switch.
// Not modelled: how the times of single workers differ.
#pragma once

#include <cstddef>

#include "calibrate/live/live_run.hpp"

namespace paceline::live {

// Throws what run_live throws, and std::runtime_error when a worker is lost.
[[nodiscard]] Seconds time_restarts(const Scenario& scenario, const LiveOptions& options, std::size_t passes);

}  // namespace paceline::live
