// The sections `heterogeneity`, `jitter` and `prediction`: what changes, as planned or by chance; and
// `start_up`, `ramp_up`, `resume`, `coordination`, `communication` and `checkpoints`: time that is neither
// computing nor transfer.
#include "sim/scenario/sections/sections.hpp"

namespace paceline {

void describe(Visitor& v, Level& c) {
  v.required("at", c.at, when(), "when it begins");
  v.optional("workers", c.workers, ListOf{worker_number(), "worker"},
             "which workers the lists below are about; empty: all, in order");
  v.optional("speed", c.speeds, ListOf{Number{above(0)}, "worker"}, "relative to each worker's own");
  v.optional("cores", c.cores, ListOf{Whole{1, 1 << 16}, "worker"}, "instead of each worker's own");
  v.optional("bandwidth", c.bandwidths, ListOf{Number{above(0)}, "worker"}, "relative to each worker's link");
  v.optional("for", c.for_long, duration(above(0)),
             "how long it lasts; then what held without it holds again", Absent{"until a later level"});
  v.optional("every", c.every, duration(above(0)), "it begins again so often, by time, for as long each time",
             Absent{"once"});
}

// Scripted and random ones alike.
template <class AnyStraggler>
void describe_straggling(Visitor& v, AnyStraggler& c) {
  v.optional("slowdown", c.slowdown, Number{above(0)}, "factor on its compute times");
  v.optional("added_latency", c.added_latency, duration(at_least(0)), "of each message it sends");
  v.optional("round_trips", c.round_trips, Number{at_least(0)},
             "such messages in a row in each iteration, or for each bucket: what those are delayed by");
}

void describe(Visitor& v, Straggler& c) {
  v.required("worker", c.worker, worker_number(), "who straggles");
  v.required("from", c.from, when(), "when it begins");
  v.optional("duration", c.duration, duration(above(0)), "how long it lasts, if it comes once",
             Absent{"as long as `for` says"});
  v.optional("every", c.every, duration(above(0)), "it comes again so often, by time, instead of `duration`",
             Absent{"once"});
  v.optional("for", c.for_long, duration(above(0)), "how long it lasts each time, with `every`",
             Absent{"as long as `duration` says"});
  describe_straggling(v, c);
}

void describe(Visitor& v, RandomStragglers& c) {
  v.required("probability", c.probability, percent(between(0, 1)), "of a worker to straggle during a window");
  v.required("window", c.window, duration(above(0)), "length of a window");
  describe_straggling(v, c);
}

void describe(Visitor& v, MembershipChange& c) {
  v.required("at", c.at, when(), "when it happens");
  v.required("worker", c.worker, worker_number(), "who leaves or joins");
  v.required("event", c.event, Choice{{"leaves", MembershipEvent::leaves}, {"joins", MembershipEvent::joins}},
             "a worker whose first event is to join is absent at the start");
}

void describe(Visitor& v, HeterogeneityConfig& c) {
  v.optional("schedule", c.changes.schedule, ListOf{Section{}, "level"}, "levels of speed, cores, bandwidth");
  v.optional("trace", c.trace, Path{}, "CSV file with columns time_s, worker, speed, bandwidth",
             Absent{"no trace"});
  v.optional("stragglers", c.changes.stragglers, ListOf{Section{}, "straggler"}, "scripted ones");
  v.optional("random_stragglers", c.changes.random_stragglers, Section{}, "ones that chance chooses",
             Absent{"none"});
  v.optional("membership", c.changes.membership, ListOf{Section{}, "change"}, "workers that leave or join");
}

void describe(Visitor& v, Spells& c) {
  v.required("variation", c.cv, percent(between(0, 1)),
             "of a worker's speed from spell to spell (sd / mean)");
  v.required("length", c.length, duration(above(0)), "of a spell");
}

void describe(Visitor& v, JitterOverrides& c) {
  constexpr Absent measured{"from the profile"};
  constexpr Absent run_measured{"from the profile; 3 % if it does not know"};
  constexpr Absent not_measured{"0 %: a profile measures one machine"};
  v.optional("run", c.run_cv, percent(between(0, 1)), "variation (sd / mean) between whole runs",
             run_measured);
  v.optional("worker", c.worker_cv, percent(between(0, 1)), "variation between workers of a run",
             not_measured);
  v.optional("iteration", c.iteration_cv, percent(between(0, 1)), "variation between iterations", measured);
  v.optional("iteration_fixed", c.iteration_fixed, duration(at_least(0)),
             "standard deviation of iterations, at speed 1, that does not grow with them, besides: those of "
             "small batches vary by a larger share; `validate live` measures it where batches change",
             Absent{"0 s: not measured"});
  v.optional("spells", c.spells, Section{},
             "stretches of time in which a worker's core is faster or slower, each worker's on its own; "
             "`validate live` and `calibrate own` measure them",
             Absent{"none: successive iterations are independent"});
  v.optional("message", c.message, duration(at_least(0)),
             "mean of a random wait of each message between a worker and a server, exponentially "
             "distributed; `validate live` measures it");
}

void describe(Visitor& v, PredictionConfig& c) {
  v.optional("cluster", c.cluster,
             Choice{{"another", PredictedCluster::another}, {"same", PredictedCluster::same}},
             "another: one like this, or this one on another day, so that ranges are wider; same: this very "
             "one again");
  v.optional("clusters_differ", c.clusters_differ, percent(between(0, 1)),
             "variation (sd / mean) of all work between such clusters: one factor for a run, the same for "
             "everything compared",
             Absent{"from the profile; 0 % if it does not know"});
}

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

void describe(Visitor& v, RestCost& c) {
  v.required("rest", c.rest, duration(above(0)), "from the end of an iteration to the begin of the next one");
  v.required("time", c.time, duration(at_least(0)),
             "that the next one takes longer; on a line between two rests, the same beyond the last");
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

void describe(Visitor& v, CommunicationCost& c) {
  v.optional("server_request", c.server_request, duration(at_least(0)),
             "fixed time of a server for each gradient it takes in, beside bytes / rate of the profile");
  v.optional("server_rate", c.server_rate, rate(above(0)),
             "bytes of gradients that a server receives, and answers with parameters, in a second, besides",
             Absent{"bytes take a server no time but that of the profile"});
  v.optional("server_variable", c.server_variable, duration(at_least(0)),
             "time of a server for each variable of a gradient it takes in, besides; the profile has to name "
             "the variables");
  v.optional("server_overlap", c.server_overlap, percent(between(0, 1)),
             "share of a server's time for an update that its workers do not wait for: parameters come back "
             "tensor by tensor, or packets are handled while others travel; the server is busy all the same");
  v.optional("per_message", c.per_message, duration(at_least(0)),
             "processor time of a worker for each message it sends or receives");
  v.optional("rate", c.rate, rate(above(0)),
             "bytes sent or received that a worker's processor handles in a second",
             Absent{"bytes take no processor time"});
  v.optional(
      "worker_overlap", c.worker_overlap, percent(between(0, 1)),
      "share of a worker's processor time for messages that is spent while they travel: it comes out of "
      "quotas and shared cores all the same, and delays the next iteration where it is not done by then");
}

void describe(Visitor& v, CheckpointConfig& c) {
  v.required("every", c.every, how_often(), "time, updates, samples or epochs between two checkpoints");
  v.required(
      "cost", c.cost, duration(at_least(0)),
      "pause of the workers released together with the chief, the lowest worker present: all of them under "
      "bsp, the chief alone under asp and ssp");
}

}  // namespace paceline
