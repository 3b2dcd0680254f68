#include "calibrate/learning/replay.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>
#include <tuple>
#include <utility>

namespace paceline {
namespace {

constexpr std::uint32_t chief = 0;

}  // namespace

UpdateTrace::UpdateTrace(const TrainingPlan& plan, Seed seed) : plan_(plan) {
  RandomStream random(seed, Purpose::iteration_jitter);
  double until = 0.0;
  for (const PlanPhase& phase : plan.phases) {
    until += phase.minibatches;
    if (phase.local_steps > 0) {
      add_local(until, phase.local_steps);
    } else if (phase.synchronous) {
      add_synchronous(until);
    } else {
      add_asynchronous(until, random);
    }
  }
}

// Of one gradient, at the present position.
float UpdateTrace::rate() const {
  double rate = plan_.rate_per_gradient;
  for (const double drop : plan_.drops_minibatches)
    if (done_minibatches_ >= drop) rate *= plan_.drop_factor;
  return static_cast<float>(rate);
}

void UpdateTrace::add_synchronous(double until) {
  const auto workers = static_cast<double>(plan_.workers);
  while (done_minibatches_ + 0.5 * workers <= until) {
    updates_.push_back({.learning_rate = rate() * static_cast<float>(workers)});
    done_minibatches_ += workers;
    static_cast<void>(checkpoint_due());  // all stand still for it: nothing that an update could tell
  }
}

// The mean of the workers' parameters moves by the mean of their gradients in every step.
void UpdateTrace::add_local(double until, std::uint32_t steps) {
  while (done_minibatches_ + 0.5 * plan_.workers <= until) {
    const float inner = rate();
    for (std::uint32_t step = 0; step < steps; ++step)
      updates_.push_back({.learning_rate = inner, .local_steps = step});
    done_minibatches_ += static_cast<double>(plan_.workers) * steps;
  }
}

bool UpdateTrace::checkpoint_due() {
  if (!plan_.chief_pauses) return false;
  const double passed = std::floor(done_minibatches_ / plan_.chief_pauses->every_minibatches);
  return std::exchange(checkpoints_, passed) < passed;
}

void UpdateTrace::add_asynchronous(double until, RandomStream& random) {
  struct WorkerEvent {
    double time = 0.0;
    std::uint32_t worker = 0;
    bool reads = true;  // else its gradient is applied
    bool operator>(const WorkerEvent& other) const {
      return std::tie(time, worker) > std::tie(other.time, other.worker);
    }
  };
  std::priority_queue<WorkerEvent, std::vector<WorkerEvent>, std::greater<>> events;
  std::vector<std::size_t> read_at(plan_.workers, updates_.size());
  for (std::uint32_t w = 0; w < plan_.workers; ++w) events.push({0.0, w, true});
  while (done_minibatches_ + 0.5 <= until) {
    const WorkerEvent now = events.top();
    events.pop();
    if (now.reads) {
      read_at[now.worker] = updates_.size();
      events.push({now.time + random.log_normal(1.0, iteration_variation), now.worker, false});
      continue;
    }
    updates_.push_back({.learning_rate = rate(),
                        .staleness = static_cast<std::uint32_t>(updates_.size() - read_at[now.worker]),
                        .synchronous = false});
    done_minibatches_ += 1.0;
    const bool pauses = now.worker == chief && checkpoint_due();
    events.push({now.time + (pauses ? plan_.chief_pauses->iterations : 0.0), now.worker, true});
  }
}

double UpdateTrace::mean_staleness() const {
  double sum = 0.0;
  double gradients = 0.0;
  for (const Update& update : updates_) {
    const double combined = update.synchronous ? static_cast<double>(plan_.workers) : 1.0;
    sum += combined * update.staleness;
    gradients += combined;
  }
  return gradients > 0.0 ? sum / gradients : 0.0;
}

double UpdateTrace::largest_staleness() const {
  std::uint32_t largest = 0;
  for (const Update& update : updates_) largest = std::max(largest, update.staleness);
  return static_cast<double>(largest);
}

std::vector<TracedGroup> trace_groups(const std::vector<RunGroup>& groups) {
  std::vector<TracedGroup> traced;
  for (const RunGroup& group : groups)
    traced.push_back({group, std::make_shared<UpdateTrace>(group.plan(), Seed{1, 0})});
  return traced;
}

std::vector<FormReading> UpdateTrace::run(LearningForm& form, std::span<const double> positions) const {
  const auto workers = static_cast<double>(plan_.workers);
  std::vector<SeenGradient> together(plan_.workers, {plan_.batch_samples, 1.0 / workers, 0.0});
  SeenGradient alone{plan_.batch_samples, 1.0, 0.0};
  std::vector<FormReading> readings;
  readings.reserve(positions.size());
  double done = 0.0;
  for (const Update& update : updates_) {
    while (readings.size() < positions.size() && positions[readings.size()] <= done)
      readings.push_back(form.read());
    if (readings.size() == positions.size()) return readings;
    alone.staleness = static_cast<double>(update.staleness);
    for (SeenGradient& gradient : together) gradient.local_steps = update.local_steps;
    const std::span<const SeenGradient> gradients = update.synchronous
                                                        ? std::span<const SeenGradient>(together)
                                                        : std::span<const SeenGradient>(&alone, 1);
    form.advance({gradients, static_cast<double>(update.learning_rate), plan_.momentum});
    done += update.synchronous ? workers : 1.0;
  }
  readings.resize(positions.size(), form.read());
  return readings;
}

}  // namespace paceline
