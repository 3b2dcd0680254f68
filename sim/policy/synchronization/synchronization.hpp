// When gradients become an update, and when workers may go on: the decision alone, without transport.
//
// Models:      a parameter server's (or an all-reduce group's) reaction to each gradient that is ready to be combined.
//              "Ready" is when a gradient has arrived at the server, or, under all-reduce, when it is computed. With
//              several servers each has a policy of its own and decides about its shard.
// Equation:    BSP: combine all W gradients of a round, release all W.   ASP: combine one, release its worker.
//              K-sync: combine the first K of W, call off the other W - K, release all W.
//              Backup workers: combine the first W - b; a gradient that comes later is dropped and its worker goes on
//              with the parameters of then.
// Units:       seconds since the start of the job; policies see when gradients were ready, nothing of the future.
// Assumptions: every worker has at most one gradient outstanding; a released worker computes its next one on the
//              parameters it is given at its release. A worker that joins a BSP round waits for the next one.
// Not modelled: DSSP, K-async, local SGD.
// Source:      design sections 3 and 6; related-policies: Dutta et al., AISTATS 2018 (K-sync); Chen et al.,
//              arXiv 1604.00981 (backup workers).
//
// To add a policy: one file beside asp.cpp, one line in rules.inc, one test; see synchronization_rule.hpp.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "sim/base/id.hpp"
#include "sim/policy/synchronization/phase.hpp"

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

[[nodiscard]] std::unique_ptr<SynchronizationPolicy> make_synchronization(const PhaseConfig& phase);

}  // namespace paceline
