// A recorded run met again: the same coordinator, the same events in the same order.
//
// Models:      nothing of time: events come when they are recorded to have come. With a learner in this
//              process instead of workers a gradient is computed when its iteration begins, as in a
//              simulation.
// Assumptions: coordinator and learner are as they were at the start of the run. Of an evaluation the time
//              is recorded; the value is the learner's own, where there is one. With one thread and the same
//              type of CPU a network learner arrives at the same bits as the live job, whose workers run the
//              same code.
#pragma once

#include "calibrate/live/event_log.hpp"
#include "sim/learning/learner.hpp"
#include "sim/training/coordinator.hpp"

namespace paceline::live {

// To the coordinator's Stop, or to the end of what is recorded.
void replay(Coordinator& coordinator, const RecordedRun& run, RunObserver& observer);
void replay(Coordinator& coordinator, const RecordedRun& run, Learner& learner, RunObserver& observer);

}  // namespace paceline::live
