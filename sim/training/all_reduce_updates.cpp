// No server decides: all workers together sum their gradients, and each of them takes the step on its own copy.
#include <algorithm>

#include "sim/training/update_strategy.hpp"

namespace paceline {
namespace {

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

}  // namespace

std::unique_ptr<UpdateStrategy> all_reduce_updates(Transport transport, std::size_t servers) {
  return std::make_unique<AllReduceUpdates>(transport, servers);
}

}  // namespace paceline
