// The events of a run in the order in which its coordinator met them: what a replay needs.
#pragma once

#include <utility>
#include <vector>

#include "sim/engine/observer.hpp"

namespace paceline::live {

struct TimedEvent {
  Seconds time;
  Event event;
};

// Keeps every event, and passes everything on.
class EventLog final : public RunObserver {
 public:
  explicit EventLog(RunObserver& next) : next_(next) {}

  void on_event(Seconds now, const Event& event) override {
    events_.push_back({now, event});
    next_.on_event(now, event);
  }
  void on_action(Seconds now, const Action& action) override { next_.on_action(now, action); }
  void on_server_work(ServerId server, std::optional<UpdateId> step, Seconds begin, Seconds end) override {
    next_.on_server_work(server, step, begin, end);
  }
  void on_balance(Seconds now, BalanceCause cause, const Balance& balance) override {
    next_.on_balance(now, cause, balance);
  }

  [[nodiscard]] std::vector<TimedEvent> take() { return std::move(events_); }

 private:
  RunObserver& next_;
  std::vector<TimedEvent> events_;
};

}  // namespace paceline::live
