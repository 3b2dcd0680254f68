#include "calibrate/live/rest_timing.hpp"

#include <algorithm>
#include <iterator>

#include "calibrate/live/iteration_timing.hpp"
#include "calibrate/live/sharing_timing.hpp"
#include "sim/base/order_statistics.hpp"

namespace paceline::live {
namespace {

constexpr int passes = 3;
constexpr double rests_s[] = {0.0, 1e-3, 2e-3, 4e-3, 8e-3, 20e-3};

}  // namespace

std::size_t workers_beside_rests(std::size_t workers, int cores) {
  return std::clamp<std::size_t>(workers, 1, static_cast<std::size_t>(std::max(1, cores)));
}

std::vector<calibrate::RestedIteration> time_rests(const Scenario& scenario, const Profiles& profiles,
                                                   const LiveOptions& options,
                                                   const std::function<void(double)>& progress) {
  Scenario resting = scenario;
  std::vector<WorkerId> at_work;
  for (std::uint64_t w = 0; w < workers_beside_rests(scenario.cluster.workers.size(), usable_cores()); ++w) {
    at_work.emplace_back(w);
    resting.cluster.workers[w].quota.reset();
    resting.cluster.workers[w].speed = 1.0;
  }
  Worker& worker = resting.cluster.workers.front();
  std::vector<std::vector<double>> rested(std::size(rests_s));
  std::vector<std::vector<double>> computed(std::size(rests_s));
  double done = 0.0;
  for (int pass = 0; pass < passes; ++pass) {
    worker.speed = 1.0;
    for (std::size_t i = 0; i < std::size(rests_s); ++i) {
      progress(done++ / static_cast<double>(passes * std::size(rests_s)));
      const CycleTime cycle =
          time_cycle(resting, profiles, at_work, scenario.batching.initial_samples, options);
      const Seconds processor_time = worker.speed * cycle.iteration;
      computed[i].push_back(processor_time.value());
      rested[i].push_back((cycle.iteration - processor_time + cycle.between).value());
      if (i + 1 < std::size(rests_s)) worker.speed = 1.0 / (1.0 + rests_s[i + 1] / processor_time.value());
    }
  }
  progress(1.0);
  std::vector<calibrate::RestedIteration> iterations;
  for (std::size_t i = 0; i < std::size(rests_s); ++i)
    iterations.push_back({Seconds{median(std::move(rested[i]))}, Seconds{median(std::move(computed[i]))}});
  return iterations;
}

}  // namespace paceline::live
