// Rules of phases that train locally: what their keys ask of each other, of the policy and of the learner.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "sim/policy/synchronization/synchronization.hpp"
#include "sim/scenario/checks/check.hpp"

namespace paceline {
namespace {

class LocalTrainingRules : Rules {
 public:
  LocalTrainingRules(const Scenario& of, const Reading& reading, std::size_t phase)
      : Rules(of, reading), place_(in_phase(phase, "")), phase_(of.synchronization[phase].config) {}

  void check() const {
    if (!sound(in("policy"), in("transport"), in("local"), "cluster.workers") || !phase_.local) return;
    if (phase_.exchange == Exchange::parameters)
      error(in("exchange"), "local training exchanges differences, not parameters", "remove `exchange`");
    check_steps(*phase_.local);
    check_outer_step(phase_.local->outer);
    if (phase_.local->fragments) check_fragments(*phase_.local);
    check_learner(*phase_.local);
  }

 private:
  const std::string place_;
  const PhaseConfig& phase_;

  [[nodiscard]] std::string in(std::string_view key) const { return place_ + std::string(key); }

  void check_steps(const LocalTraining& local) const {
    if (local.by_speed && local.least > local.steps)
      error(in("local.least"),
            fmt::format("the fastest worker takes {} steps, a slow one would take at least {}", local.steps,
                        local.least),
            fmt::format("write `least: {}` or less", local.steps));
    const double together = static_cast<double>(local.steps) *
                            static_cast<double>(scenario.batching.initial_samples) *
                            static_cast<double>(scenario.cluster.workers.size());
    if (workload_is_sound() && together > workload_samples())
      warn(in("local.steps"),
           fmt::format("the job ends with the first exchange: it has {:.10g} samples, and {} steps of all "
                       "workers are {:.10g}",
                       workload_samples(), local.steps, together));
  }

  void check_outer_step(const OuterOptimizer& outer) const {
    const bool is_alone = phase_.policy->waits_for == WaitsFor::nobody && scenario.cluster.servers.count == 1;
    if (outer.every > 1 && !is_alone)
      error(in("local.outer.every"), "a buffer of differences needs `policy: asp` and a single server",
            "remove `every`");
    check_delayed_momentum(outer, is_alone);
    if (outer.nesterov && outer.momentum == 0.0)
      error(in("local.outer.nesterov"), "`nesterov` needs `momentum` above 0",
            "write a `momentum`, for example 0.9");
  }

  void check_delayed_momentum(const OuterOptimizer& outer, bool is_alone) const {
    const std::string between = in("local.outer.momentum_between");
    const std::string every = in("local.outer.momentum_every");
    if (outer.momentum_every == 1) {
      if (given(between))
        warn(between, "`momentum_between` is not used: the velocity moves with every difference",
             "write `momentum_every`, above 1");
      return;
    }
    if (outer.momentum_between > 1.0 / static_cast<double>(outer.momentum_every))
      error(between,
            fmt::format("{} steps between two moves of the velocity count at most 1/{} of it each",
                        outer.momentum_every, outer.momentum_every),
            "0 leaves it to the step with which it moves");
    if (!is_alone)
      error(every, "a delayed velocity needs `policy: asp` and a single server", "remove `momentum_every`");
    if (outer.every > 1)
      error(every, "a buffer of differences is one step: its velocity has nothing to wait for",
            "remove `every` or `momentum_every`");
    if (!outer.nesterov)
      error(every, "a delayed velocity is Nesterov's", "write `nesterov: true`, and a `momentum`");
  }

  void check_fragments(const LocalTraining& local) const {
    const auto& [count, delay, mixing] = *local.fragments;
    if (phase_.policy->waits_for != WaitsFor::all || phase_.transport == Transport::server)
      error(in("local.fragments"), "fragments are exchanged by all workers together",
            "use `policy: bsp` with an all-reduce, for example `transport: ring`");
    if (local.by_speed || local.growth)
      error(in("local.fragments"), "fragments are exchanged after the same number of steps by every worker",
            "remove `by_speed` or `growth`");
    if (local.steps % count != 0)
      return error(in("local.fragments.count"),
                   fmt::format("{} fragments do not divide {} steps", count, local.steps),
                   fmt::format("one of them is exchanged after every steps / count: for example `steps: {}`",
                               (local.steps / count + 1) * count));
    if (const std::int64_t between = local.steps / count; delay >= between)
      error(
          in("local.fragments.delay"),
          fmt::format("a fragment that travels for {} steps is not there when the next one is due, after {}",
                      delay, between),
          fmt::format("write `delay: {}` or less", between - 1));
  }

  void check_learner(const LocalTraining& local) const {
    const LearnerKind learner = scenario.learner.kind;
    const bool takes_the_mean = phase_.policy->waits_for == WaitsFor::all &&
                                local.outer.learning_rate == 1.0 && local.outer.momentum == 0.0 &&
                                !local.fragments;
    const bool is_equal = !local.by_speed && !local.growth;
    if ((learner == LearnerKind::statistical || learner == LearnerKind::assumed) &&
        !(takes_the_mean && is_equal))
      error(in("local"),
            "a statistical learner knows local training only under `bsp`, with equal numbers of steps whose "
            "mean becomes the parameters",
            "leave `outer`, `fragments`, `by_speed` and `growth` out, train the network itself (`learner: "
            "{kind: network}`), or ask for times alone (`kind: none`)");
  }
};

}  // namespace

void check_local_training(const Scenario& scenario, const Reading& reading) {
  for (std::size_t phase = 0; phase < scenario.synchronization.size(); ++phase)
    LocalTrainingRules(scenario, reading, phase).check();
}

}  // namespace paceline
