#include "tests/kernels/training_emulation.hpp"

#include <cmath>
#include <cstddef>
#include <map>

#include "kernels/training/network_learner.hpp"
#include "tests/support/test_job.hpp"

namespace paceline::test {

std::vector<CurvePoint> emulate_training(const EmulationConfig& config) {
  TestJob job;
  job.workers.assign(config.workers, Worker{});
  job.phases = {{.policy = config.synchronization}};
  job.batching.initial_samples = config.batch_samples;
  job.optimizer.learning_rate = config.hyperparameters.learning_rate;
  job.optimizer.momentum = config.hyperparameters.momentum;
  job.total_samples = config.gradients * config.batch_samples;
  job.evaluate_every = {static_cast<double>(config.evaluate_every * config.batch_samples),
                        EveryUnit::samples};
  job.jitter.iteration_cv = 0.1;
  job.seed = {.seed = config.seed, .replication = 0};
  kernels::NetworkLearner learner({.network = "small-cnn",
                                   .dataset = config.dataset,
                                   .weight_decay = config.weight_decay,
                                   .nesterov = false,
                                   .worker_count = config.workers,
                                   .seed = job.seed});
  const TestJob::Result result = job.run_ideal(learner);

  std::map<std::uint64_t, std::int64_t> gradients_at;  // by updates
  for (const auto& [time, evaluate] : result.recording.all<Evaluate>())
    gradients_at[evaluate.updates] = evaluate.samples / config.batch_samples;
  std::vector<CurvePoint> curve;
  for (const Happened& happened : result.recording.events)
    if (const auto* evaluated = std::get_if<Evaluated>(&happened.event))
      curve.push_back({gradients_at.at(evaluated->updates), evaluated->evaluation.value()});
  return curve;
}

MeanAndDeviation summarize(const std::vector<double>& values) {
  const auto count = static_cast<double>(values.size());
  double sum = 0.0;
  for (const double value : values) sum += value;
  const double mean = sum / count;
  double squares = 0.0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return {.mean = mean, .deviation = std::sqrt(squares / (count - 1.0))};
}

}  // namespace paceline::test
