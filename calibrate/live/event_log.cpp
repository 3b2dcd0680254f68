#include "calibrate/live/event_log.hpp"

#include <algorithm>

namespace paceline::live {

RecordedRun EventLog::take_with_results_at_once() const {
  std::multimap<std::size_t, TimedEvent> results;
  for (const TimedEvent& one : run_.events)
    if (const auto* evaluated = std::get_if<Evaluated>(&one.event)) {
      const std::size_t after = asked_after_.at(evaluated->updates);
      results.emplace(after, TimedEvent{after == 0 ? Seconds{} : run_.events[after - 1].time, *evaluated});
    }
  RecordedRun settled{.before_start = run_.before_start, .events = {}, .server_work = {}};
  auto work = run_.server_work.begin();
  auto result = results.begin();
  for (std::size_t i = 0; i <= run_.events.size(); ++i) {
    for (; work != run_.server_work.end() && work->events_before == i; ++work) {
      settled.server_work.push_back(*work);
      settled.server_work.back().events_before = settled.events.size();
    }
    for (; result != results.end() && result->first == i; ++result) settled.events.push_back(result->second);
    if (i < run_.events.size() && !std::holds_alternative<Evaluated>(run_.events[i].event))
      settled.events.push_back(run_.events[i]);
  }
  return settled;
}

}  // namespace paceline::live
