// How much each direction of each link carried over a whole job, and for how long it was the reason that
// something took longer.
//
// Models:      one direction of a link carries bytes; it is busy while a message transfers (its latency is
//              over), and saturated while the messages on it together get all of its capacity.
// Equation:    saturated when sum of rates >= capacity · (1 - 1e-9).
// Units:       bytes of messages that arrived; seconds; 0 <= saturated <= busy <= makespan.
// Assumptions: the rates are those of the timeline. The ideal one shares nothing: there, the times of
//              messages that overlap add up.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sim/cluster/routes.hpp"

namespace paceline {

struct LinkUse {
  std::string name;  // with its direction
  Bytes bytes;
  Seconds busy;
  Seconds saturated;
};

// LinkUse without a name, to be added up.
struct LinkTotals {
  Bytes carried;
  Seconds busy;
  Seconds saturated;
  LinkTotals& operator+=(const LinkTotals& other) {
    carried += other.carried;
    busy += other.busy;
    saturated += other.saturated;
    return *this;
  }
  friend LinkTotals operator-(const LinkTotals& a, const LinkTotals& b) {
    return {a.carried - b.carried, a.busy - b.busy, a.saturated - b.saturated};
  }
  friend LinkTotals operator*(double times, const LinkTotals& one) {
    return {times * one.carried, times * one.busy, times * one.saturated};
  }
};

// Both directions of edge e: 2e forward, 2e + 1 backward.
[[nodiscard]] inline std::size_t direction_index(Hop hop) {
  return 2 * hop.edge.value + (hop.forward ? 0 : 1);
}
[[nodiscard]] inline Hop direction(std::size_t index) {
  return {EdgeId{index / 2}, index % 2 == 0};
}

[[nodiscard]] inline bool is_saturated(double used, double capacity) {
  constexpr double tolerance = 1e-9;  // relative: what rounding may take from a full link
  return used >= capacity * (1.0 - tolerance);
}

[[nodiscard]] inline std::vector<LinkUse> with_names(const std::vector<LinkTotals>& totals,
                                                     const Network& network) {
  std::vector<LinkUse> named;
  for (std::size_t i = 0; i < totals.size(); ++i)
    named.push_back({network.name(direction(i)), totals[i].carried, totals[i].busy, totals[i].saturated});
  return named;
}

// Watches the directions that have messages on them, and only those: with 1024 workers few are in use at a
// time.
class LinkMeter {
 public:
  explicit LinkMeter(const Network& network) : directions_(2 * network.edges.size()) {}

  void message_starts(const Route& route) {
    for (const Hop& hop : route.hops) {
      Direction& direction = directions_[direction_index(hop)];
      if (direction.messages++ > 0) continue;
      direction.place = in_use_.size();
      in_use_.push_back(direction_index(hop));
    }
  }

  void message_arrives(const Route& route, Bytes size) {
    for (const Hop& hop : route.hops) {
      Direction& direction = directions_[direction_index(hop)];
      direction.totals.carried += size;
      if (--direction.messages > 0) continue;
      directions_[in_use_.back()].place = direction.place;
      in_use_[direction.place] = in_use_.back();
      in_use_.pop_back();
    }
  }
  // Time goes on by `duration`; `usage_of(i)` and `capacity_of(i)` of direction i held during it.
  template <class UsageOf, class CapacityOf>
  void advance(Seconds duration, const UsageOf& usage_of, const CapacityOf& capacity_of) {
    for (const std::size_t i : in_use_) {
      const double used = usage_of(i);
      if (used <= 0.0) continue;  // all its messages are in their latency
      directions_[i].totals.busy += duration;
      if (is_saturated(used, capacity_of(i))) directions_[i].totals.saturated += duration;
    }
  }
  [[nodiscard]] std::vector<LinkTotals> totals() const {
    std::vector<LinkTotals> all;
    for (const Direction& direction : directions_) all.push_back(direction.totals);
    return all;
  }

 private:
  struct Direction {
    LinkTotals totals;
    std::size_t messages = 0;
    std::size_t place = 0;  // in in_use_, while there are messages
  };
  std::vector<Direction> directions_;
  std::vector<std::size_t> in_use_;
};

}  // namespace paceline
