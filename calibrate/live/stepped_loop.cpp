#include "calibrate/live/stepped_loop.hpp"

#include <optional>
#include <sstream>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sched.h>

#include "calibrate/live/live_clock.hpp"
#include "calibrate/live/one_core.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/base/order_statistics.hpp"

namespace paceline::live {

SteppedLoop::SteppedLoop(const std::vector<std::string>& words)
    : name_(fmt::format("`{}`", fmt::join(words, " "))),
      process_({.words = words, .keeps_input_open = true}) {}

bool SteppedLoop::has_gone_on() const {
  const std::string& said = process_.output();
  std::istringstream complete(said.substr(0, said.rfind('\n') + 1));
  for (std::string line; std::getline(complete, line);)
    if (calibrate::parse_own_step(line, "output of " + name_, lines_)) return true;
  return false;
}

calibrate::OwnStep SteppedLoop::step_on_this_core() {
  {
    const OnOneCore there(process_.id(), sched_getcpu());
    ask();  // wakes it on that core
  }
  return answer();
}

calibrate::OwnStep SteppedLoop::step() {
  ask();
  return answer();
}

void SteppedLoop::ask() {
  if (has_gone_on() || !process_.write_line("step"))
    throw UserError(name_ + " does not wait for a line before each step",
                    "the loop reads a line before each step, and prints a line `step ...` after it, flushed");
}

calibrate::OwnStep SteppedLoop::answer() {
  while (const std::optional<std::string> line = process_.read_line())
    if (const auto said = calibrate::parse_own_step(*line, "output of " + name_, ++lines_)) return *said;
  const int status = process_.wait();
  const std::string said = process_.errors().empty() ? "" : ": " + process_.errors();
  if (status == status_not_started)
    throw UserError(fmt::format("{} cannot be started{}", name_, said),
                    "a program on the PATH, or a path to one");
  throw std::runtime_error(fmt::format("{} {} instead of a step{}", name_, describe_status(status), said));
}

Seconds SteppedLoop::warm_up() {
  constexpr int first = 5;
  constexpr int timed = 5;
  for (int i = 0; i < first; ++i) static_cast<void>(step());
  std::vector<double> walls_s;
  for (int i = 0; i < timed; ++i) {
    const std::int64_t began_ns = LiveClock::monotonic_ns();
    static_cast<void>(step());
    walls_s.push_back(1e-9 * static_cast<double>(LiveClock::monotonic_ns() - began_ns));
  }
  return Seconds{median(std::move(walls_s))};
}

}  // namespace paceline::live
