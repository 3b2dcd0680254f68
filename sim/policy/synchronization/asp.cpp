// Asynchronous parallel: every gradient is an update of its own, and nobody waits for anybody.
#include "sim/policy/synchronization/synchronization.hpp"

namespace paceline {
namespace {

class Asp final : public SynchronizationPolicy {
 public:
  bool is_synchronous() const override { return false; }
  std::size_t gradients_per_update() const override { return 1; }
  void begin(std::span<const WorkerId>) override {}
  SynchronizationDecision on_gradient(WorkerId worker, Seconds) override {
    return {.combine = {worker}, .release = {worker}};
  }
  SynchronizationDecision on_leave(WorkerId, Seconds) override { return {}; }
  SynchronizationDecision on_join(WorkerId worker, Seconds) override { return {.release = {worker}}; }
};

}  // namespace

SynchronizationRule asp_rule() {
  return {.word = "asp",
          .description = "each gradient is an update, and nobody waits",
          .waits_for = WaitsFor::nobody,
          .decides_alike_on_every_server = true,
          .make = make_policy<Asp>};
}

}  // namespace paceline
