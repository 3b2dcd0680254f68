// What a job pays besides computing and sending: starts, switches, checkpoints, evaluations, adjustments,
// serial coordination, going on after a rest.
//
// Models:      a worker's rest before it goes on, and the serial part of a synchronous step.
// Equation:    start-up, switch:  time + per_worker · (place of the worker if started one after the other,
//              else 1);
//                                 places count from 1 in worker order; a switch may add a fixed sleep of its
//                                 driver
//              checkpoint, evaluation, adjustment of the batches:  a fixed time
//                                 (a phase may have checkpoint costs of its own)
//              regrouping, probing: a fixed time of every worker that goes on, when workers are dropped or
//              taken in again,
//                                 and when dropped ones are probed
//              coordination:      per_step + n · per_worker + samples · per_sample, n = workers that go on;
//                                 with round_trips: + round_trips · Σ added latency of these workers, since
//                                 the coordinator serves one after the other; their gradients are then not
//                                 held back besides
//              ramp-up:           the k-th iteration of a worker after a start or restart (k = 0, 1, …) takes
//                                 1 + (slowdown - 1) · (1 - k / iterations) times its time, while k <
//                                 iterations
//              preparation:       a worker's first iteration with a batch that it has not had since it was
//                                 started, or since a phase began, takes longer by this over its speed:
//                                 libraries choose and compile kernels for shapes that they have not met
//              resume:            an iteration that begins T after the worker's last one ended takes
//                                 longer, as its own work, by what was measured after rests: on lines
//                                 between them, from nothing after none, and after the longest no more.
//                                 What others do meanwhile displaces its data from caches. Waits for
//                                 messages and for other workers are rests, stops by a quota are not
//                                 (sim/cost/quota_clock.hpp)
//              communication:     of a worker messages · per_message + bytes / rate, as work of its next
//                                 iteration: out of its quota, slower while it straggles, the same whatever
//                                 its own `speed`. worker_overlap of it a worker that waits works off from
//                                 the moment on when the message is sent, so that its next iteration has
//                                 only what is left of that. For an all-reduce among n members as many
//                                 messages as it has rounds, and 2 (n - 1) / n of the bytes, both ways. Of a
//                                 server server_request + variables · server_variable + bytes / server_rate
//                                 for each gradient (or copy of parameters) it takes in, in its queue. Of an
//                                 update a server is busy for all its time, its workers wait for 1 -
//                                 server_overlap of it: parameters come back tensor by tensor, or packets are
//                                 handled while others travel; the rest is served while no other gradient of
//                                 the update is there, and right after its step
// Units:       seconds; seconds per worker or sample.
// Assumptions: costs do not vary. A restarted worker begins as soon as it is up; who needs the others waits
//              for them. Neither a worker's first iteration nor one after an iteration that was called off
//              follows a rest.
// Not modelled: sizes (a checkpoint costs the same whatever the network), storage that several jobs share.
// Source:      Sync-Switch (ICDCS 2021) and its recorded runs (docs/models.md).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/base/id.hpp"
#include "sim/base/quantity.hpp"
#include "sim/cost/shards.hpp"

namespace paceline {

enum class RestartOrder { parallel, sequential };

struct RestartCost {
  Seconds time{};
  Seconds per_worker{};
  RestartOrder order = RestartOrder::parallel;
  Seconds sleep{};

  [[nodiscard]] Seconds of(WorkerId worker) const {
    const double place = order == RestartOrder::sequential ? static_cast<double>(worker.value + 1) : 1.0;
    return time + sleep + place * per_worker;
  }
};

struct RampUp {
  std::int64_t iterations = 0;
  double slowdown = 1.0;

  // The factor on the `since_start`-th iteration after a start, from 0.
  [[nodiscard]] double factor(std::uint64_t since_start) const {
    if (since_start >= static_cast<std::uint64_t>(iterations)) return 1.0;
    const double done = static_cast<double>(since_start) / static_cast<double>(iterations);
    return 1.0 + (slowdown - 1.0) * (1.0 - done);
  }
};

struct RestCost {
  Seconds rest{};
  Seconds time{};
};
// By ascending rests above 0; none: nothing.
[[nodiscard]] inline Seconds resume_after(Seconds rest, const std::vector<RestCost>& costs) {
  RestCost before{};
  for (const RestCost& cost : costs) {
    if (rest < cost.rest)
      return before.time + (rest - before.rest) / (cost.rest - before.rest) * (cost.time - before.time);
    before = cost;
  }
  return before.time;
}

struct CoordinationCost {
  Seconds per_step{};
  Seconds per_worker{};
  Seconds per_sample{};
  std::optional<double> round_trips{};  // with each worker in a step: what its added latency delays

  [[nodiscard]] bool is_free() const {
    return per_step + per_worker + per_sample == Seconds{} && !round_trips;
  }
  [[nodiscard]] Seconds of(std::size_t workers, std::int64_t samples) const {
    return per_step + static_cast<double>(workers) * per_worker + static_cast<double>(samples) * per_sample;
  }
};

// Processor time that messages take where they are sent and received.
struct CommunicationCost {
  Seconds server_request{};
  std::optional<BytesPerSecond> server_rate{};  // bytes of gradients; absent: they cost a server nothing
  Seconds server_variable{};                    // for each variable of a gradient
  double server_overlap = 0.0;                  // share of its time for an update that nobody waits for
  Seconds per_message{};
  std::optional<BytesPerSecond> rate{};  // bytes that a worker's processor handles; absent: they cost nothing
  double worker_overlap = 0.0;           // share of that which is done while messages travel

  [[nodiscard]] Seconds of(double messages, Bytes bytes) const {
    return messages * per_message + (rate ? bytes / *rate : Seconds{});
  }
  // Of a server, for a gradient of its part of the parameters.
  [[nodiscard]] Seconds of_request(const ServerShard& shard) const {
    return server_request + shard.variables * server_variable +
           (server_rate ? shard.bytes / *server_rate : Seconds{});
  }
};

enum class EvaluationPayer { free, inline_workers, evaluator };

struct FixedCosts {
  std::optional<RestartCost> start_up{};
  std::vector<RestartCost> switching{};  // by phase: before it
  RampUp ramp_up{};
  Seconds preparation{};  // of a batch, at speed 1
  std::vector<RestCost> resume{};
  Seconds checkpoint{};
  std::vector<std::optional<Seconds>> checkpoint_of_phase{};  // instead, by phase
  Seconds regrouping{};
  Seconds probing{};
  CoordinationCost coordination{};
  CommunicationCost communication{};

  [[nodiscard]] Seconds checkpoint_in(std::size_t phase) const {
    return phase < checkpoint_of_phase.size() ? checkpoint_of_phase[phase].value_or(checkpoint) : checkpoint;
  }

  // free: known at once; inline: every worker rests for `evaluation`; evaluator: a machine of its own takes
  // it for each evaluation, one after the other, while training goes on.
  EvaluationPayer evaluation_payer = EvaluationPayer::free;
  Seconds evaluation{};
  Seconds adjustment{};  // of the batches: every worker, before it goes on
};

}  // namespace paceline
