// When gradients become an update, and when workers may go on: the decision alone, without transport or time.
//
// Models:      a parameter server's (or an all-reduce group's) reaction to each gradient that is ready to be combined.
//              "Ready" is when a gradient has arrived at the server, or, under all-reduce, when it is computed.
// Equation:    BSP: combine all W gradients of a round, release all W.   ASP: combine one, release its worker.
// Units:       none; policies see the order of events only.
// Assumptions: every worker has at most one gradient outstanding; a released worker computes its next one on the
//              parameters it is given at its release.
// Not modelled: SSP, K-sync, backup workers, membership changes (they add files beside bsp.cpp and asp.cpp).
// Source:      design sections 3 and 6; reference rules of Sync-Switch and Ho et al., NIPS 2013.
//
// To add a policy: one file with a class and its factory function, one line in make_synchronization, one test.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "sim/base/id.hpp"
#include "sim/policy/phase.hpp"

namespace paceline {

struct SynchronizationDecision {
  std::vector<WorkerId> combine;  // whose gradients form one update now, ascending; empty: no update yet
  std::vector<WorkerId> release;  // who goes on once that update (if any) is applied, ascending
};

class SynchronizationPolicy {
 public:
  SynchronizationPolicy() = default;
  SynchronizationPolicy(const SynchronizationPolicy&) = delete;
  SynchronizationPolicy& operator=(const SynchronizationPolicy&) = delete;
  virtual ~SynchronizationPolicy() = default;

  // A phase begins: `members` are idle and about to be released together.
  virtual void begin(std::span<const WorkerId> members) = 0;
  // `worker`'s gradient is ready to be combined.
  virtual SynchronizationDecision on_gradient(WorkerId worker) = 0;
};

[[nodiscard]] std::unique_ptr<SynchronizationPolicy> make_synchronization(SynchronizationKind kind);

}  // namespace paceline
