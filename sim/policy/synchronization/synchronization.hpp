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
// Not modelled: K-async.
//
// A policy is one file beside asp.cpp: a class and a function that returns its rule. The function stands in
// the list of synchronization.cpp; its word, keys and checks in scenarios follow from the rule.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "sim/base/id.hpp"
#include "sim/base/quantity.hpp"
#include "sim/policy/parameters.hpp"

namespace paceline {

struct SynchronizationDecision {
  std::vector<WorkerId> combine{};  // whose gradients form one update now, ascending; empty: no update yet
  std::vector<WorkerId> drop{};     // whose gradient, ready or under way, will never be applied, ascending
  std::vector<WorkerId> release{};  // who goes on once the update (if any) is applied, ascending
  std::optional<Seconds> window{};  // opens now and closes so much later: `on_window_closed`
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
  // The window that was opened last is over.
  virtual SynchronizationDecision on_window_closed(Seconds) { return {}; }
};

// Whose gradients a worker waits for before it goes on.
enum class WaitsFor {
  all,    // every update combines all members: an all-reduce can carry it, and a straggler holds everybody up
  some,   // as many as the policy's parameters say
  nobody  // then workers can also exchange parameters
};

// What there is to know about a policy before it runs.
struct SynchronizationRule {
  std::string_view word;
  std::string_view synonym{};  // a second word for the same
  std::string_view description;
  Parameters parameters{};
  WaitsFor waits_for = WaitsFor::some;
  // Servers that see gradients in different orders still combine the same ones: needed with several servers.
  bool decides_alike_on_every_server = false;
  // What is wrong with these parameters among so many workers; absent where their own ranges say all.
  std::optional<Complaint> (*complaint)(const Parameters& parameters, std::int64_t workers) = nullptr;
  std::unique_ptr<SynchronizationPolicy> (*make)(const Parameters& parameters) = nullptr;

  [[nodiscard]] static std::span<const SynchronizationRule> all();
};

// For the rule of a policy constructed from its parameters, if it has any.
template <class Policy, class... Struct>
std::unique_ptr<SynchronizationPolicy> make_policy(const Parameters& parameters) {
  return std::make_unique<Policy>(parameters.as<Struct>()...);
}

using SynchronizationChoice = Chosen<SynchronizationRule>;

[[nodiscard]] std::unique_ptr<SynchronizationPolicy> make_synchronization(
    const SynchronizationChoice& policy);
[[nodiscard]] std::optional<Complaint> complaint_about(const SynchronizationChoice& policy,
                                                       std::int64_t workers);
// Gradients in an update of so many workers.
[[nodiscard]] std::size_t gradients_per_update(const SynchronizationChoice& policy, std::size_t workers);

}  // namespace paceline
