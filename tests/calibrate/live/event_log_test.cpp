// The record of a live run: what happened, and results of free evaluations where they belong.
#include "calibrate/live/event_log.hpp"

#include <doctest/doctest.h>

namespace paceline::live {
namespace {

Event timer(std::size_t phase) {
  return TimerExpired{phase};
}
Event result(std::uint64_t updates, double accuracy) {
  return Evaluated{updates, Evaluation{1.0, accuracy}};
}

}  // namespace

TEST_CASE("results of evaluations made after a job stand right after what asked for them, at its time") {
  // Asked for at the start and after the second of three events; both results come at 9 s.
  EventLog log;
  log.on_action({}, Evaluate{0, 0});
  log.on_event(Seconds{1.0}, timer(1));
  log.on_event(Seconds{2.0}, timer(2));
  log.on_action(Seconds{2.0}, Evaluate{5, 50});
  log.on_server_work(ServerId{0}, std::nullopt, Seconds{2.0}, Seconds{2.5});
  log.on_event(Seconds{3.0}, timer(3));
  log.on_event(Seconds{9.0}, result(0, 0.1));
  log.on_event(Seconds{9.0}, result(5, 0.7));
  const RecordedRun run = log.take_with_results_at_once();
  REQUIRE(run.events.size() == 5);
  const double dates[] = {0.0, 1.0, 2.0, 2.0, 3.0};
  for (std::size_t i = 0; i < run.events.size(); ++i) {
    CAPTURE(i);
    CHECK(run.events[i].time == Seconds{dates[i]});
    CHECK(std::holds_alternative<Evaluated>(run.events[i].event) == (i == 0 || i == 3));
  }
  CHECK(std::get<Evaluated>(run.events[3].event).updates == 5);
  // The server worked for the second event, which is the third by now.
  REQUIRE(run.server_work.size() == 1);
  CHECK(run.server_work.front().events_before == 3);
  // As they came: results last.
  CHECK(std::holds_alternative<Evaluated>(log.take().events.back().event));
}

TEST_CASE("what holds before a job starts is no event that its coordinator meets") {
  EventLog log;
  log.on_event({}, WorkerLeft{WorkerId{2}});
  log.on_action({}, Evaluate{0, 0});
  log.on_event(Seconds{1.0}, WorkerJoined{WorkerId{2}});
  const RecordedRun run = log.take();
  CHECK(run.before_start.size() == 1);
  CHECK(run.events.size() == 1);
}

}  // namespace paceline::live
