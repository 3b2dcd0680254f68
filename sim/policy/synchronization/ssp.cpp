// Stale synchronous parallel: a worker may be at most `staleness` iterations ahead of the slowest; in its
// dynamic form the fastest goes on, up to `staleness_maximum` ahead, as far as its waiting is predicted to be
// shortest.
//
// Equation:    every gradient is an update. A worker's clock c_w counts its iterations; it starts clock c
//              only if c - min_k c_k <= s_L, otherwise it waits until the slowest has caught up. s_L = 0:
//              nobody starts a clock before all have ended the one before, as under BSP; infinity: ASP.
//              dssp: further ahead the fastest worker p is granted r* iterations,
//                r* = argmin_r min_k |(A_p + r·I_p) − (A_s + (k + 1)·I_s)|,  r, k = 0 … r_max,
//              r_max = s_U − s_L, A the time of the latest push of p and of the slowest worker s, I the time
//              between their two latest pushes: p comes to wait where a push of s is expected soonest. The
//              smallest of equally good r. With s_U = s_L nothing is granted: ssp.
// Assumptions: no grant without two pushes of both. The iteration that a grant begins at once is the first of
//              the r*, so that p waits at the predicted A_p + r*·I_p; Algorithm 1 does not count it. A grant
//              made while an earlier one has used part of the range is cut to what is left: nobody starts
//              further ahead than s_U.
// Source:      ssp: Q. Ho et al., "More Effective Distributed ML via a Stale Synchronous Parallel Parameter
//              Server", NIPS 2013; dssp: Zhao et al., "Dynamic Stale Synchronous Parallel Distributed
//              Training for Deep Learning", ICDCS 2019, Algorithms 1 and 2.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "sim/policy/synchronization/synchronization.hpp"

namespace paceline {
namespace {

struct SspParameters {
  std::int64_t staleness = 0;
};
void describe(Visitor& v, SspParameters& p) {
  v.required("staleness", p.staleness, Whole{0}, "iterations a worker may be ahead of the slowest");
}

struct DsspParameters {
  SspParameters least{};               // s_L
  std::int64_t staleness_maximum = 0;  // s_U
};
void describe(Visitor& v, DsspParameters& p) {
  describe(v, p.least);
  v.required("staleness_maximum", p.staleness_maximum, Whole{0, 1000},
             "iterations the fastest worker may be ahead where that shortens its waiting");
}

struct PushHistory {
  std::int64_t clock = 0;  // iterations ended
  std::int64_t granted = 0;
  bool is_waiting = false;
  std::optional<Seconds> latest{};
  std::optional<Seconds> interval{};  // between the two latest pushes
};

constexpr double equally_good = 1e-9;  // of a date

// r* of at most `most`.
std::int64_t best_grant(const PushHistory& fastest, const PushHistory& slowest, std::int64_t range,
                        std::int64_t most) {
  if (!fastest.interval || !slowest.interval) return 0;
  const auto push_after = [](const PushHistory& worker, std::int64_t intervals) {
    return (worker.latest.value() + static_cast<double>(intervals) * worker.interval.value()).value();
  };
  std::int64_t best = 0;
  double least_s = std::numeric_limits<double>::infinity();
  for (std::int64_t r = 0; r <= most; ++r) {
    const double own_s = push_after(fastest, r);
    for (std::int64_t k = 0; k <= range; ++k) {
      const double push_s = push_after(slowest, k + 1);
      // Who waits for the slowest pushes as often as it: what sums leave in the last digits must not decide.
      if (std::abs(own_s - push_s) >= least_s - equally_good * push_s) continue;
      least_s = std::abs(own_s - push_s);
      best = r;
    }
  }
  return best;
}

class StaleSynchronous final : public SynchronizationPolicy {
 public:
  explicit StaleSynchronous(const SspParameters& parameters)
      : StaleSynchronous({parameters, parameters.staleness}) {}
  explicit StaleSynchronous(const DsspParameters& parameters)
      : staleness_(parameters.least.staleness), maximum_(parameters.staleness_maximum) {}

  bool is_synchronous() const override { return false; }
  std::size_t gradients_per_update() const override { return 1; }

  void begin(std::span<const WorkerId> members) override {
    workers_.clear();
    for (const WorkerId member : members) workers_[member] = {};
  }

  SynchronizationDecision on_gradient(WorkerId id, Seconds now) override {
    PushHistory& worker = workers_.at(id);
    ++worker.clock;
    if (worker.latest) worker.interval = now - *worker.latest;
    worker.latest = now;
    worker.is_waiting = true;
    if (worker.granted == 0) worker.granted = grant(worker);
    SynchronizationDecision decision = release_who_may_go_on();
    decision.combine = {id};
    return decision;
  }

  SynchronizationDecision on_leave(WorkerId worker, Seconds) override {
    workers_.erase(worker);
    return release_who_may_go_on();
  }

  // A newcomer counts from where the slowest is: nobody waits for iterations it was not there for.
  SynchronizationDecision on_join(WorkerId worker, Seconds) override {
    const std::int64_t clock = workers_.empty() ? 0 : slowest().clock;  // before it is one of them
    workers_[worker] = {.clock = clock};
    return {.release = {worker}};
  }

 private:
  static std::int64_t clock_of(const std::pair<const WorkerId, PushHistory>& worker) {
    return worker.second.clock;
  }
  [[nodiscard]] const PushHistory& slowest() const {
    return std::ranges::min_element(workers_, {}, clock_of)->second;
  }

  [[nodiscard]] std::int64_t grant(const PushHistory& worker) const {
    if (maximum_ == staleness_) return 0;
    const std::int64_t ahead = worker.clock - slowest().clock;
    const std::int64_t furthest = clock_of(*std::ranges::max_element(workers_, {}, clock_of));
    if (ahead <= staleness_ || worker.clock < furthest) return 0;
    return best_grant(worker, slowest(), maximum_ - staleness_, maximum_ + 1 - ahead);
  }

  SynchronizationDecision release_who_may_go_on() {
    SynchronizationDecision decision;
    if (workers_.empty()) return decision;
    const std::int64_t least = slowest().clock;
    for (auto& [id, worker] : workers_) {
      if (!worker.is_waiting || (worker.clock - least > staleness_ && worker.granted == 0)) continue;
      if (worker.granted > 0) --worker.granted;
      worker.is_waiting = false;
      decision.release.push_back(id);
    }
    return decision;
  }

  std::int64_t staleness_;
  std::int64_t maximum_;
  std::map<WorkerId, PushHistory> workers_;
};

}  // namespace

SynchronizationRule ssp_rule() {
  return {
      .word = "ssp",
      .description =
          "each gradient is an update, and a worker is at most `staleness` iterations ahead of the slowest",
      .parameters = Parameters::of<SspParameters>(),
      .decides_alike_on_every_server = true,
      .make = make_policy<StaleSynchronous, SspParameters>};
}

SynchronizationRule dssp_rule() {
  return {
      .word = "dssp",
      .description =
          "as ssp, but the fastest worker may be up to `staleness_maximum` iterations ahead "
          "where its waiting is predicted to be shortest",
      .parameters = Parameters::of<DsspParameters>(),
      .decides_alike_on_every_server = true,
      .complaint = [](const Parameters& parameters, std::int64_t) -> std::optional<Complaint> {
        const auto& [least, maximum] = parameters.as<DsspParameters>();
        if (least.staleness <= maximum) return std::nullopt;
        return Complaint{"staleness_maximum", fmt::format("`staleness` ({}) is above it", least.staleness)};
      },
      .make = make_policy<StaleSynchronous, DsspParameters>};
}

}  // namespace paceline
