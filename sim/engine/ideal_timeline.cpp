#include "sim/engine/ideal_timeline.hpp"

#include <algorithm>
#include <cmath>

#include "sim/base/check.hpp"

namespace paceline {

Bytes ring_chunk(Bytes size, std::size_t members) {
  return Bytes{std::ceil(size.value() / static_cast<double>(members))};
}

IdealTimeline::IdealTimeline(const Cluster& cluster) : network_(cluster.network) {}

void IdealTimeline::at(Seconds date, Occurrence occurrence) {
  check(date >= now_, "an event is scheduled in the past");
  agenda_.emplace(date, std::move(occurrence));
}

void IdealTimeline::send(Endpoint from, Endpoint to, Bytes size, Occurrence arrival) {
  const bool with_server = std::holds_alternative<ServerId>(from) || std::holds_alternative<ServerId>(to);
  const BytesPerSecond bandwidth =
      with_server ? std::min(network_.bandwidth, network_.server_bandwidth) : network_.bandwidth;
  at(now_ + network_.latency + size / bandwidth, std::move(arrival));
}

void IdealTimeline::ring_all_reduce(std::span<const WorkerId> members, Bytes size, Occurrence finish) {
  const double rounds = 2.0 * static_cast<double>(members.size() - 1);
  const Seconds round = network_.latency + ring_chunk(size, members.size()) / network_.bandwidth;
  at(now_ + rounds * round, std::move(finish));
}

void IdealTimeline::set_bandwidth_factor(WorkerId, double) {}

bool IdealTimeline::run(const Deliver& deliver) {
  while (!agenda_.empty()) {
    now_ = agenda_.begin()->first;
    std::vector<Occurrence> events;
    const auto end = agenda_.upper_bound(now_);
    for (auto it = agenda_.begin(); it != end; ++it) events.push_back(std::move(it->second));
    agenda_.erase(agenda_.begin(), end);
    if (!deliver(now_, events)) return true;
  }
  return false;
}

}  // namespace paceline
