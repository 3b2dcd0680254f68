// How gradients reach the global parameters, and parameters the workers: everything about an update that the
// synchronization policy leaves open.
//
// Models:      the way of one iteration's result: computed -> [local step] -> [sent to the servers] ->
//              combined -> [all-reduce] -> step -> applied, where the policy decides what is combined and the
//              strategy which of the optional stages there are; and where a worker gets its parameters from.
//                all-reduce          no server: gradients are summed and each worker steps; in buckets, the
//                                    first ones are summed while others are still computed
//                server              gradients are sent, servers step, parameters are sent back
//                parameter exchange  the worker steps on its own copy and sends that; the server's becomes
//                                    it, and answers; the worker pulls once an epoch (ASP as released by
//                                    OmniLearn)
// Assumptions: a strategy holds no state of a job: it says what comes next, and the coordinator keeps the
//              books.
//              Differences that local training made take the way of gradients (local_training.hpp).
// Source:      A. Sergeev, M. Del Balso, arXiv 1802.05799 (all-reduce); M. Li et al., OSDI 2014 (parameter
//              server); OmniLearn's released code (parameter exchange; docs/models.md).
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/policy/synchronization/phase.hpp"
#include "sim/training/action.hpp"
#include "sim/training/workers.hpp"

namespace paceline {

// What a worker does next with what it has computed.
enum class Onward { local_step, send, combine };

// A stretch of the servers' shards: [first, end).
struct ShardRange {
  std::uint64_t first = 0;
  std::uint64_t end = 0;
};

class UpdateStrategy {
 public:
  UpdateStrategy(const PhaseConfig& phase, std::size_t servers)
      : transport_(phase.transport), exchange_(phase.exchange), servers_(servers), buckets_(phase.buckets) {
    if (!phase.local) return;
    share_ = bytes_factor(phase.local->sent_as);
    if (phase.local->fragments) share_ /= static_cast<double>(phase.local->fragments->count);
  }

  // So many servers decide, each for its own shard, when gradients become an update.
  [[nodiscard]] std::size_t deciders() const { return over_servers() ? servers_ : 1; }
  [[nodiscard]] Onward after_computing() const {
    if (!over_servers()) return Onward::combine;
    return steps_locally() ? Onward::local_step : Onward::send;
  }
  // Of the parameters' bytes, that a worker sends in one exchange.
  [[nodiscard]] double share() const { return share_; }
  // How a gradient is summed while it is still computed, if it is.
  [[nodiscard]] std::optional<BucketedReduction> buckets() const {
    if (!buckets_) return std::nullopt;
    return BucketedReduction{*buckets_, transport_};
  }
  // A gradient is ready at a server, but the update is to combine others with it: what the server does with
  // it.
  [[nodiscard]] std::optional<Action> gather(WorkerId worker, ServerId server) const {
    return over_servers() ? std::optional<Action>(Accumulate{worker, server}) : std::nullopt;
  }
  // The policy has decided at `server` to combine the gradients of `workers`: what carries the update out.
  [[nodiscard]] Action begin(UpdateId update, ServerId server, const std::vector<WorkerId>& workers) const {
    if (!over_servers()) return AllReduce{update, workers, transport_, share_};
    return Step{update, server, workers, steps_locally()};
  }
  // The step of an update is done at `server`: the shards that change with it, ...
  [[nodiscard]] ShardRange shards_of(ServerId server) const {
    return over_servers() ? ShardRange{server.value, server.value + 1} : ShardRange{0, servers_};
  }
  // ... and how each of them does; of parameters the last writer wins.
  [[nodiscard]] Action change(Apply step) const {
    if (!steps_locally()) return step;
    return Overwrite{step.update, step.server, step.completes_update, step.gradients.front()};
  }
  // Whether a worker that goes on takes over the present parameters.
  [[nodiscard]] bool pulls(bool an_epoch_has_passed) const { return !steps_locally() || an_epoch_has_passed; }
  // Otherwise it waits for an answer of each server to what it has sent, if it has sent anything.
  // A worker's own step takes what it knows when it goes on.
  [[nodiscard]] bool steps_locally() const { return over_servers() && exchange_ == Exchange::parameters; }
  // Whether they have to travel to a worker that has taken part so far: after an all-reduce everybody has
  // taken the same step.
  [[nodiscard]] bool parameters_travel() const { return over_servers(); }
  // Sends a worker the parameters, from the servers or else from another member; returns how many parts, 0
  // when nobody else is there to send any. Or only servers' answers to its push.
  [[nodiscard]] std::size_t send_parameters(WorkerId to, const Workers& workers, bool only_answers,
                                            Actions& actions) const {
    const IterationState& next = *workers[to].iteration;
    SendParameters part{.to = to,
                        .gradient = next.gradient,
                        .server = ServerId{0},
                        .from_worker = {},
                        .batch_samples = next.batch_samples,
                        .is_answer_only = only_answers,
                        .own_step = next.own_step};
    if (over_servers()) {
      for (; part.server.value < servers_; ++part.server.value) actions.emplace_back(part);
      return servers_;
    }
    const std::vector<WorkerId> members = workers.members();
    const auto source = std::ranges::find_if(members, [&](WorkerId other) { return other != to; });
    if (source == members.end()) return 0;
    part.from_worker = *source;
    actions.emplace_back(part);
    return 1;
  }

 private:
  [[nodiscard]] bool over_servers() const { return transport_ == Transport::server; }

  Transport transport_;
  Exchange exchange_;
  std::size_t servers_;
  std::optional<BucketSizes> buckets_;
  double share_ = 1.0;
};

}  // namespace paceline
