// A run as a trace that Perfetto and chrome://tracing open.
//
// Models:      the Chrome trace event format: one track for each worker (its activities but waiting) and each
//              server (its work) as complete events, and one for the job with phases as complete events and
//              evaluations as instants. Events of a gradient say its batch and staleness, those of an update
//              its number.
// Units:       microseconds, the format's own.
// Assumptions: viewers read JSON of any size that a run produces.
// Not modelled: flows from one track to another.
// Source:      "Trace Event Format", Google, 2016.
#pragma once

#include <string>

#include "sim/report/recording/run_result.hpp"
#include "sim/scenario/reader.hpp"

namespace paceline {

// `run` has a trace.
[[nodiscard]] std::string chrome_trace(const RunResult& run, const LoadedScenario& loaded);

}  // namespace paceline
