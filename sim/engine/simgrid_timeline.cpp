#include "sim/engine/simgrid_timeline.hpp"

#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <simgrid/kernel/Timer.hpp>
#include <simgrid/s4u.hpp>
#include <simgrid/version.h>

#include "sim/base/check.hpp"
#include "sim/engine/star_platform.hpp"

namespace paceline {
namespace {

namespace sg = simgrid::s4u;
using simgrid::kernel::timer::Timer;

// Progress of one ring all-reduce. Member i sends its chunk of round k to member i+1 (mod n).
struct Ring {
  std::vector<sg::Host*> members;
  Bytes chunk;
  std::vector<std::size_t> sent;      // rounds whose chunk member i has finished sending
  std::vector<std::size_t> received;  // rounds whose chunk member i has received
  std::size_t messages_left = 0;
  Occurrence finish;
};

}  // namespace

std::vector<std::string> simgrid_model() {
  return {"network/model:CM02",       "network/TCP-gamma:0",        "network/crosstraffic:0",
          "network/latency-factor:1", "network/bandwidth-factor:1", "network/optim:Full",
          "surf/precision:1e-13"};
}

std::string simgrid_version() {
  int major = 0;
  int minor = 0;
  int patch = 0;
  sg_version_get(&major, &minor, &patch);
  return fmt::format("{}.{}", major, minor);
}

struct SimGridTimeline::State {
  explicit State(const Cluster& cluster) : engine(create_engine()), platform(build_star(cluster)) {}

  static std::unique_ptr<sg::Engine> create_engine() {
    check(!sg::Engine::is_initialized(), "SimGrid runs one simulation per process");
    int argc = 1;
    std::string name = "paceline";
    char* argv[] = {name.data(), nullptr};
    // Messages of SimGrid itself would mix with ours; what goes wrong in a simulation, the executor reports.
    xbt_log_control_set("root.thresh:critical");
    auto created = std::make_unique<sg::Engine>(&argc, argv);
    for (const std::string& setting : simgrid_model()) sg::Engine::set_config(setting);
    return created;
  }

  sg::Host* host(Endpoint endpoint) const {
    if (const auto* worker = std::get_if<WorkerId>(&endpoint)) return platform.workers.at(worker->value);
    return platform.server;
  }

  // Events of one date gather here; the pump delivers them after SimGrid has completed everything at that date.
  void happened(Occurrence occurrence) {
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
  }

  void send(sg::Host* from, sg::Host* to, Bytes size, std::function<void()> on_arrival) {
    // SimGrid 3.32 signals completion only of messages that no actor created; the pump is one.
    if (!sg::Actor::is_maestro()) {
      Timer::set(sg::Engine::get_clock(), [this, from, to, size, on_arrival = std::move(on_arrival)] {
        send(from, to, size, on_arrival);
      });
      return;
    }
    const sg::CommPtr comm = sg::Comm::sendto_init(from, to);
    comm->set_payload_size(static_cast<std::uint64_t>(size.value()));
    arrivals.emplace(comm.get(), Arrival{comm, std::move(on_arrival)});
    comm->start();
  }

  void completed(const sg::Activity& activity) {
    const auto found = arrivals.find(&activity);
    if (found == arrivals.end()) return;
    const Arrival arrival = std::move(found->second);
    arrivals.erase(found);
    if (!ended) arrival.on_arrival();
  }

  void start_round(const std::shared_ptr<Ring>& ring, std::size_t member, std::size_t round) {
    const std::size_t next = (member + 1) % ring->members.size();
    send(ring->members[member], ring->members[next], ring->chunk, [this, ring, member, next, round] {
      ring->sent[member] = round + 1;
      ring->received[next] = round + 1;
      if (--ring->messages_left == 0) return happened(ring->finish);
      // A member goes on once it has both sent and received this round; either of two members may now be able to.
      continue_ring(ring, member, round);
      if (next != member) continue_ring(ring, next, round);
    });
  }

  void continue_ring(const std::shared_ptr<Ring>& ring, std::size_t member, std::size_t round) {
    const std::size_t rounds = 2 * (ring->members.size() - 1);
    const bool round_over = ring->sent[member] == round + 1 && ring->received[member] == round + 1;
    if (round_over && round + 1 < rounds) start_round(ring, member, round + 1);
  }

  struct Arrival {
    sg::CommPtr keep_alive;
    std::function<void()> on_arrival;
  };

  std::unique_ptr<sg::Engine> engine;
  StarPlatform platform;
  sg::ActorPtr pump;
  std::vector<Occurrence> gathered;
  std::map<const sg::Activity*, Arrival> arrivals;  // looked up only, never iterated
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
  Timer::set(date.value(), [state = state_.get(), occurrence = std::move(occurrence)] {
    if (!state->ended) state->happened(occurrence);
  });
}

void SimGridTimeline::send(Endpoint from, Endpoint to, Bytes size, Occurrence arrival) {
  state_->send(state_->host(from), state_->host(to), size,
               [state = state_.get(), arrival = std::move(arrival)] { state->happened(arrival); });
}

void SimGridTimeline::ring_all_reduce(std::span<const WorkerId> members, Bytes size, Occurrence finish) {
  if (members.size() == 1) return at(now(), std::move(finish));
  const std::size_t n = members.size();
  const auto ring = std::make_shared<Ring>(Ring{.members = {},
                                                .chunk = ring_chunk(size, n),
                                                .sent = std::vector<std::size_t>(n, 0),
                                                .received = std::vector<std::size_t>(n, 0),
                                                .messages_left = n * 2 * (n - 1),
                                                .finish = std::move(finish)});
  for (const WorkerId member : members) ring->members.push_back(state_->platform.workers.at(member.value));
  for (std::size_t i = 0; i < n; ++i) state_->start_round(ring, i, 0);
}

void SimGridTimeline::set_bandwidth_factor(WorkerId, double) {}

bool SimGridTimeline::run(const Deliver& deliver) {
  state_->deliver = deliver;
  state_->pump = sg::Actor::create("pump", state_->platform.server,
                                   [state = state_.get()] { state->deliver_until_stop(); });
  const auto on_completion = [state = state_.get()](const sg::Activity& activity) {
    state->completed(activity);
  };
  sg::Activity::on_completion_cb(on_completion);
  state_->engine->run();
  if (state_->failure) std::rethrow_exception(state_->failure);
  return state_->ended;
}

}  // namespace paceline
