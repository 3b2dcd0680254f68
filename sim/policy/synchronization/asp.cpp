// Asynchronous parallel: every gradient is an update of its own, and nobody waits for anybody; or, with a
// grace window, for those that come shortly after.
//
// Equation:    a gradient that is ready at t while no window is open opens one, [t, t + window). Gradients
//              are applied as they come; at t + window the workers of all that came within it go on
//              together, with the parameters of then. 0: each goes on at once.
// Source:      grace window: Liu et al., "Asynchronous Local-SGD Training for Language Modeling", arXiv
//              2401.09135 (0.5 s in its released code).
#include <set>

#include "sim/policy/synchronization/synchronization.hpp"

namespace paceline {
namespace {

struct AspParameters {
  Seconds window{};
};
void describe(Visitor& v, AspParameters& p) {
  v.optional("window", p.window, duration(at_least(0)),
             "since the first gradient, in which others are waited for: their workers go on together");
}

class Asp final : public SynchronizationPolicy {
 public:
  explicit Asp(const AspParameters& parameters) : window_(parameters.window) {}

  bool is_synchronous() const override { return false; }
  std::size_t gradients_per_update() const override { return 1; }
  void begin(std::span<const WorkerId>) override {
    waiting_.clear();
    is_open_ = false;
  }
  SynchronizationDecision on_gradient(WorkerId worker, Seconds) override {
    if (window_ == Seconds{}) return {.combine = {worker}, .release = {worker}};
    waiting_.insert(worker);
    SynchronizationDecision decision{.combine = {worker}};
    if (!std::exchange(is_open_, true)) decision.window = window_;
    return decision;
  }
  SynchronizationDecision on_leave(WorkerId worker, Seconds) override {
    waiting_.erase(worker);
    return {};
  }
  SynchronizationDecision on_join(WorkerId worker, Seconds) override { return {.release = {worker}}; }
  SynchronizationDecision on_window_closed(Seconds) override {
    is_open_ = false;
    const std::vector<WorkerId> workers(waiting_.begin(), waiting_.end());
    waiting_.clear();
    return {.release = workers};
  }

 private:
  Seconds window_;
  bool is_open_ = false;
  std::set<WorkerId> waiting_;  // for the window to close
};

}  // namespace

SynchronizationRule asp_rule() {
  return {.word = "asp",
          .description = "each gradient is an update, and nobody waits",
          .parameters = Parameters::of<AspParameters>(),
          .waits_for = WaitsFor::nobody,
          .decides_alike_on_every_server = true,
          .make = make_policy<Asp, AspParameters>};
}

}  // namespace paceline
