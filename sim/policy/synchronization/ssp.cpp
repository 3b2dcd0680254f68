// Stale synchronous parallel: a worker may be at most `staleness` iterations ahead of the slowest.
//
// Equation:    every gradient is an update. A worker's clock c_w counts its iterations; it starts clock c
//              only if c - min_k c_k <= s, otherwise it waits until the slowest has caught up. s = 0: nobody
//              starts a clock before all have ended the one before, as under BSP; s = infinity: ASP.
// Source:      Q. Ho et al., "More Effective Distributed ML via a Stale Synchronous Parallel Parameter
//              Server", NIPS 2013.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <set>

#include "sim/policy/synchronization/synchronization.hpp"

namespace paceline {
namespace {

struct SspParameters {
  std::int64_t staleness = 0;
};
void describe(Visitor& v, SspParameters& p) {
  v.required("staleness", p.staleness, Whole{0}, "iterations a worker may be ahead of the slowest");
}

class Ssp final : public SynchronizationPolicy {
 public:
  explicit Ssp(std::int64_t staleness) : staleness_(staleness) {}

  bool is_synchronous() const override { return false; }
  std::size_t gradients_per_update() const override { return 1; }

  void begin(std::span<const WorkerId> members) override {
    clocks_.clear();
    blocked_.clear();
    for (const WorkerId member : members) clocks_[member] = 0;
  }

  SynchronizationDecision on_gradient(WorkerId worker, Seconds) override {
    ++clocks_.at(worker);
    blocked_.insert(worker);
    SynchronizationDecision decision = release_who_may_go_on();
    decision.combine = {worker};
    return decision;
  }

  SynchronizationDecision on_leave(WorkerId worker, Seconds) override {
    clocks_.erase(worker);
    blocked_.erase(worker);
    return release_who_may_go_on();
  }

  // A newcomer counts from where the slowest is: nobody waits for iterations it was not there for.
  SynchronizationDecision on_join(WorkerId worker, Seconds) override {
    clocks_[worker] = slowest();
    return {.combine = {}, .drop = {}, .release = {worker}};
  }

 private:
  [[nodiscard]] std::int64_t slowest() const {
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (const auto& [worker, clock] : clocks_) least = std::min(least, clock);
    return clocks_.empty() ? 0 : least;
  }

  SynchronizationDecision release_who_may_go_on() {
    SynchronizationDecision decision;
    const std::int64_t least = slowest();
    for (const WorkerId worker : blocked_)
      if (clocks_.at(worker) - least <= staleness_) decision.release.push_back(worker);
    for (const WorkerId worker : decision.release) blocked_.erase(worker);
    return decision;
  }

  std::int64_t staleness_;
  std::map<WorkerId, std::int64_t> clocks_;  // iterations ended, by worker
  std::set<WorkerId> blocked_;               // have ended an iteration and not begun the next
};

}  // namespace

SynchronizationRule ssp_rule() {
  return {
      .word = "ssp",
      .description =
          "each gradient is an update, and a worker is at most `staleness` iterations ahead of the slowest",
      .parameters = Parameters::of<SspParameters>(),
      .decides_alike_on_every_server = true,
      .make = [](const Parameters& parameters) -> std::unique_ptr<SynchronizationPolicy> {
        return std::make_unique<Ssp>(parameters.as<SspParameters>().staleness);
      }};
}

}  // namespace paceline
