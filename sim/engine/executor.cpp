#include "sim/engine/executor.hpp"

#include <algorithm>
#include <utility>

namespace paceline {

Executor::Executor(Coordinator& coordinator, const World& world, Learner& learner, Timeline& timeline,
                   RunObserver& observer)
    : coordinator_(coordinator), world_(world), learner_(learner), timeline_(timeline), observer_(observer) {}

std::optional<Stalled> Executor::run() {
  Actions actions;
  coordinator_.start(actions);
  carry_out(actions);
  const bool ended = timeline_.run(
      [this](Seconds now, const std::vector<Occurrence>& occurrences) { return deliver(now, occurrences); });
  if (ended) return std::nullopt;
  return Stalled{timeline_.now(), coordinator_.describe_waiting()};
}

bool Executor::deliver(Seconds now, const std::vector<Occurrence>& occurrences) {
  std::vector<Event> events;
  for (const Occurrence& occurrence : occurrences) events.push_back(std::get<Event>(occurrence));
  std::stable_sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
    return order_among_equals(a) < order_among_equals(b);
  });
  for (const Event& event : events) {
    observer_.on_event(now, event);
    Actions actions;
    coordinator_.handle(now, event, actions);
    carry_out(actions);
    if (coordinator_.stopped()) return false;
  }
  return true;
}

void Executor::carry_out(const Actions& actions) {
  for (const Action& action : actions) {
    observer_.on_action(timeline_.now(), action);
    std::visit([this](const auto& a) { carry_out(a); }, action);
  }
}

void Executor::carry_out(const StartIteration& action) {
  learner_.compute(action.worker, action.batch_samples, action.gradient);
  const Seconds compute_time =
      world_.compute.iteration(action.worker, action.iteration, action.batch_samples);
  timeline_.at(timeline_.now() + compute_time,
               Event(IterationFinished{action.worker, action.gradient, compute_time}));
}

void Executor::carry_out(const SendGradient& action) {
  timeline_.send(action.from, action.server, world_.parameter_bytes,
                 Event(GradientArrived{action.from, action.gradient, action.server}));
}

void Executor::carry_out(const SendParameters& action) {
  timeline_.send(action.server, action.to, world_.parameter_bytes,
                 Event(ParametersArrived{action.to, action.gradient, action.server}));
}

void Executor::carry_out(const AllReduce& action) {
  timeline_.ring_all_reduce(action.members, world_.parameter_bytes, Event(AllReduceFinished{action.update}));
}

void Executor::carry_out(const Accumulate&) {
  occupy_server(world_.server.accumulate(world_.parameter_bytes));
}

void Executor::carry_out(const Step& action) {
  timeline_.at(occupy_server(world_.server.step(world_.parameter_bytes)),
               Event(StepFinished{action.update, action.server}));
}

void Executor::carry_out(const LocalStep& action) {
  Seconds slowest;
  for (const WorkerId member : action.members)
    slowest = std::max(slowest, world_.compute.optimizer_step(member));
  timeline_.at(timeline_.now() + slowest, Event(StepFinished{action.update, ServerId{0}}));
}

void Executor::carry_out(const Pause& action) {
  timeline_.at(timeline_.now() + world_.switch_cost.at(action.phase), Event(PauseEnded{action.worker}));
}

void Executor::carry_out(const Evaluate& action) {
  timeline_.at(timeline_.now(), Event(Evaluated{action.updates, learner_.evaluate()}));
}

void Executor::carry_out(const Apply& action) {
  std::vector<WeightedGradient> gradients;
  for (const AppliedGradient& applied : action.gradients)
    gradients.push_back({applied.gradient, applied.worker, applied.weight});
  learner_.apply(action.server, gradients, action.hyperparameters);
}

void Executor::carry_out(const TakeSnapshot& action) {
  learner_.pull(action.worker, action.server);
}

void Executor::carry_out(const Discard& action) {
  learner_.discard(action.gradient);
}

Seconds Executor::occupy_server(Seconds duration) {
  const Seconds begin = std::max(server_free_at_, timeline_.now());
  server_free_at_ = begin + duration;
  observer_.on_server_work(ServerId{0}, begin, server_free_at_);
  return server_free_at_;
}

}  // namespace paceline
