// Parameter servers, each with its shard: what workers send them is gradients, or parameters.
#include "sim/training/update_strategy.hpp"

namespace paceline {
namespace {

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

std::unique_ptr<UpdateStrategy> server_updates(std::size_t servers) {
  return std::make_unique<ServerUpdates>(servers);
}

std::unique_ptr<UpdateStrategy> parameter_exchange(std::size_t servers) {
  return std::make_unique<ParameterExchange>(servers);
}

std::unique_ptr<UpdateStrategy> make_update_strategy(const PhaseConfig& phase, std::size_t servers) {
  if (phase.transport != Transport::server) return all_reduce_updates(phase.transport, servers);
  return phase.exchange == Exchange::parameters ? parameter_exchange(servers) : server_updates(servers);
}

}  // namespace paceline
