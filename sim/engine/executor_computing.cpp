// Iterations and stretches of local steps: how much work they are, and when it is done.
#include <utility>

#include "sim/engine/executor.hpp"

namespace paceline {

void Executor::begin_computation(const StartIteration& action) {
  compute(action, std::exchange(owed_to_messages_.at(action.worker.value), {}), {});
}

void Executor::compute(const StartIteration& action, Seconds messages, Seconds computed_before) {
  std::optional<StartIteration>& rest = rest_of_stretch_.at(action.worker.value);
  rest.reset();
  const bool one_by_one =
      model_.shortcuts == Shortcuts::off && !shared_machines_.has_whole_stretches(action.worker);
  if (!one_by_one || !action.local || action.local->count == 1)
    return compute_at_once(action, messages, computed_before);
  StartIteration first = action;
  first.local->count = 1;
  rest = action;
  --rest->local->count;
  ++rest->iteration;
  ++rest->since_start;
  compute_at_once(first, messages, computed_before);
}

void Executor::compute_at_once(const StartIteration& action, Seconds messages, Seconds computed_before) {
  const Seconds iteration = work_of(action);
  const Seconds waits_for_batch =
      action.buckets ? model_.compute.loading_share(action.worker, action.batch_samples) * iteration
                     : Seconds{};
  const Seconds besides = preparation(action) + resume(action.worker);
  const Seconds own = iteration + besides;
  Computation computation{.gradient = action.gradient,
                          .batch_samples = action.batch_samples,
                          .started = timeline_.now(),
                          .work_left = own + messages,
                          .since = timeline_.now(),
                          .own_share = messages > Seconds{} ? own / (own + messages) : 1.0,
                          .computed_before = computed_before,
                          .marks = action.buckets ? join_round(action) : std::span<const double>{},
                          .comes_first = waits_for_batch + besides};
  if (shared_machines_.hosts(action.worker))
    return shared_machines_.start(action.worker, computation, pace(action.worker, action.batch_samples));
  computation.rate = rate(action.worker, action.batch_samples);
  const Computations::End end = computations_.start(action.worker, computation);
  at(end.at, ComputationDue{action.worker, end.attempt});
}

bool Executor::takes_next_step(const Event& event) {
  const auto* ended = std::get_if<IterationFinished>(&event);
  if (ended == nullptr) return false;
  const std::optional<StartIteration> rest = rest_of_stretch_.at(ended->worker.value);
  if (rest) compute(*rest, {}, ended->compute_time);
  return rest.has_value();
}

std::span<const double> Executor::join_round(const StartIteration& action) {
  if (bucket_sizes_ != action.buckets->sizes) {
    bucket_sizes_ = action.buckets->sizes;
    round_.set_buckets(gradient_buckets(model_.variables, *bucket_sizes_));
  }
  round_.begin(action.worker, action.gradient, action.buckets->transport);
  return round_.marks();
}

Seconds Executor::work_of(const StartIteration& action) const {
  const ComputeTimes::Iterations iterations = model_.compute.iterations(action.worker, action.batch_samples);
  const auto one = [&](std::uint64_t step) {
    return iterations[action.iteration + step] * model_.costs.ramp_up.factor(action.since_start + step);
  };
  if (!action.local) return one(0);
  const auto steps = static_cast<std::uint64_t>(action.local->count);
  const Seconds own_steps = model_.compute.optimizer_step(action.worker) * static_cast<double>(steps);
  // Steps that take equally long need not be looked at one by one.
  if (!model_.compute.has_iteration_jitter() && model_.costs.ramp_up.factor(action.since_start) == 1.0)
    return one(0) * static_cast<double>(steps) + own_steps;
  Seconds work = own_steps;
  for (std::uint64_t step = 0; step < steps; ++step) work += one(step);
  return work;
}

Seconds Executor::preparation(const StartIteration& action) {
  if (model_.costs.preparation == Seconds{}) return {};
  std::set<std::int64_t>& prepared = prepared_.at(action.worker.value);
  if (action.since_start == 0) prepared.clear();
  if (!prepared.insert(action.batch_samples).second) return {};
  return model_.compute.at_speed_of(action.worker, model_.costs.preparation);
}

Seconds Executor::resume(WorkerId worker) {
  const std::optional<Seconds> since = std::exchange(rests_since_.at(worker.value), std::nullopt);
  return since ? resume_after(timeline_.now() - *since, model_.costs.resume) : Seconds{};
}

WorkerPace Executor::pace(WorkerId worker, std::int64_t batch_samples) const {
  const WorkerCondition& condition = conditions_.of(worker);
  const double speed_up =
      condition.cores ? model_.compute.speed_up(worker, *condition.cores, batch_samples) : 1.0;
  return {condition.speed, condition.spell * speed_up, condition.cores};
}

double Executor::rate(WorkerId worker, std::int64_t batch_samples) const {
  const WorkerPace alone = pace(worker, batch_samples);
  return alone.speed * alone.speed_up;
}

}  // namespace paceline
