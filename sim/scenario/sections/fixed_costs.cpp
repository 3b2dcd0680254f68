// The sections `start_up`, `ramp_up`, `coordination` and `checkpoints`: time that is neither computing nor
// transfer.
#include "sim/scenario/sections/sections.hpp"

namespace paceline {

void describe(Visitor& v, RestartCost& c) {
  v.optional("time", c.time, duration(at_least(0)), "pause of every worker");
  v.optional("per_worker", c.per_worker, duration(at_least(0)), "starting one worker, added to that");
  v.optional("order", c.order,
             Choice{{"parallel", RestartOrder::parallel}, {"sequential", RestartOrder::sequential}},
             "whether workers are started at once or one after the other");
}

void describe(Visitor& v, RampUp& c) {
  v.required("iterations", c.iterations, Whole{1}, "of each worker after a start or a switch");
  v.required("slowdown", c.slowdown, Number{at_least(1)}, "of the first of them; falls linearly to 1");
}

void describe(Visitor& v, CoordinationCost& c) {
  v.optional("per_step", c.per_step, duration(at_least(0)), "serial time of each synchronous update");
  v.optional("per_worker", c.per_worker, duration(at_least(0)), "added for each worker that goes on");
  v.optional("per_sample", c.per_sample, duration(at_least(0)), "added for each sample of the update");
  v.optional("round_trips", c.round_trips, Number{at_least(0)},
             "with each worker in each update, one worker after the other: each is delayed by the worker's "
             "added latency",
             Absent{"added latency holds back the worker's gradient instead, by the straggler's own number"});
}

void describe(Visitor& v, CheckpointConfig& c) {
  v.required("every", c.every, how_often(), "time, updates, samples or epochs between two checkpoints");
  v.required(
      "cost", c.cost, duration(at_least(0)),
      "pause of the workers released together with the chief, the lowest worker present: all of them under "
      "bsp, the chief alone under asp and ssp");
}

}  // namespace paceline
