// The oracle: a priority queue of events, and every message as if it were alone on its route.
//
// Models:      messages and collectives (collective.hpp) on the network's routes, without sharing.
// Equation:    message of B bytes that no burst lets pass: f_L · L + B / r, with L the route's latency, f_L
//              the model's latency factor and r the rate alone (job_network.hpp). When a bandwidth changes
//              under way, what is left goes on at the new rate.
// Units:       seconds, bytes.
// Assumptions: no contention: messages that share a link do not slow each other down.
// Not modelled: everything a shared network does; compare with simgrid_timeline.hpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "sim/base/check.hpp"
#include "sim/cluster/cluster.hpp"
#include "sim/engine/collective.hpp"
#include "sim/engine/job_network.hpp"
#include "sim/engine/link_meter.hpp"
#include "sim/engine/timeline.hpp"

namespace paceline {

class IdealTimeline final : public Timeline {
 public:
  explicit IdealTimeline(const Cluster& cluster)
      : network_(cluster), use_(2 * network_.network().edges.size()) {}

  [[nodiscard]] Seconds now() const override { return now_; }
  void at(Seconds date, Occurrence occurrence) override {
    check(date >= now_, "an event is scheduled in the past");
    agenda_.emplace(date, occurrence);
  }
  void send(Endpoint from, Endpoint to, Bytes size, Occurrence arrival) override {
    send(network_.node(from), network_.node(to), whole_bytes(size),
         [this, arrival] { gathered_.push_back(arrival); });
  }
  void all_reduce(Transport algorithm, std::span<const WorkerId> members, Bytes size,
                  Seconds /*undisturbed_until*/, Occurrence finish) override {
    const CollectiveSchedule schedule(algorithm, members.size(), size);
    if (schedule.rounds() == 0) return at(now_, finish);
    const std::vector<NodeId>& order = network_.order(algorithm, members);
    const std::uint64_t id = next_collective_++;
    const auto start = [this, &order, id](const CollectiveRun::Message& message) {
      send(order[message.from], order[message.to], message.size,
           [this, id, message] { arrived(id, message); });
    };
    const auto added = collectives_.emplace(id, UnderWay{CollectiveRun(schedule, start), finish});
    added.first->second.run.begin();
  }
  [[nodiscard]] bool call_off(const BucketSummed& sum) override {
    return std::erase_if(collectives_, [&](const auto& one) { return is_of(sum, one.second.finish); }) > 0;
  }
  void set_bandwidth_factor(WorkerId worker, double factor) override {
    for (auto& [id, flight] : flights_) pass_time(flight);  // at the old capacities
    network_.set_bandwidth_factor(worker, factor);
    for (auto& [id, flight] : flights_) {
      agenda_.erase(flight.landing);
      flight.rate = network_.rate_alone(*flight.route, flight.size);
      schedule_landing(id, flight);
    }
  }
  [[nodiscard]] std::vector<LinkUse> link_use() const override {
    return with_names(use_, network_.network());
  }
  [[nodiscard]] bool run(const Deliver& deliver) override {
    while (!agenda_.empty()) {
      now_ = agenda_.begin()->first;
      while (!agenda_.empty() && agenda_.begin()->first == now_) {
        const auto next = agenda_.extract(agenda_.begin());
        if (const auto* occurrence = std::get_if<Occurrence>(&next.mapped())) {
          gathered_.push_back(*occurrence);
        } else {
          land(std::get<FlightId>(next.mapped()));
        }
      }
      const std::vector<Occurrence> occurrences = std::exchange(gathered_, {});
      if (!occurrences.empty() && !deliver(now_, occurrences)) return true;
    }
    return false;
  }

 private:
  using FlightId = std::uint64_t;
  using Agenda = std::multimap<Seconds, std::variant<Occurrence, FlightId>>;
  // A message under way.
  struct Flight {
    const Route* route;
    Bytes size;
    Bytes left;     // at `since`
    Seconds since;  // before it, latency; from it on, the transfer at `rate`
    BytesPerSecond rate;
    Agenda::iterator landing;
    std::function<void()> on_arrival;
  };
  struct UnderWay {
    CollectiveRun run;
    Occurrence finish;
  };

  void send(NodeId from, NodeId to, Bytes size, std::function<void()> on_arrival) {
    const Route& route = network_.route(from, to);
    const FlightId id = next_flight_++;
    Flight& flight = flights_[id];
    flight = {&route,
              size,
              network_.take_burst(now_, route, size),
              now_ + network_.latency(route, size),
              network_.rate_alone(route, size),
              {},
              std::move(on_arrival)};
    schedule_landing(id, flight);
  }
  void schedule_landing(FlightId id, Flight& flight) {
    flight.landing = agenda_.emplace(flight.since + flight.left / flight.rate, id);
  }
  // Books the transfer from `since` to now.
  void pass_time(Flight& flight) {
    if (now_ <= flight.since) return;
    const Seconds duration = now_ - flight.since;
    const double share =
        flight.rate.value() /
        factors_of(network_.model(), flight.size).bandwidth_factor;  // of each link's capacity
    for (const Hop& hop : flight.route->hops) {
      LinkTotals& use = use_[direction_index(hop)];
      use.busy += duration;
      if (is_saturated(share, network_.capacity(hop.edge).value())) use.saturated += duration;
    }
    flight.left = std::max(Bytes{0.0}, flight.left - Bytes{flight.rate.value() * duration.value()});
    flight.since = now_;
  }
  void land(FlightId id) {
    const auto found = flights_.find(id);
    Flight flight = std::move(found->second);
    flights_.erase(found);
    pass_time(flight);
    for (const Hop& hop : flight.route->hops) use_[direction_index(hop)].carried += flight.size;
    flight.on_arrival();
  }
  void arrived(std::uint64_t collective, const CollectiveRun::Message& message) {
    const auto found = collectives_.find(collective);
    if (found == collectives_.end()) return;  // called off
    if (!found->second.run.arrived(message.from, message.to)) return;
    gathered_.push_back(found->second.finish);
    collectives_.erase(found);
  }

  JobNetwork network_;
  Seconds now_;
  Agenda agenda_;
  std::map<FlightId, Flight> flights_;
  FlightId next_flight_ = 0;
  std::map<std::uint64_t, UnderWay> collectives_;
  std::uint64_t next_collective_ = 0;
  std::vector<Occurrence> gathered_;
  std::vector<LinkTotals> use_;
};

}  // namespace paceline
