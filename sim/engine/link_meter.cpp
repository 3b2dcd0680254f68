#include "sim/engine/link_meter.hpp"

namespace paceline {

std::vector<LinkUse> with_names(const std::vector<LinkTotals>& totals, const Network& network) {
  std::vector<LinkUse> named;
  for (std::size_t i = 0; i < totals.size(); ++i)
    named.push_back({network.name(direction(i)), totals[i].carried, totals[i].busy, totals[i].saturated});
  return named;
}

void LinkMeter::message_starts(const Route& route) {
  for (const Hop& hop : route.hops) {
    Direction& direction = directions_[direction_index(hop)];
    if (direction.messages++ > 0) continue;
    direction.place = in_use_.size();
    in_use_.push_back(direction_index(hop));
  }
}

void LinkMeter::message_arrives(const Route& route, Bytes size) {
  for (const Hop& hop : route.hops) {
    Direction& direction = directions_[direction_index(hop)];
    direction.totals.carried += size;
    if (--direction.messages > 0) continue;
    directions_[in_use_.back()].place = direction.place;
    in_use_[direction.place] = in_use_.back();
    in_use_.pop_back();
  }
}

std::vector<LinkTotals> LinkMeter::totals() const {
  std::vector<LinkTotals> all;
  for (const Direction& direction : directions_) all.push_back(direction.totals);
  return all;
}

}  // namespace paceline
