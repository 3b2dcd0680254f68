// When gradients become an update, and when workers may go on: the decision alone, without transport.
//
// Models:      a parameter server's (or an all-reduce group's) reaction to each gradient that is ready to be
//              combined. "Ready" is when a gradient has arrived at the server, or, under all-reduce, when it
//              is computed. With several servers each has a policy of its own and decides about its shard.
// Equation:    each policy's, with its source, at the top of its file.
// Units:       seconds since the start of the job.
// Assumptions: policies see when gradients were ready, nothing of the future. Every worker has at most one
//              gradient outstanding; a released worker computes its next one on the parameters it is given at
//              its release.
// Not modelled: K-async, local SGD.
//
// To add a policy: one file beside asp.cpp, its line in the list of synchronization.cpp, one test.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "sim/base/id.hpp"
#include "sim/base/quantity.hpp"
#include "sim/policy/synchronization/synchronization_rule.hpp"

namespace paceline {

struct SynchronizationDecision {
  std::vector<WorkerId> combine;  // whose gradients form one update now, ascending; empty: no update yet
  std::vector<WorkerId> drop;     // whose gradient, ready or under way, will never be applied, ascending
  std::vector<WorkerId> release;  // who goes on once the update (if any) is applied, ascending
};

class SynchronizationPolicy {
 public:
  SynchronizationPolicy() = default;
  SynchronizationPolicy(const SynchronizationPolicy&) = delete;
  SynchronizationPolicy& operator=(const SynchronizationPolicy&) = delete;
  virtual ~SynchronizationPolicy() = default;

  // Whether workers wait for each other: then a step may have a serial part (coordination), and gradients are
  // averaged over the workers.
  [[nodiscard]] virtual bool is_synchronous() const = 0;
  // How many gradients an update combines: to plan a phase of so many updates.
  [[nodiscard]] virtual std::size_t gradients_per_update() const = 0;

  // A phase begins: `members` are idle and about to be released together.
  virtual void begin(std::span<const WorkerId> members) = 0;
  // What follows happens at the time `now`, which never decreases.
  //
  // `worker`'s gradient is ready to be combined.
  virtual SynchronizationDecision on_gradient(WorkerId worker, Seconds now) = 0;
  // `worker` is gone, and with it the gradient it had ready for an update that is not decided yet.
  virtual SynchronizationDecision on_leave(WorkerId worker, Seconds now) = 0;
  // `worker` is there (again), idle.
  virtual SynchronizationDecision on_join(WorkerId worker, Seconds now) = 0;
};

[[nodiscard]] std::unique_ptr<SynchronizationPolicy> make_synchronization(
    const SynchronizationChoice& policy);

}  // namespace paceline
