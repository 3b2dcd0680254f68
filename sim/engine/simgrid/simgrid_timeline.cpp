#include "sim/engine/simgrid/simgrid_timeline.hpp"

#include <exception>
#include <utility>

#include <fmt/format.h>
#include <simgrid/kernel/Timer.hpp>
#include <simgrid/s4u.hpp>
#include <simgrid/version.h>

#include "sim/base/check.hpp"
#include "sim/engine/collectives.hpp"
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

std::vector<std::string> network_model_text(NetworkEngine engine, const NetworkModel& model) {
  std::vector<std::string> text{fmt::format("engine:{}", to_string(engine))};
  for (std::string& setting : simgrid_model(model)) text.push_back(std::move(setting));
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

namespace {

std::unique_ptr<sg::Engine> create_engine(const NetworkModel& model) {
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

class SimGridTimeline final : public Timeline, private CollectiveCarrier {
 public:
  SimGridTimeline(const Cluster& cluster, Shortcuts shortcuts)
      : engine_(create_engine(cluster.network.model)),
        network_(cluster),
        messages_(network_),
        collectives_(network_, *this, shortcuts) {
    check(!why_not_simgrid(cluster.servers), "servers that SimGrid's timeline does not model");
  }

  Seconds now() const override { return Seconds{sg::Engine::get_clock()}; }

  void at(Seconds date, Occurrence occurrence) override {
    check(date >= now(), "an event is scheduled in the past");
    Timer::set(date.value(), [this, occurrence] { happened(occurrence); });
  }

  void send(Endpoint from, Endpoint to, Bytes size, Occurrence arrival) override {
    collectives_.something_else_happens();
    messages_.send(network_.node(from), network_.node(to), whole_bytes(size),
                   [this, arrival] { happened(arrival); });
  }

  void all_reduce(Transport algorithm, std::span<const WorkerId> members, Bytes size,
                  Seconds undisturbed_until, Occurrence finish) override {
    if (members.size() == 1) return at(now(), finish);
    collectives_.start(algorithm, members, size, undisturbed_until, finish);
  }

  bool call_off(const BucketSummed& sum) override { return collectives_.call_off(sum); }

  void set_bandwidth_factor(WorkerId worker, double factor) override {
    const std::vector<EdgeId> changed = network_.set_bandwidth_factor(worker, factor);
    if (changed.empty()) return;
    collectives_.something_else_happens();
    collectives_.forget();
    messages_.update_bandwidths(changed);
  }

  std::vector<LinkUse> link_use() const override {
    std::vector<LinkTotals> totals = messages_.link_totals();
    const std::vector<LinkTotals> again = collectives_.link_totals();
    for (std::size_t i = 0; i < totals.size(); ++i) totals[i] += again[i];
    return with_names(totals, network_.network());
  }

  bool run(const Deliver& deliver) override {
    deliver_ = deliver;
    pump_ = sg::Actor::create("pump", messages_.any_host(), [this] { deliver_until_stop(); });
    engine_->run();
    if (failure_) std::rethrow_exception(failure_);
    return ended_;
  }

 private:
  // Events of one date gather here; the pump delivers them after SimGrid has completed everything at that
  // date.
  void happened(Occurrence occurrence) override {
    if (ended_) return;
    gathered_.push_back(occurrence);
    if (pump_ && pump_->is_suspended()) pump_->resume();
  }

  void send(NodeId from, NodeId to, const CollectiveMessage& message) override {
    messages_.send(from, to, message.message.size, [this, message] { collectives_.arrived(message); });
  }
  // A timer fires after everything that completes at its date.
  void call_at(Seconds date, const CollectiveCall& call) override {
    Timer::set(date.value(), [this, call] { collectives_.called(call); });
  }
  std::size_t messages_under_way() const override { return messages_.under_way(); }
  std::vector<LinkTotals> message_totals() const override { return messages_.link_totals(); }

  void deliver_until_stop() {
    while (!ended_ && !failure_) {
      if (gathered_.empty()) {
        sg::this_actor::suspend();
        continue;
      }
      const std::vector<Occurrence> events = std::exchange(gathered_, {});
      // An exception must not leave an actor: SimGrid would abort the process.
      try {
        ended_ = !deliver_(now(), events);
      } catch (...) {
        failure_ = std::current_exception();
      }
    }
    messages_.stop();
  }

  std::unique_ptr<sg::Engine> engine_;
  JobNetwork network_;
  SimGridMessages messages_;
  Collectives collectives_;
  sg::ActorPtr pump_;
  std::vector<Occurrence> gathered_;
  Deliver deliver_;
  bool ended_ = false;
  std::exception_ptr failure_;
};

}  // namespace

std::unique_ptr<Timeline> make_simgrid_timeline(const Cluster& cluster, Shortcuts shortcuts) {
  return std::make_unique<SimGridTimeline>(cluster, shortcuts);
}

}  // namespace paceline
