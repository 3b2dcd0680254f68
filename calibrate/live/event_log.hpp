// What happened in a run, in the order in which its coordinator met it: what a replay needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "sim/engine/observer.hpp"

namespace paceline::live {

struct TimedEvent {
  Seconds time;
  Event event;
};

struct ServerWork {
  std::size_t events_before = 0;
  ServerId server;
  std::optional<UpdateId> step;
  Seconds begin;
  Seconds end;
};

struct RecordedRun {
  std::vector<Event> before_start;  // of which the coordinator was not told
  std::vector<TimedEvent> events;
  std::vector<ServerWork> server_work;
};

class EventLog final : public RunObserver {
 public:
  void on_event(Seconds now, const Event& event) override {
    if (has_started_)
      run_.events.push_back({now, event});
    else
      run_.before_start.push_back(event);
  }
  void on_action(Seconds, const Action& action) override {
    has_started_ = true;
    if (const auto* evaluate = std::get_if<Evaluate>(&action))
      asked_after_[evaluate->updates] = run_.events.size();
  }
  void on_server_work(ServerId server, std::optional<UpdateId> step, Seconds begin, Seconds end) override {
    run_.server_work.push_back({run_.events.size(), server, step, begin, end});
  }

  [[nodiscard]] RecordedRun take() { return std::move(run_); }
  // As if the result of each evaluation had been known as soon as it was asked for.
  [[nodiscard]] RecordedRun take_with_results_at_once() const;

 private:
  bool has_started_ = false;
  RecordedRun run_;
  std::map<std::uint64_t, std::size_t> asked_after_;  // so many events; by the updates evaluated
};

}  // namespace paceline::live
