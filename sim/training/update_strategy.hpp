// How gradients reach the global parameters, and parameters the workers: everything about an update that the
// synchronization policy leaves open.
//
// Models:      the way of one iteration's result: computed -> [local step] -> [sent to the servers] ->
//              combined -> [all-reduce] -> step -> applied, where the policy decides what is combined and the
//              strategy which of the optional stages there are; and where a worker gets its parameters from.
//                all-reduce          no server: gradients are summed and each worker steps
//                server              gradients are sent, servers step, parameters are sent back
//                parameter exchange  the worker steps on its own copy and sends that; the server's becomes
//                it,
//                                    and the worker pulls once an epoch (ASP as released by OmniLearn)
// Assumptions: a strategy holds no state of a job: it says what comes next, and the coordinator keeps the
//              books.
// Not modelled: several local steps between two exchanges (local SGD).
// Source:      A. Sergeev, M. Del Balso, arXiv 1802.05799 (all-reduce); M. Li et al., OSDI 2014 (parameter
//              server); OmniLearn's released code (parameter exchange; docs/models.md).
#pragma once

#include <cstdint>
#include <memory>
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
  UpdateStrategy() = default;
  UpdateStrategy(const UpdateStrategy&) = delete;
  UpdateStrategy& operator=(const UpdateStrategy&) = delete;
  virtual ~UpdateStrategy() = default;

  // So many servers decide, each for its own shard, when gradients become an update.
  [[nodiscard]] virtual std::size_t deciders() const = 0;
  [[nodiscard]] virtual Onward after_computing() const = 0;
  [[nodiscard]] virtual Onward after_local_step() const { return Onward::send; }
  // A gradient is ready at a server, but the update is to combine others with it: what the server does with
  // it.
  [[nodiscard]] virtual std::optional<Action> gather(WorkerId worker, ServerId server) const = 0;
  // The policy has decided at `server` to combine the gradients of `workers`: what carries the update out.
  [[nodiscard]] virtual Action begin(UpdateId update, ServerId server,
                                     const std::vector<WorkerId>& workers) const = 0;
  // The step of an update is done at `server`: the shards that change with it, ...
  [[nodiscard]] virtual ShardRange shards_of(ServerId server) const = 0;
  // ... and how each of them does.
  [[nodiscard]] virtual Action change(Apply step) const { return step; }
  // Whether a worker that goes on takes over the present parameters.
  [[nodiscard]] virtual bool pulls(bool /*an_epoch_has_passed*/) const { return true; }
  // Whether they have to travel to a worker that has taken part so far.
  [[nodiscard]] virtual bool parameters_travel() const = 0;
  // Sends a worker the parameters; returns how many parts, 0 when nobody else is there to send any.
  [[nodiscard]] virtual std::size_t send_parameters(WorkerId to, GradientId gradient, const Workers& workers,
                                                    Actions& actions) const = 0;
};

// To add one: a class in update_strategy.cpp, and the phase that asks for it.
[[nodiscard]] std::unique_ptr<UpdateStrategy> make_update_strategy(const PhaseConfig& phase,
                                                                   std::size_t servers);

}  // namespace paceline
