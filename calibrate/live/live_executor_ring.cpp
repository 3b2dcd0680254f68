// Phases whose gradients meet in an all-reduce: workers keep gradients, and step on replicas.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "calibrate/live/live_executor.hpp"
#include "sim/base/check.hpp"
#include "sim/training/update_assembly.hpp"

namespace paceline::live {

// False when it cannot be what its worker was asked for.
bool LiveExecutor::keep(WorkerId worker, const Computed& message) {
  if (message.statistics.size() != job_.statistics_count) {
    refuse(worker, "computed on another network");
    return false;
  }
  std::deque<Asked>& asked = workers_[worker.value].asked;
  const auto found =
      std::ranges::find(asked, message.gradient, [](const Asked& one) { return one.gradient.value; });
  const Asked computed = *found;
  asked.erase(found);
  // What is called off the worker forgets by itself.
  if (!computed.is_started || computed.is_called_off) return true;
  state_.hold_statistics(worker, computed.gradient, message.statistics);
  kept_.emplace(computed.gradient, Kept{worker, computed.batch_samples});
  return true;
}

void LiveExecutor::carry_out(const AllReduce& action) {
  std::vector<RingPart> parts;
  std::int64_t samples = 0;
  for (const auto& [gradient, kept] : kept_) {
    if (std::ranges::find(action.members, kept.worker) == action.members.end()) continue;
    parts.push_back({kept.worker, gradient});
    samples += kept.batch_samples;
  }
  check(parts.size() == action.members.size(), "every member keeps one gradient");
  std::ranges::sort(parts, {}, &RingPart::worker);
  for (RingPart& part : parts)
    part.weight =
        aggregation_weight(job_.weighting, kept_.at(part.gradient).batch_samples, samples, parts.size());
  reduction_began_ns_ = LiveClock::monotonic_ns();
  ring_.begin(action.update, parts);
}

void LiveExecutor::on(WorkerId worker, const RingAddress& message) {
  if (!ring_.on(worker, message)) refuse(worker, "listens for a ring that it is not of");
}
void LiveExecutor::on(WorkerId worker, const RingBroke& message) {
  if (!ring_.on(worker, message)) refuse(worker, "was in no such ring");
}
void LiveExecutor::on(WorkerId worker, const Reduced& message) {
  if (!ring_.on(worker, message)) return refuse(worker, "has a sum that nobody asked for");
  const std::optional<UpdateId> finished = ring_.take_finished();
  if (!finished) return;
  reduced_ = finished;
  deliver(AllReduceFinished{*finished});
}

void LiveExecutor::apply_on_replicas(const Apply& action) {
  reduced_.reset();
  check(!job_.momentum_at_workers || action.hyperparameters.momentum == job_.momentum,
        "the momentum of synchronous phases stays");
  ++version_;
  for (const AppliedGradient& applied : action.gradients) {
    state_.use_statistics(applied.gradient);
    kept_.erase(applied.gradient);
    LiveWorker& worker = workers_[applied.worker.value];
    if (worker.is_lost) continue;
    crew_.send(applied.worker.value,
               TakeStep{action.hyperparameters.learning_rate, action.hyperparameters.momentum});
    worker.replica = version_;
  }
  if (kept_replicas_.size() >= job_.replicas_to_keep) return;
  take_over_latest();
  kept_replicas_.push_back(state_.replica_for(WorkerId{0}));
}

void LiveExecutor::carry_out(const ScaleVelocity& action) {
  take_over_latest();
  state_.scale_velocity(action.factor);
  for (Member member = 0; member < workers_.size(); ++member)
    if (!workers_[member].is_lost) crew_.send(member, ScaleOwnVelocity{action.factor});
  ++version_;
  servers_version_ = version_;
}

void LiveExecutor::hand_over(WorkerId worker, GradientId gradient) {
  take_over_latest();
  Handover message{gradient.value, state_.replica_for(worker)};
  const Replica& replica = message.replica;
  bytes_sent_[worker.value] += static_cast<double>(
      sizeof(float) * (replica.parameters.size() + replica.velocity.size() + replica.squares.size()));
  crew_.send(worker.value, message);
  workers_[worker.value].replica = version_;
}

void LiveExecutor::take_over_latest() {
  if (servers_version_ == version_) return;
  bool has_them = false;
  for (std::uint64_t w = 0; w < workers_.size(); ++w) {
    if (workers_[w].replica != version_) continue;
    // Of velocities of their own each is asked for its.
    if (!has_them || job_.momentum_at_workers) has_them = take_over_from(WorkerId{w}) || has_them;
  }
  // Nobody has them any more: the job goes on from those that the server took over last.
  if (!has_them) version_ = servers_version_;
  servers_version_ = version_;
}

// Its answer is waited for; what others say meanwhile counts later. False when it is lost.
bool LiveExecutor::take_over_from(WorkerId worker) {
  crew_.send(worker.value, AskHandover{});
  hands_over_ = worker;
  const std::int64_t asked_ns = LiveClock::monotonic_ns();
  while (hands_over_) {
    std::optional<News> news = crew_.next(Seconds{0.1});
    if (!news) {
      if (clock_.between(asked_ns, LiveClock::monotonic_ns()) > job_.patience)
        crew_.dismiss(worker.value, fmt::format("said nothing for {:g} s", job_.patience.value()));
      continue;
    }
    const auto* arrived = std::get_if<Arrived>(&*news);
    if (arrived != nullptr && arrived->member == worker.value &&
        std::holds_alternative<Handover>(arrived->message))
      take(std::move(*news));
    else
      put_off(std::move(*news));
  }
  return workers_[worker.value].replica == version_;
}

void LiveExecutor::put_off(News news) {
  if (const auto* lost = std::get_if<Lost>(&news); lost != nullptr && lost->member < workers_.size()) {
    workers_[lost->member].replica.reset();
    if (hands_over_ == WorkerId{lost->member}) hands_over_.reset();
  }
  backlog_.push_back(std::move(news));
}

void LiveExecutor::on(WorkerId worker, Handover message) {
  const Replica& replica = message.replica;
  const auto fits = [&](const std::vector<float>& values) {
    return values.empty() || values.size() == job_.parameter_count;
  };
  if (hands_over_ != worker) return refuse(worker, "handed over what nobody asked for");
  hands_over_.reset();
  if (replica.parameters.size() != job_.parameter_count || !fits(replica.velocity) ||
      !fits(replica.squares) || replica.steps.size() > 1) {
    workers_[worker.value].replica.reset();
    return refuse(worker, "handed over a replica of another network");
  }
  bytes_received_[worker.value] += static_cast<double>(
      sizeof(float) * (replica.parameters.size() + replica.velocity.size() + replica.squares.size()));
  state_.adopt(worker, std::move(message.replica));
}

}  // namespace paceline::live
