#include "calibrate/live/live_executor.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "sim/base/check.hpp"

namespace paceline::live {
namespace {

constexpr Seconds longest_wait{0.1};

}  // namespace

LiveExecutor::LiveExecutor(Coordinator& coordinator, Crew& crew, NetworkState& state, LiveJob job,
                           RunObserver& observer)
    : coordinator_(coordinator),
      crew_(crew),
      state_(state),
      job_(std::move(job)),
      observer_(observer),
      conditions_(job_.heterogeneity, job_.random_streams, job_.seed),
      workers_(job_.workers),
      ring_(crew, job_.momentum),
      bytes_received_(job_.workers),
      bytes_sent_(job_.workers) {}

void LiveExecutor::begin() {
  clock_.start();
  began_processor_ns_ = processor_time_ns();
  static_cast<void>(conditions_.advance({}));
  for (std::uint64_t w = 0; w < workers_.size(); ++w) {
    const WorkerCondition& condition = conditions_.of(WorkerId{w});
    if (condition.speed != 1.0) crew_.send(w, Pace{job_.speeds.at(w) * condition.speed});
    crew_.change_link(w, condition.bandwidth, condition.added_latency);
    // What holds from the very start is no event: the coordinator was told who is there.
    if (!condition.is_present) observer_.on_event(now_, WorkerLeft{WorkerId{w}});
  }
  Actions actions;
  coordinator_.start(actions);
  carry_out(actions);
  deliver_pending();
}

void LiveExecutor::step() {
  follow_conditions();
  const auto due = std::ranges::min_element(timers_, {}, &Timer::date);
  if (due != timers_.end() && due->date <= clock_.now()) {
    const Event event = due->event;
    timers_.erase(due);
    deliver(event);
  } else if (!backlog_.empty()) {
    News news = std::move(backlog_.front());
    backlog_.pop_front();
    take(std::move(news));
  } else {
    if (is_idle() && !evaluations_put_off_.empty()) {
      evaluate_next();
    } else if (is_idle() && !conditions_.awaits_workers()) {
      stalled_ = Stalled{now_, coordinator_.describe_waiting()};
      return;
    }
    Seconds wait = longest_wait;
    if (const auto change = conditions_.next_date()) wait = std::min(wait, *change - clock_.now());
    if (due != timers_.end()) wait = std::min(wait, due->date - clock_.now());
    if (std::optional<News> news = crew_.next(std::max(Seconds{}, wait))) take(std::move(*news));
    dismiss_silent_workers();
  }
  deliver_pending();
}

// As in the simulation, timers bring nothing forward.
bool LiveExecutor::is_idle() const {
  const bool somebody_computes = std::ranges::any_of(workers_, [](const LiveWorker& worker) {
    return worker.is_restarting ||
           std::ranges::any_of(worker.asked, [](const Asked& asked) { return !asked.is_called_off; });
  });
  const bool something_ends = std::ranges::any_of(
      timers_, [](const Timer& timer) { return !std::holds_alternative<TimerExpired>(timer.event); });
  return !somebody_computes && !something_ends && !ring_.is_under_way() && evaluations_under_way_ == 0 &&
         backlog_.empty();
}

void LiveExecutor::deliver(const Event& event) {
  if (is_over()) return;
  now_ = std::max(now_, clock_.now());
  observer_.on_event(now_, event);
  Actions actions;
  coordinator_.handle(now_, event, actions);
  carry_out(actions);
}

void LiveExecutor::deliver_pending() {
  while (!pending_.empty() && !is_over()) {
    const Event event = pending_.front();
    pending_.pop_front();
    deliver(event);
  }
}

void LiveExecutor::carry_out(const Actions& actions) {
  for (const Action& action : actions) {
    observer_.on_action(now_, action);
    std::visit([this](const auto& a) { carry_out(a); }, action);
  }
}

void LiveExecutor::at(Seconds date, Event event) {
  if (date <= clock_.now())
    pending_.push_back(event);
  else
    timers_.push_back({date, event});
}

void LiveExecutor::follow_conditions() {
  const auto samples = static_cast<double>(applied_samples_);
  const JobPosition position{clock_.now(), samples / static_cast<double>(job_.dataset_samples),
                             samples / static_cast<double>(job_.total_samples)};
  const std::optional<Seconds> change = conditions_.next_date();
  const bool is_date = change && *change <= position.now;
  if (!is_date && !conditions_.is_due(position)) return;
  std::vector<bool> was_present;
  for (std::uint64_t w = 0; w < workers_.size(); ++w)
    was_present.push_back(conditions_.of(WorkerId{w}).is_present);
  for (const WorkerId worker : conditions_.advance(position)) {
    if (workers_[worker.value].is_lost) continue;
    const WorkerCondition& condition = conditions_.of(worker);
    crew_.send(worker.value, Pace{job_.speeds.at(worker.value) * condition.speed});
    crew_.change_link(worker.value, condition.bandwidth, condition.added_latency);
    if (condition.is_present == was_present[worker.value]) continue;
    if (condition.is_present) {
      pending_.emplace_back(WorkerJoined{worker});
    } else {
      call_off_all(worker);
      pending_.emplace_back(WorkerLeft{worker});
    }
  }
  deliver_pending();
}

CommunicationCost LiveExecutor::communication() const {
  CommunicationCost cost;
  const std::int64_t used = processor_time_ns() - began_processor_ns_ - applying_ns_;
  const auto each = [](std::int64_t ns, std::uint64_t count) {
    return Seconds{count == 0 ? 0.0 : 1e-9 * static_cast<double>(ns) / static_cast<double>(count)};
  };
  // The server's time for a ring and for its requests cannot be told apart.
  if (ring_.messages() == 0) cost.server_request = each(used, gradients_arrived_);
  cost.per_message =
      each(workers_messages_ns_ + ring_.processor_ns(), 2 * iterations_with_messages_ + ring_.messages());
  return cost;
}

// --- what arrives ------------------------------------------------------------------------------------------

void LiveExecutor::take(News news) {
  if (const auto* lost = std::get_if<Lost>(&news)) {
    if (lost->member == job_.workers) throw std::runtime_error(fmt::format("the evaluator {}", lost->reason));
    const WorkerId id{lost->member};
    LiveWorker& worker = workers_.at(lost->member);
    worker.is_lost = true;
    worker.is_restarting = false;
    worker.replica.reset();
    worker.asked.clear();
    lost_.push_back({clock_.now(), id, lost->reason});
    const bool takes_gradient_along = ring_.combines(id);
    ring_.forget(id);
    deliver(WorkerLeft{id, takes_gradient_along});
    return ring_.ask_again_if_broken();
  }
  if (const auto* restarted = std::get_if<Restarted>(&news)) return on(*restarted);
  auto& [member, message] = std::get<Arrived>(news);
  if (member == job_.workers) return on_evaluation(message);
  const WorkerId id{member};
  workers_.at(member).last_news_ns = LiveClock::monotonic_ns();
  if (const auto* received = std::get_if<Received>(&message)) return on(id, *received);
  if (const auto* computed = std::get_if<Computed>(&message)) return on(id, *computed);
  if (auto* gradient = std::get_if<GradientValues>(&message)) return on(id, std::move(*gradient));
  if (const auto* skipped = std::get_if<CallOff>(&message)) return on(id, *skipped);
  if (const auto* listens = std::get_if<RingAddress>(&message)) return on(id, *listens);
  if (const auto* reduced = std::get_if<Reduced>(&message)) return on(id, *reduced);
  if (const auto* broke = std::get_if<RingBroke>(&message)) return on(id, *broke);
  if (auto* handover = std::get_if<Handover>(&message)) return on(id, std::move(*handover));
  if (std::holds_alternative<StillHere>(message)) return;
  if (const auto* failed = std::get_if<Failed>(&message)) return crew_.dismiss(member, reason_of(*failed));
  refuse(id, "said something only a server says");
}

void LiveExecutor::on(WorkerId worker, const Received& message) {
  Asked* const asked = find(worker, message.gradient);
  if (asked == nullptr || !asked->awaits_parameters) return refuse(worker, "received what nobody sent");
  asked->awaits_parameters = false;
  if (asked->is_announced && !asked->is_called_off)
    deliver(ParametersArrived{worker, asked->gradient, ServerId{0}});
}

void LiveExecutor::on(WorkerId worker, const Computed& message) {
  Asked* const asked = find(worker, message.gradient);
  if (asked == nullptr || asked->awaits_parameters || asked->is_computed)
    return refuse(worker, "computed what nobody asked for");
  if (message.began_ns < asked->at_ns || message.ended_ns <= message.began_ns ||
      message.ended_ns > LiveClock::monotonic_ns())
    return refuse(worker, "computed at a time that cannot be");
  asked->is_computed = true;
  if (message.messages_ns > 0) {
    workers_messages_ns_ += message.messages_ns;
    ++iterations_with_messages_;
  }
  const Asked computed = *asked;
  if (computed.is_kept && !keep(worker, message)) return;
  if (computed.is_own && !keep_own(worker, message, computed)) return;
  if (computed.is_called_off || !computed.is_started) return;
  const Seconds passed = clock_.between(message.began_ns, message.ended_ns);
  deliver(IterationFinished{worker, computed.gradient, std::max(Seconds{1e-9}, passed)});
}

void LiveExecutor::on(WorkerId worker, GradientValues message) {
  const Asked* const asked = find(worker, message.gradient);
  if (asked == nullptr || !asked->is_computed || asked->is_kept)
    return refuse(worker, "sent a gradient that nobody asked for");
  const bool is_own = asked->is_own;
  const bool is_stepped = asked->is_stepped;
  if (message.values.size() != job_.parameter_count ||
      message.statistics.size() != (is_own ? 0 : job_.statistics_count))
    return refuse(worker, "sent a gradient of another network");
  bytes_received_[worker.value] +=
      static_cast<double>(sizeof(float) * (message.values.size() + message.statistics.size()));
  ++gradients_arrived_;
  const GradientId gradient = asked->gradient;
  const bool counts = asked->is_started && !asked->is_called_off;
  std::erase_if(workers_[worker.value].asked, [&](const Asked& other) { return other.gradient == gradient; });
  // Of what does not count any more the worker takes over the server's parameters before its next iteration.
  if (!counts) return;
  if (is_own) {
    check(is_stepped, "a worker's own step counts before its parameters are sent");
    state_.set_copy(worker, std::move(message.values));
  } else {
    state_.hold(worker, gradient, std::move(message.values), std::move(message.statistics));
    held_.insert(gradient);
  }
  deliver(GradientArrived{worker, gradient, ServerId{0}});
}

void LiveExecutor::on(WorkerId worker, const CallOff& message) {
  const Asked* const asked = find(worker, message.gradient);
  if (asked == nullptr || !asked->is_called_off) return refuse(worker, "skipped what it was asked for");
  std::erase_if(workers_[worker.value].asked,
                [&](const Asked& other) { return other.gradient.value == message.gradient; });
}

void LiveExecutor::on_evaluation(const Message& message) {
  const auto* result = std::get_if<EvaluationResult>(&message);
  if (result == nullptr || evaluations_under_way_ == 0) {
    const auto* failed = std::get_if<Failed>(&message);
    throw std::runtime_error(fmt::format("the evaluator failed{}", failed ? ": " + reason_of(*failed) : ""));
  }
  --evaluations_under_way_;
  pending_.emplace_back(Evaluated{result->updates, Evaluation{result->loss, result->accuracy}});
}

void LiveExecutor::refuse(WorkerId worker, const std::string& what) {
  crew_.dismiss(worker.value, what);
}

LiveExecutor::Asked* LiveExecutor::find(WorkerId worker, std::uint64_t gradient) {
  std::deque<Asked>& asked = workers_.at(worker.value).asked;
  const auto found = std::ranges::find(asked, gradient, [](const Asked& one) { return one.gradient.value; });
  return found == asked.end() ? nullptr : &*found;
}

void LiveExecutor::dismiss_silent_workers() {
  const std::int64_t now = LiveClock::monotonic_ns();
  for (Member member = 0; member < workers_.size(); ++member) {
    const LiveWorker& worker = workers_[member];
    const bool owes_sum = ring_.awaits(WorkerId{member});
    if (worker.is_lost || (worker.asked.empty() && !owes_sum)) continue;
    std::int64_t since = std::max(worker.last_news_ns, owes_sum ? reduction_began_ns_ : 0);
    if (!worker.asked.empty()) since = std::max(since, worker.asked.back().at_ns);
    if (clock_.between(since, now) > job_.patience)
      crew_.dismiss(member, fmt::format("said nothing for {:g} s", job_.patience.value()));
  }
}

}  // namespace paceline::live
