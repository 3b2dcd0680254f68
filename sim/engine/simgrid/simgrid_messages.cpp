#include "sim/engine/simgrid/simgrid_messages.hpp"

#include <cstdint>
#include <utility>

#include <simgrid/kernel/Timer.hpp>

namespace paceline {

namespace sg = simgrid::s4u;
using simgrid::kernel::timer::Timer;

SimGridMessages::SimGridMessages(JobNetwork& network)
    : network_(network), platform_(network), meter_(network.network()) {
  sg::Activity::on_completion_cb([this](const sg::Activity& activity) { completed(activity); });
  sg::Engine::on_time_advance_cb([this](double duration) { time_went_on(duration); });
}

const SimGridMessages::Channel& SimGridMessages::channel(NodeId from, NodeId to) {
  const auto [found, is_new] = channels_.try_emplace(from.value * network_.network().nodes.size() + to.value);
  if (is_new) {
    platform_.open_route(from, to);
    found->second = {platform_.host(from), platform_.host(to), &network_.route(from, to)};
  }
  return found->second;
}

void SimGridMessages::send(NodeId from, NodeId to, Bytes size, std::function<void()> on_arrival) {
  ++under_way_;
  if (from == to) {  // on one machine: no network
    Timer::set(sg::Engine::get_clock(), [this, on_arrival = std::move(on_arrival)] {
      --under_way_;
      if (!stopped_) on_arrival();
    });
    return;
  }
  const Channel& way = channel(from, to);
  if (sg::Actor::is_maestro()) return start(way, size, std::move(on_arrival));
  // SimGrid 3.32 signals completion only of messages that no actor created; the pump is one.
  Timer::set(sg::Engine::get_clock(), [this, &way, size, on_arrival = std::move(on_arrival)]() mutable {
    start(way, size, std::move(on_arrival));
  });
}

void SimGridMessages::start(const Channel& way, Bytes size, std::function<void()> on_arrival) {
  const sg::CommPtr comm = sg::Comm::sendto_init(way.from, way.to);
  comm->set_payload_size(static_cast<std::uint64_t>(size.value()));
  arrivals_.emplace(comm.get(), UnderWay{comm, &way, size, std::move(on_arrival)});
  meter_.message_starts(*way.route);
  comm->start();
}

void SimGridMessages::completed(const sg::Activity& activity) {
  const auto found = arrivals_.find(&activity);
  if (found == arrivals_.end()) return;
  const UnderWay arrived = std::move(found->second);
  arrivals_.erase(found);
  --under_way_;
  meter_.message_arrives(*arrived.channel->route, arrived.size);
  if (!stopped_) arrived.on_arrival();
}

void SimGridMessages::time_went_on(double duration) {
  if (stopped_) return;
  meter_.advance(
      Seconds{duration}, [this](std::size_t i) { return platform_.link(i)->get_usage(); },
      [this](std::size_t i) { return network_.capacity(direction(i).edge).value(); });
}

void SimGridMessages::update_bandwidths(const std::vector<EdgeId>& edges) {
  for (const EdgeId edge : edges) platform_.update_bandwidth(edge);
}

}  // namespace paceline
