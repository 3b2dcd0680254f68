#include "calibrate/live/learning_nothing.hpp"

#include <numeric>
#include <stdexcept>
#include <vector>

#include "calibrate/live/live_executor.hpp"

namespace paceline::live {

std::optional<News> CrewLearningNothing::next(Seconds patience) {
  if (answers_.empty()) {
    std::optional<News> news = crew_.next(patience);
    if (news) throw_if_lost(*news);
    return news;
  }
  News answer = std::move(answers_.front());
  answers_.pop_front();
  return answer;
}

void CrewLearningNothing::send(Member member, const Message& message) {
  if (const auto* request = std::get_if<EvaluationRequest>(&message))
    answers_.emplace_back(Arrived{workers_, EvaluationResult{request->updates, 1.0, 0.0}});
  else
    crew_.send(member, message);
}

void carry_out(const JobLearningNothing& job, CrewLearningNothing& crew, RunObserver& observer) {
  const std::size_t workers = crew.workers();
  CoordinatorConfig config;
  config.phases = {job.phase};
  config.batching.initial_samples = 1;
  config.machines.resize(workers);
  config.optimizer.learning_rate = 0.01;
  config.optimizer.momentum = job.momentum;
  config.total_samples = config.dataset_samples = job.gradients;
  config.evaluate_every = {1e9, EveryUnit::updates};
  Coordinator coordinator(config);
  NetworkLearnerConfig of_store;
  of_store.worker_count = static_cast<std::uint32_t>(workers);
  NetworkState state(std::vector<float>(job.values), {}, of_store);
  LiveJob live;
  live.workers = workers;
  live.parameter_count = job.values;
  live.reduces_all = std::vector<bool>(1, job.phase.transport != Transport::server);
  live.speeds.assign(workers, 1.0);
  live.random_streams.resize(workers);
  std::iota(live.random_streams.begin(), live.random_streams.end(), 0U);
  live.total_samples = live.dataset_samples = job.gradients;
  LiveExecutor executor(coordinator, crew, state, std::move(live), observer);
  if (const std::optional<Stalled> stalled = executor.run([](std::int64_t) {}))
    throw std::runtime_error("the messages stopped:\n" + stalled->waiting);
}

}  // namespace paceline::live
