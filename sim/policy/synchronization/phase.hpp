// What a scenario says about synchronization: a job is a sequence of phases. The rules: synchronization.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>

#include "sim/base/quantity.hpp"
#include "sim/policy/synchronization/gradient_buckets.hpp"
#include "sim/policy/synchronization/local_training.hpp"
#include "sim/policy/synchronization/staleness_weight.hpp"
#include "sim/policy/synchronization/synchronization.hpp"

namespace paceline {

// How the gradients of an update meet: by an all-reduce (sim/engine/collective.hpp) or at a server.
enum class Transport { ring, tree, halving_doubling, server };

// What travels between workers and servers.
//   gradients:  pull before every iteration, push the gradient, the server takes the step.
//   parameters: the worker steps on its own copy and pushes that; the server's becomes it, and the worker
//               pulls only when an epoch has passed since it last did (ASP as released by OmniLearn).
enum class Exchange { gradients, parameters };

// How far a phase goes. A phase without one goes on to the end of the job.
struct ShareOfJob {
  double fraction = 1.0;  // of the job's samples
};
struct UpdateCount {
  std::uint64_t updates = 0;
};
struct EpochCount {
  double epochs = 0.0;
};
using PhaseLength = std::variant<std::monostate, ShareOfJob, UpdateCount, EpochCount, Seconds>;

struct PhaseConfig {
  SynchronizationChoice policy{};
  Transport transport = Transport::server;  // all others: BSP only
  PhaseLength length{};
  Exchange exchange = Exchange::gradients;
  std::optional<LocalTraining> local{};  // several steps between two exchanges, of differences
  std::optional<BucketSizes> buckets{};  // all-reduce of gradients while others are still computed
  StalenessWeight staleness_weight{};
};

}  // namespace paceline
