// Asynchronous parallel: every gradient is an update of its own, and nobody waits for anybody.
#include "sim/policy/synchronization/synchronization.hpp"
#include "sim/policy/synchronization/synchronization_rule.hpp"

namespace paceline {
namespace {

class Asp final : public SynchronizationPolicy {
 public:
  bool is_synchronous() const override { return false; }
  std::size_t gradients_per_update() const override { return 1; }
  void begin(std::span<const WorkerId>) override {}
  SynchronizationDecision on_gradient(WorkerId worker, Seconds) override {
    return {.combine = {worker}, .drop = {}, .release = {worker}};
  }
  SynchronizationDecision on_leave(WorkerId, Seconds) override { return {}; }
  SynchronizationDecision on_join(WorkerId worker, Seconds) override {
    return {.combine = {}, .drop = {}, .release = {worker}};
  }
};

}  // namespace

SynchronizationRule asp_rule() {
  return {
      .kind = SynchronizationKind::asp,
      .word = "asp",
      .description = "each gradient is an update, and nobody waits",
      .parameter = std::nullopt,
      .combines_all_members = false,
      .decides_alike_on_every_server = true,
      .may_exchange_parameters = true,
      .gradients_per_update = [](double, std::int64_t) { return 1.0; },
      .make = [](std::int64_t) -> std::unique_ptr<SynchronizationPolicy> { return std::make_unique<Asp>(); }};
}

}  // namespace paceline
