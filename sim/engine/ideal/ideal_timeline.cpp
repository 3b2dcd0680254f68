#include "sim/engine/ideal/ideal_timeline.hpp"

#include <algorithm>

#include "sim/base/check.hpp"

namespace paceline {

IdealTimeline::IdealTimeline(const Cluster& cluster)
    : network_(cluster), use_(2 * network_.network().edges.size()) {}

void IdealTimeline::at(Seconds date, Occurrence occurrence) {
  check(date >= now_, "an event is scheduled in the past");
  agenda_.emplace(date, std::move(occurrence));
}

void IdealTimeline::send(Endpoint from, Endpoint to, Bytes size, Occurrence arrival) {
  send(network_.node(from), network_.node(to), whole_bytes(size),
       [this, arrival = std::move(arrival)] { gathered_.push_back(arrival); });
}

void IdealTimeline::send(NodeId from, NodeId to, Bytes size, std::function<void()> on_arrival) {
  const Route& route = network_.route(from, to);
  const FlightId id = next_flight_++;
  Flight& flight = flights_[id];
  flight = {&route,
            size,
            size,
            now_ + network_.latency(route, size),
            network_.rate_alone(route, size),
            {},
            std::move(on_arrival)};
  schedule_landing(id, flight);
}

void IdealTimeline::schedule_landing(FlightId id, Flight& flight) {
  flight.landing = agenda_.emplace(flight.since + flight.left / flight.rate, id);
}

// Books the transfer from `since` to now.
void IdealTimeline::pass_time(Flight& flight) {
  if (now_ <= flight.since) return;
  const Seconds duration = now_ - flight.since;
  const double share = flight.rate.value() /
                       factors_of(network_.model(), flight.size).bandwidth_factor;  // of each link's capacity
  for (const Hop& hop : flight.route->hops) {
    LinkTotals& use = use_[direction_index(hop)];
    use.busy += duration;
    if (is_saturated(share, network_.capacity(hop.edge).value())) use.saturated += duration;
  }
  flight.left = std::max(Bytes{0.0}, flight.left - Bytes{flight.rate.value() * duration.value()});
  flight.since = now_;
}

void IdealTimeline::land(FlightId id) {
  const auto found = flights_.find(id);
  Flight flight = std::move(found->second);
  flights_.erase(found);
  pass_time(flight);
  for (const Hop& hop : flight.route->hops) use_[direction_index(hop)].carried += flight.size;
  flight.on_arrival();
}

void IdealTimeline::set_bandwidth_factor(WorkerId worker, double factor) {
  for (auto& [id, flight] : flights_) pass_time(flight);  // at the old capacities
  network_.set_bandwidth_factor(worker, factor);
  for (auto& [id, flight] : flights_) {
    agenda_.erase(flight.landing);
    flight.rate = network_.rate_alone(*flight.route, flight.size);
    schedule_landing(id, flight);
  }
}

void IdealTimeline::all_reduce(Transport algorithm, std::span<const WorkerId> members, Bytes size, Seconds,
                               Occurrence finish) {
  const CollectiveSchedule schedule(algorithm, members.size(), size);
  if (schedule.rounds() == 0) return at(now_, std::move(finish));
  const std::vector<NodeId>& order = network_.order(algorithm, members);
  const std::uint64_t id = next_collective_++;
  const auto start = [this, &order, id](const CollectiveRun::Message& message) {
    send(order[message.from], order[message.to], message.size, [this, id, message] { arrived(id, message); });
  };
  const auto added = collectives_.emplace(id, UnderWay{CollectiveRun(schedule, start), std::move(finish)});
  added.first->second.run.begin();
}

void IdealTimeline::arrived(std::uint64_t collective, const CollectiveRun::Message& message) {
  const auto found = collectives_.find(collective);
  if (!found->second.run.arrived(message.from, message.to)) return;
  gathered_.push_back(std::move(found->second.finish));
  collectives_.erase(found);
}

std::vector<LinkUse> IdealTimeline::link_use() const {
  return with_names(use_, network_.network());
}

bool IdealTimeline::run(const Deliver& deliver) {
  while (!agenda_.empty()) {
    now_ = agenda_.begin()->first;
    while (!agenda_.empty() && agenda_.begin()->first == now_) {
      const auto next = agenda_.extract(agenda_.begin());
      if (auto* occurrence = std::get_if<Occurrence>(&next.mapped())) {
        gathered_.push_back(std::move(*occurrence));
      } else {
        land(std::get<FlightId>(next.mapped()));
      }
    }
    const std::vector<Occurrence> occurrences = std::exchange(gathered_, {});
    if (!occurrences.empty() && !deliver(now_, occurrences)) return true;
  }
  return false;
}

}  // namespace paceline
