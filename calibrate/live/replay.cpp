#include "calibrate/live/replay.hpp"

#include <cstddef>
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

struct OnNothing {
  template <class Any>
  void operator()(const Any&) {}
};

template <class Actor, class Adapt>
void meet_again(Coordinator& coordinator, const RecordedRun& run, RunObserver& observer, Actor& actor,
                const Adapt& adapt) {
  for (const Event& event : run.before_start) observer.on_event({}, event);
  std::size_t events_met = 0;
  auto work = run.server_work.begin();
  const auto carry_out = [&](Seconds now, const Actions& actions) {
    for (const Action& action : actions) {
      observer.on_action(now, action);
      std::visit(actor, action);
    }
    for (; work != run.server_work.end() && work->events_before == events_met; ++work)
      observer.on_server_work(work->server, work->step, work->begin, work->end);
  };
  Actions first;
  coordinator.start(first);
  carry_out({}, first);
  for (const auto& [time, recorded] : run.events) {
    if (coordinator.stopped()) return;
    Event event = recorded;
    adapt(event);
    ++events_met;
    observer.on_event(time, event);
    Actions actions;
    coordinator.handle(time, event, actions);
    carry_out(time, actions);
  }
}

}  // namespace

void replay(Coordinator& coordinator, const RecordedRun& run, RunObserver& observer) {
  OnNothing nothing;
  meet_again(coordinator, run, observer, nothing, [](const Event&) {});
}

void replay(Coordinator& coordinator, const RecordedRun& run, Learner& learner, RunObserver& observer) {
  OnLearner on_learner(learner);
  meet_again(coordinator, run, observer, on_learner, [&](Event& event) {
    if (auto* evaluated = std::get_if<Evaluated>(&event))
      evaluated->evaluation = on_learner.evaluation_after(evaluated->updates);
  });
}

}  // namespace paceline::live
