#include "sim/engine/simgrid/simgrid_timeline.hpp"

#include <exception>
#include <utility>

#include <fmt/format.h>
#include <simgrid/kernel/Timer.hpp>
#include <simgrid/s4u.hpp>
#include <simgrid/version.h>

#include "sim/base/check.hpp"
#include "sim/engine/simgrid/simgrid_collectives.hpp"
#include "sim/engine/simgrid/simgrid_messages.hpp"

namespace paceline {

namespace sg = simgrid::s4u;
using simgrid::kernel::timer::Timer;

std::vector<std::string> simgrid_model(const NetworkModel& model) {
  std::vector<std::string> settings = {"network/model:CM02",
                                       fmt::format("network/TCP-gamma:{}", model.tcp_gamma.value()),
                                       fmt::format("network/crosstraffic:{}", model.cross_traffic ? 1 : 0),
                                       "network/optim:Full", "surf/precision:1e-13"};
  // SimGrid takes either these or a function of the message (simgrid_messages.cpp), not even ones beside it.
  if (model.segments.empty()) {
    settings.push_back(fmt::format("network/latency-factor:{}", model.latency_factor));
    settings.push_back(fmt::format("network/bandwidth-factor:{}", model.bandwidth_factor));
  }
  return settings;
}

std::vector<std::string> network_model_text(const NetworkModel& model) {
  std::vector<std::string> text = simgrid_model(model);
  if (model.segments.empty()) return text;
  const auto add = [&](Bytes from) {
    const MessageSegment factors = factors_of(model, from);
    text.push_back(fmt::format("messages from {} B on: latency factor {}, bandwidth factor {}", from.value(),
                               factors.latency_factor, factors.bandwidth_factor));
  };
  if (model.segments.front().from > Bytes{}) add(Bytes{});
  for (const MessageSegment& segment : model.segments) add(segment.from);
  return text;
}

std::string simgrid_version() {
  int major = 0;
  int minor = 0;
  int patch = 0;
  sg_version_get(&major, &minor, &patch);
  return fmt::format("{}.{}", major, minor);
}

struct SimGridTimeline::State {
  explicit State(const Cluster& cluster)
      : engine(create_engine(cluster.network.model)),
        network(cluster),
        messages(network),
        collectives(network, messages, [this](Occurrence occurrence) { happened(std::move(occurrence)); }) {}

  static std::unique_ptr<sg::Engine> create_engine(const NetworkModel& model) {
    check(!sg::Engine::is_initialized(), "SimGrid runs one simulation per process");
    int argc = 1;
    std::string name = "paceline";
    char* argv[] = {name.data(), nullptr};
    // Messages of SimGrid itself would mix with ours; what goes wrong in a simulation, the executor reports.
    xbt_log_control_set("root.thresh:critical");
    // A stall is a result with a name and a message of ours: SimGrid's report of a deadlock goes nowhere.
    xbt_log_control_set("ker_engine.app:file:/dev/null");
    auto created = std::make_unique<sg::Engine>(&argc, argv);
    for (const std::string& setting : simgrid_model(model)) sg::Engine::set_config(setting);
    return created;
  }

  // Events of one date gather here; the pump delivers them after SimGrid has completed everything at that
  // date.
  void happened(Occurrence occurrence) {
    if (ended) return;
    gathered.push_back(std::move(occurrence));
    if (pump && pump->is_suspended()) pump->resume();
  }

  void deliver_until_stop() {
    while (!ended && !failure) {
      if (gathered.empty()) {
        sg::this_actor::suspend();
        continue;
      }
      const std::vector<Occurrence> events = std::exchange(gathered, {});
      // An exception must not leave an actor: SimGrid would abort the process.
      try {
        ended = !deliver(Seconds{sg::Engine::get_clock()}, events);
      } catch (...) {
        failure = std::current_exception();
      }
    }
    messages.stop();
  }

  std::unique_ptr<sg::Engine> engine;
  JobNetwork network;
  SimGridMessages messages;
  SimGridCollectives collectives;
  sg::ActorPtr pump;
  std::vector<Occurrence> gathered;
  Deliver deliver;
  bool ended = false;
  std::exception_ptr failure;
};

SimGridTimeline::SimGridTimeline(const Cluster& cluster) : state_(std::make_unique<State>(cluster)) {}
SimGridTimeline::~SimGridTimeline() = default;

Seconds SimGridTimeline::now() const {
  return Seconds{sg::Engine::get_clock()};
}

void SimGridTimeline::at(Seconds date, Occurrence occurrence) {
  check(date >= now(), "an event is scheduled in the past");
  Timer::set(date.value(),
             [state = state_.get(), occurrence = std::move(occurrence)] { state->happened(occurrence); });
}

void SimGridTimeline::send(Endpoint from, Endpoint to, Bytes size, Occurrence arrival) {
  state_->collectives.something_else_happens();
  state_->messages.send(state_->network.node(from), state_->network.node(to), whole_bytes(size),
                        [state = state_.get(), arrival = std::move(arrival)] { state->happened(arrival); });
}

void SimGridTimeline::all_reduce(Transport algorithm, std::span<const WorkerId> members, Bytes size,
                                 Seconds undisturbed_until, Occurrence finish) {
  if (members.size() == 1) return at(now(), std::move(finish));
  state_->collectives.start(algorithm, members, size, undisturbed_until, std::move(finish));
}

void SimGridTimeline::set_bandwidth_factor(WorkerId worker, double factor) {
  const std::vector<EdgeId> changed = state_->network.set_bandwidth_factor(worker, factor);
  if (changed.empty()) return;
  state_->collectives.something_else_happens();
  state_->collectives.forget();
  state_->messages.update_bandwidths(changed);
}

std::vector<LinkUse> SimGridTimeline::link_use() const {
  std::vector<LinkTotals> totals = state_->messages.link_totals();
  const std::vector<LinkTotals> again = state_->collectives.link_totals();
  for (std::size_t i = 0; i < totals.size(); ++i) totals[i] += again[i];
  return with_names(totals, state_->network.network());
}

bool SimGridTimeline::run(const Deliver& deliver) {
  state_->deliver = deliver;
  state_->pump = sg::Actor::create("pump", state_->messages.any_host(),
                                   [state = state_.get()] { state->deliver_until_stop(); });
  state_->engine->run();
  if (state_->failure) std::rethrow_exception(state_->failure);
  return state_->ended;
}

}  // namespace paceline
