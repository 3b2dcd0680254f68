// Asynchronous parallel: every gradient is an update of its own, and nobody waits for anybody.
#include "sim/policy/synchronization_factories.hpp"

namespace paceline {
namespace {

class Asp final : public SynchronizationPolicy {
 public:
  bool is_synchronous() const override { return false; }
  std::size_t gradients_per_update() const override { return 1; }
  void begin(std::span<const WorkerId>) override {}
  SynchronizationDecision on_gradient(WorkerId worker) override {
    return {.combine = {worker}, .drop = {}, .release = {worker}};
  }
  SynchronizationDecision on_leave(WorkerId) override { return {}; }
  SynchronizationDecision on_join(WorkerId worker) override {
    return {.combine = {}, .drop = {}, .release = {worker}};
  }
};

}  // namespace

std::unique_ptr<SynchronizationPolicy> make_asp() {
  return std::make_unique<Asp>();
}

}  // namespace paceline
