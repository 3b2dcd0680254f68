#include "sim/fit/replay.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

namespace paceline {
namespace {

constexpr double iteration_variation = 0.10;

}  // namespace

UpdateTrace::UpdateTrace(const TrainingPlan& plan, Seed seed) : plan_(plan) {
  RandomStream random(seed, Purpose::iteration_jitter);
  double until = 0.0;
  for (const PlanPhase& phase : plan.phases) {
    until += phase.minibatches;
    if (phase.synchronous) {
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
    updates_.push_back({rate() * static_cast<float>(workers), 0, true});
    done_minibatches_ += workers;
  }
}

void UpdateTrace::add_asynchronous(double until, RandomStream& random) {
  using Finish = std::pair<double, std::uint32_t>;  // time, worker: equal times in the order of workers
  std::priority_queue<Finish, std::vector<Finish>, std::greater<>> finishes;
  std::vector<std::size_t> read_at(plan_.workers, updates_.size());
  for (std::uint32_t w = 0; w < plan_.workers; ++w)
    finishes.emplace(random.log_normal(1.0, iteration_variation), w);
  while (done_minibatches_ + 0.5 <= until) {
    const auto [time, worker] = finishes.top();
    finishes.pop();
    updates_.push_back({rate(), static_cast<std::uint32_t>(updates_.size() - read_at[worker]), false});
    read_at[worker] = updates_.size();
    done_minibatches_ += 1.0;
    finishes.emplace(time + random.log_normal(1.0, iteration_variation), worker);
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

std::vector<FormReading> UpdateTrace::run(LearningForm& form, std::span<const double> positions) const {
  const auto workers = static_cast<double>(plan_.workers);
  const std::vector<SeenGradient> together(plan_.workers, {plan_.batch_samples, 1.0 / workers, 0.0});
  SeenGradient alone{plan_.batch_samples, 1.0, 0.0};
  std::vector<FormReading> readings;
  readings.reserve(positions.size());
  double done = 0.0;
  for (const Update& update : updates_) {
    while (readings.size() < positions.size() && positions[readings.size()] <= done)
      readings.push_back(form.read());
    if (readings.size() == positions.size()) return readings;
    alone.staleness = static_cast<double>(update.staleness);
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
