#include "calibrate/live/batch_preparation.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "calibrate/live/iteration_timing.hpp"
#include "calibrate/live/repeating_workers.hpp"
#include "sim/base/check.hpp"
#include "sim/base/order_statistics.hpp"

namespace paceline::live {
namespace {

constexpr int processes = 3;
constexpr int batches_in_a_pass = 16;
constexpr Seconds stretch{5e-3};

}  // namespace

std::vector<std::int64_t> batches_to_prepare(const BatchingConfig& batching) {
  const std::vector<std::int64_t> timed = batches_to_time(batching);
  std::set<std::int64_t> batches;
  for (int i = 0; i < batches_in_a_pass; ++i) {
    const double place = static_cast<double>(i) / (batches_in_a_pass - 1);
    batches.insert(timed.front() + std::llround(place * static_cast<double>(timed.back() - timed.front())));
  }
  batches.erase(batching.initial_samples);
  return {batches.begin(), batches.end()};
}

std::vector<FirstIteration> time_first_iterations(const std::filesystem::path& program,
                                                  NetworkLearnerConfig learner, std::int64_t first_batch,
                                                  const std::vector<std::int64_t>& batches,
                                                  const std::function<void(double)>& progress) {
  learner.worker_count = 1;
  learner.random_streams.resize(1);
  std::vector<std::int64_t> order = batches;
  std::vector<FirstIteration> iterations;
  double done = 0.0;
  for (int pass = 0; pass < processes; ++pass) {
    RepeatingWorkers worker(program, learner, stretch);
    const auto first_of = [&](std::int64_t batch) {
      progress(done++ / static_cast<double>(processes * (2 * batches.size() + 1)));
      return Seconds{worker.stretch_of({0}, batch).at(0).front()};
    };
    static_cast<void>(first_of(first_batch));
    std::vector<Seconds> anew;
    for (const std::int64_t batch : order) anew.push_back(first_of(batch));
    for (std::size_t i = 0; i < order.size(); ++i)
      iterations.push_back({order[i], anew[i], first_of(order[i])});
    std::ranges::reverse(order);  // batches grow, and shrink
  }
  progress(1.0);
  return iterations;
}

Seconds preparation_of(const std::vector<FirstIteration>& iterations) {
  check(!iterations.empty(), "some first iterations to take the median of");
  std::vector<double> longer;
  for (const FirstIteration& one : iterations) longer.push_back((one.anew - one.again).value());
  return Seconds{std::max(0.0, median(std::move(longer)))};
}

std::string preparation_words(Seconds preparation) {
  return fmt::format("batching: {{preparation: {:.3g} ms}}", 1e3 * preparation.value());
}

}  // namespace paceline::live
