#include "calibrate/live/restart_timing.hpp"

#include <optional>
#include <variant>

#include "calibrate/live/checkpoint.hpp"
#include "calibrate/live/live_clock.hpp"
#include "sim/study/simulation.hpp"

namespace paceline::live {

Seconds time_restarts(const Scenario& scenario, const LiveOptions& options, std::size_t passes) {
  const NetworkLearnerConfig learner = network_learner_config(scenario, {scenario.seed, 0});
  ProcessCrew crew({.program = options.program,
                    .setups = setups_of(scenario, learner),
                    .port = options.port,
                    .hosts = scenario.hosts,
                    .links = options.links});
  const Ready& initial = crew.ready().back();
  NetworkState state(initial.parameters, initial.statistics, learner);
  const CheckpointFile file(options.folder);
  const std::size_t workers = scenario.cluster.workers.size();
  LiveClock clock;
  clock.start();
  Seconds sum;
  for (std::size_t pass = 0; pass < passes; ++pass) {
    const Seconds began = clock.now();
    save_checkpoint(file.path(), state.checkpoint());
    crew.restart_workers();
    state.restore(load_checkpoint(file.path()));
    for (std::size_t ready = 0; ready < workers;) {
      const std::optional<News> news = crew.next(Seconds{1.0});
      if (!news) continue;
      throw_if_lost(*news);
      if (!std::holds_alternative<Restarted>(*news)) continue;
      sum += clock.now() - began;
      ++ready;
    }
  }
  return sum / static_cast<double>(passes * workers);
}

}  // namespace paceline::live
