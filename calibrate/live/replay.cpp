#include "calibrate/live/replay.hpp"

#include <cstdint>
#include <map>
#include <optional>

namespace paceline::live {
namespace {

// Everything an action does to the parameters.
class OnLearner {
 public:
  explicit OnLearner(Learner& learner) : learner_(learner) {}

  void operator()(const StartIteration& a) { learner_.compute(a.worker, a.batch_samples, a.gradient); }
  void operator()(const TakeSnapshot& a) { learner_.pull(a.worker, a.server); }
  void operator()(const Apply& a) {
    std::vector<WeightedGradient> gradients;
    for (const AppliedGradient& applied : a.gradients)
      gradients.push_back({applied.gradient, applied.worker, applied.weight, applied.mean_staleness});
    learner_.apply(a.server, gradients, a.hyperparameters);
  }
  void operator()(const ApplyLocally& a) { learner_.apply_locally(a.worker, a.gradient, a.hyperparameters); }
  void operator()(const Overwrite& a) { learner_.overwrite(a.server, a.by.worker); }
  void operator()(const Discard& a) { learner_.discard(a.gradient); }
  void operator()(const ScaleVelocity& a) { learner_.scale_velocity(a.factor); }
  void operator()(const Evaluate& a) { evaluations_[a.updates] = learner_.evaluate(); }
  template <class Other>
  void operator()(const Other&) {}

  [[nodiscard]] std::optional<Evaluation> evaluation_after(std::uint64_t updates) const {
    return evaluations_.at(updates);
  }

 private:
  Learner& learner_;
  std::map<std::uint64_t, std::optional<Evaluation>> evaluations_;
};

}  // namespace

void replay(Coordinator& coordinator, std::span<const TimedEvent> events, Learner& learner,
            RunObserver& observer) {
  OnLearner on_learner(learner);
  const auto carry_out = [&](Seconds now, const Actions& actions) {
    for (const Action& action : actions) {
      observer.on_action(now, action);
      std::visit(on_learner, action);
    }
  };
  Actions first;
  coordinator.start(first);
  carry_out({}, first);
  for (const auto& [time, recorded] : events) {
    Event event = recorded;
    if (auto* evaluated = std::get_if<Evaluated>(&event))
      evaluated->evaluation = on_learner.evaluation_after(evaluated->updates);
    observer.on_event(time, event);
    Actions actions;
    coordinator.handle(time, event, actions);
    carry_out(time, actions);
  }
}

}  // namespace paceline::live
