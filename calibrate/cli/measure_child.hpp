// The measuring process: the only part of a calibration that computes with the network.
//
// Models:      an iteration as a worker runs it: forward and backward, then the optimizer step, over and
//              over.
// Units:       seconds of the steady clock.
// Assumptions: the parent has set the cores before this process started; other processes leave them alone.
// Not modelled: loading and augmenting data.
#pragma once

#include <iosfwd>

#include "calibrate/measure/measure_protocol.hpp"

namespace paceline::calibrate {

// Measures what is asked and writes one Sample a line.
void run_measure_child(const MeasureRequest& request, std::ostream& out);

}  // namespace paceline::calibrate
