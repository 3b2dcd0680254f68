#include "sim/report/recording/iteration_log.hpp"

#include "sim/base/check.hpp"

namespace paceline {

std::string_view to_string(Fate fate) {
  constexpr std::string_view names[] = {"in-flight", "applied", "applied-locally", "discarded"};
  return names[static_cast<std::size_t>(fate)];
}

void IterationLog::on_event(Seconds now, const Event& event) {
  if (const auto* e = std::get_if<IterationFinished>(&event)) {
    of(e->gradient).finish = now;
    of(e->gradient).compute_time = e->compute_time;
  }
  if (const auto* e = std::get_if<GradientArrived>(&event)) {
    of(e->gradient).arrival = now;  // the last shard's stays
  }
  if (const auto* e = std::get_if<AllReduceFinished>(&event)) {
    const auto found = collectives_.find(e->update);
    if (found == collectives_.end()) return;
    for (const GradientId gradient : found->second) of(gradient).arrival = now;
    collectives_.erase(found);
  }
}

void IterationLog::on_action(Seconds now, const Action& action) {
  if (const auto* a = std::get_if<StartIteration>(&action)) {
    release(now, a->gradient);
    IterationRecord& record = of(a->gradient);
    record.worker = a->worker;
    record.iteration = a->iteration;
    record.batch_samples = a->batch_samples;
    record.start = now;
    latest_[a->worker] = a->gradient;
  }
  if (const auto* a = std::get_if<SendParameters>(&action)) release(now, a->gradient);
  if (const auto* a = std::get_if<AllReduce>(&action)) {
    std::vector<GradientId>& gradients = collectives_[a->update];
    gradients.clear();
    for (const WorkerId member : a->members)
      if (const auto latest = latest_.find(member); latest != latest_.end())
        gradients.push_back(latest->second);
  }
  if (const auto* a = std::get_if<ApplyLocally>(&action)) {
    IterationRecord& record = of(a->gradient);
    record.fate = Fate::applied_locally;
    record.applied = now;
  }
  if (const auto* a = std::get_if<Discard>(&action)) {
    // Local steps stay taken even when the exchange that was to follow is dropped.
    release(now, a->gradient);
    IterationRecord& record = of(a->gradient);
    if (record.fate == Fate::in_flight) record.fate = Fate::discarded;
  }
}

void IterationLog::on_applied(Seconds now, const std::vector<AppliedGradient>& gradients) {
  for (const AppliedGradient& gradient : gradients) {
    IterationRecord& record = of(gradient.gradient);
    record.fate = Fate::applied;
    record.applied = now;
    record.weight = gradient.weight;
    record.staleness = gradient.largest_staleness;
    record.mean_staleness = gradient.mean_staleness;
  }
}

std::vector<IterationRecord> IterationLog::take() {
  std::vector<IterationRecord> started;
  for (const std::optional<IterationRecord>& record : records_)
    if (record && record->start) started.push_back(*record);
  records_.clear();
  return started;
}

IterationRecord& IterationLog::of(GradientId gradient) {
  check(gradient.value < records_.size() && records_[gradient.value].has_value(),
        "a gradient is released before anything else happens to it");
  return *records_[gradient.value];
}

void IterationLog::release(Seconds now, GradientId gradient) {
  if (gradient.value >= records_.size()) records_.resize(gradient.value + 1);
  if (!records_[gradient.value]) records_[gradient.value].emplace().release = now;
}

}  // namespace paceline
