#include "tests/property/entry.hpp"

#include <algorithm>

namespace paceline::test {
namespace {

using Content = std::array<double, 6>;

template <class... Numbers>
Content numbers(Numbers... values) {
  return {static_cast<double>(values)...};
}

struct OfEvent {
  Content operator()(const WorkerLeft& e) const { return numbers(e.worker.value); }
  Content operator()(const WorkerJoined& e) const { return numbers(e.worker.value); }
  Content operator()(const IterationFinished& e) const {
    return numbers(e.worker.value, e.gradient.value, e.compute_time.value());
  }
  Content operator()(const GradientArrived& e) const {
    return numbers(e.worker.value, e.gradient.value, e.server.value);
  }
  Content operator()(const ParametersArrived& e) const {
    return numbers(e.worker.value, e.gradient.value, e.server.value);
  }
  Content operator()(const AllReduceFinished& e) const { return numbers(e.update.value); }
  Content operator()(const StepFinished& e) const { return numbers(e.update.value, e.server.value); }
  Content operator()(const Coordinated& e) const { return numbers(e.worker.value, e.time.value()); }
  Content operator()(const CoordinationFinished& e) const { return numbers(e.update.value); }
  Content operator()(const PauseEnded& e) const { return numbers(e.worker.value, e.gradient.value); }
  Content operator()(const WindowClosed& e) const { return numbers(e.server.value, e.window); }
  Content operator()(const TimerExpired& e) const { return numbers(e.phase); }
  Content operator()(const Evaluated& e) const {
    return numbers(e.updates, e.evaluation ? e.evaluation->accuracy : -1.0);
  }
};

// Workers as digits of a number: order counts.
double together(const std::vector<WorkerId>& workers) {
  double digits = 0.0;
  for (const WorkerId worker : workers) digits = 16.0 * digits + static_cast<double>(worker.value) + 1.0;
  return digits;
}

struct OfAction {
  Content operator()(const StartIteration& a) const {
    return numbers(a.worker.value, a.gradient.value, a.iteration, a.batch_samples, a.since_start,
                   a.local ? a.local->count : 1);
  }
  Content operator()(const TrainOn& a) const {
    return numbers(a.worker.value, a.gradient.value, a.iteration, a.batch_samples, a.since_start,
                   a.local.count);
  }
  Content operator()(const SendGradient& a) const {
    return numbers(a.from.value, a.gradient.value, a.server.value);
  }
  Content operator()(const SendParameters& a) const {
    const double from = a.from_worker ? static_cast<double>(a.from_worker->value) : -1.0;
    return numbers(a.to.value, a.gradient.value, a.server.value, from);
  }
  Content operator()(const AllReduce& a) const { return numbers(a.update.value, together(a.members)); }
  Content operator()(const Accumulate& a) const { return numbers(a.from.value, a.server.value); }
  Content operator()(const Step& a) const {
    return numbers(a.update.value, a.server.value, together(a.workers), a.overwrites);
  }
  Content operator()(const LocalStep& a) const { return numbers(a.update.value, together(a.members)); }
  Content operator()(const Coordinate& a) const {
    return numbers(a.update.value, together(a.workers), a.samples);
  }
  Content operator()(const Pause& a) const {
    return numbers(a.worker.value, static_cast<int>(a.kind), a.phase, a.gradient.value);
  }
  Content operator()(const OpenWindow& a) const {
    return numbers(a.server.value, a.window, a.duration.value());
  }
  Content operator()(const SetTimer& a) const { return numbers(a.phase, a.duration.value()); }
  Content operator()(const Evaluate& a) const { return numbers(a.updates, a.samples); }
  Content operator()(const Apply& a) const {
    double staleness = 0.0;
    for (const AppliedGradient& gradient : a.gradients) staleness += static_cast<double>(gradient.staleness);
    return numbers(a.update.value, a.server.value, a.completes_update, a.gradients.size(), staleness,
                   a.hyperparameters.learning_rate);
  }
  Content operator()(const ApplyLocally& a) const { return numbers(a.worker.value, a.gradient.value); }
  Content operator()(const Overwrite& a) const {
    return numbers(a.update.value, a.server.value, a.completes_update, a.by.gradient.value, a.by.staleness);
  }
  Content operator()(const TakeSnapshot& a) const { return numbers(a.worker.value, a.server.value); }
  Content operator()(const AdoptBatches& a) const {
    Content content{};
    for (std::size_t w = 0; w < a.allocation.size(); ++w)
      content.at(w % content.size()) +=
          static_cast<double>((w + 1) * static_cast<std::size_t>(a.allocation[w].samples));
    return content;
  }
  Content operator()(const Discard& a) const { return numbers(a.gradient.value); }
  Content operator()(const ScaleVelocity& a) const { return numbers(a.factor); }
  Content operator()(const EnterPhase& a) const { return numbers(a.phase); }
  Content operator()(const Judge& a) const { return numbers(a.judgements.size()); }
  Content operator()(const Decide& a) const {
    return numbers(static_cast<int>(a.decision.kind), a.decision.worker.value);
  }
  Content operator()(const Stop& a) const {
    return numbers(static_cast<int>(a.reason), a.reached_after_updates.value_or(0));
  }
};

}  // namespace

Entry entry_of(Seconds now, const Event& event) {
  return {now, true, event.index(), std::visit(OfEvent{}, event)};
}

Entry entry_of(Seconds now, const Action& action) {
  return {now, false, action.index(), std::visit(OfAction{}, action)};
}

}  // namespace paceline::test
