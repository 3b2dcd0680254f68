// A switch for which the workers' processes end and start anew, from a checkpoint.
#include <optional>
#include <utility>
#include <variant>

#include "calibrate/live/checkpoint.hpp"
#include "calibrate/live/live_executor.hpp"

namespace paceline::live {

// All restart together: those released towards the phase rest until they are ready.
void LiveExecutor::restart_before(const Pause& pause) {
  if (!has_restarted_) restart_workers();
  LiveWorker& worker = workers_.at(pause.worker.value);
  if (worker.is_restarting)
    worker.rests_for = pause;
  else if (!worker.is_lost)
    end(pause);
}

void LiveExecutor::end(const Pause& pause) {
  at(clock_.now() + job_.costs.switching.at(pause.phase).sleep, PauseEnded{pause.worker, pause.gradient});
}

void LiveExecutor::restart_workers() {
  has_restarted_ = true;
  restart_began_ = clock_.now();
  take_over_latest();
  save_checkpoint(*job_.checkpoint, state_.checkpoint());
  crew_.restart_workers();
  state_.restore(load_checkpoint(*job_.checkpoint));
  for (std::uint64_t w = 0; w < workers_.size(); ++w) {
    LiveWorker& worker = workers_[w];
    if (worker.is_lost) continue;
    worker.is_restarting = true;
    worker.holds_its_copy = false;
    worker.replica.reset();
    worker.asked.clear();
    ring_.forget(WorkerId{w});
  }
  std::erase_if(backlog_, [&](const News& news) {
    const auto* arrived = std::get_if<Arrived>(&news);
    return arrived != nullptr && arrived->member < workers_.size();
  });
}

void LiveExecutor::on(const Restarted& news) {
  LiveWorker& worker = workers_.at(news.member);
  const WorkerId id{news.member};
  worker.is_restarting = false;
  const WorkerCondition& condition = conditions_.of(id);
  if (condition.speed != 1.0) crew_.send(news.member, Pace{job_.speeds.at(news.member) * condition.speed});
  if (!worker.rests_for) return;
  restarts_.push_back({restart_began_, id, clock_.now() - restart_began_});
  end(*std::exchange(worker.rests_for, std::nullopt));
}

}  // namespace paceline::live
