// Asynchronous parallel: every gradient is an update of its own, and nobody waits for anybody.
#include "sim/policy/synchronization_factories.hpp"

namespace paceline {
namespace {

class Asp final : public SynchronizationPolicy {
 public:
  void begin(std::span<const WorkerId>) override {}
  SynchronizationDecision on_gradient(WorkerId worker) override {
    return {.combine = {worker}, .release = {worker}};
  }
};

}  // namespace

std::unique_ptr<SynchronizationPolicy> make_asp() {
  return std::make_unique<Asp>();
}

}  // namespace paceline
