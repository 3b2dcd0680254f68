#include "sim/training/update_strategy.hpp"

#include <algorithm>

namespace paceline {
namespace {

// No server decides: all workers together sum their gradients, and each of them takes the step on its own
// copy.
class AllReduceUpdates final : public UpdateStrategy {
 public:
  AllReduceUpdates(Transport transport, std::size_t servers) : transport_(transport), servers_(servers) {}

  std::size_t deciders() const override { return 1; }
  Onward after_computing() const override { return Onward::combine; }
  std::optional<Action> gather(WorkerId, ServerId) const override { return std::nullopt; }
  Action begin(UpdateId update, ServerId, const std::vector<WorkerId>& workers) const override {
    return AllReduce{update, workers, transport_};
  }
  ShardRange shards_of(ServerId) const override { return {0, servers_}; }
  // Everybody has taken the same step.
  bool parameters_travel() const override { return false; }
  // Whoever joins gets them from another member.
  std::size_t send_parameters(WorkerId to, GradientId gradient, const Workers& workers,
                              Actions& actions) const override {
    const std::vector<WorkerId> members = workers.members();
    const auto source = std::ranges::find_if(members, [&](WorkerId other) { return other != to; });
    if (source == members.end()) return 0;
    actions.emplace_back(SendParameters{to, gradient, ServerId{0}, *source});
    return 1;
  }

 private:
  Transport transport_;
  std::size_t servers_;
};

// Parameter servers, each with its shard.
class ServerUpdates : public UpdateStrategy {
 public:
  explicit ServerUpdates(std::size_t servers) : servers_(servers) {}

  std::size_t deciders() const override { return servers_; }
  Onward after_computing() const override { return Onward::send; }
  std::optional<Action> gather(WorkerId worker, ServerId server) const override {
    return Accumulate{worker, server};
  }
  Action begin(UpdateId update, ServerId server, const std::vector<WorkerId>& workers) const override {
    return Step{update, server, workers, false};
  }
  ShardRange shards_of(ServerId server) const override { return {server.value, server.value + 1}; }
  bool parameters_travel() const override { return true; }
  std::size_t send_parameters(WorkerId to, GradientId gradient, const Workers&,
                              Actions& actions) const override {
    for (std::uint64_t s = 0; s < servers_; ++s)
      actions.emplace_back(SendParameters{to, gradient, ServerId{s}, std::nullopt});
    return servers_;
  }

 private:
  std::size_t servers_;
};

class ParameterExchange final : public ServerUpdates {
 public:
  using ServerUpdates::ServerUpdates;

  Onward after_computing() const override { return Onward::local_step; }
  Action begin(UpdateId update, ServerId server, const std::vector<WorkerId>& workers) const override {
    return Step{update, server, workers, true};
  }
  // The last writer wins.
  Action change(Apply step) const override {
    return Overwrite{step.update, step.server, step.completes_update, step.gradients.front()};
  }
  bool pulls(bool an_epoch_has_passed) const override { return an_epoch_has_passed; }
};

}  // namespace

std::unique_ptr<UpdateStrategy> make_update_strategy(const PhaseConfig& phase, std::size_t servers) {
  if (phase.transport != Transport::server)
    return std::make_unique<AllReduceUpdates>(phase.transport, servers);
  if (phase.exchange == Exchange::parameters) return std::make_unique<ParameterExchange>(servers);
  return std::make_unique<ServerUpdates>(servers);
}

}  // namespace paceline
