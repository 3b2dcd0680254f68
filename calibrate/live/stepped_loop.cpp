#include "calibrate/live/stepped_loop.hpp"

#include <optional>
#include <sstream>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sched.h>

#include "calibrate/live/live_clock.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/base/order_statistics.hpp"

namespace paceline::live {
namespace {

cpu_set_t cores_of(pid_t process) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  sched_getaffinity(process, sizeof cores, &cores);  // none of one that has ended
  return cores;
}

// Keeps this thread, and the first one of a process, on the core that this one is on, if both may use it.
class OnOneCore {
 public:
  explicit OnOneCore(pid_t process) : process_(process), own_(cores_of(0)), of_process_(cores_of(process)) {
    const auto core = static_cast<std::size_t>(sched_getcpu());
    cpu_set_t one;
    CPU_ZERO(&one);
    if (CPU_ISSET(core, &of_process_)) CPU_SET(core, &one);
    allow(one, one);
  }
  OnOneCore(const OnOneCore&) = delete;
  OnOneCore& operator=(const OnOneCore&) = delete;
  ~OnOneCore() { allow(own_, of_process_); }

 private:
  // No cores are refused, and change nothing.
  void allow(const cpu_set_t& own, const cpu_set_t& of_process) const {
    sched_setaffinity(0, sizeof own, &own);
    sched_setaffinity(process_, sizeof of_process, &of_process);
  }

  pid_t process_;
  cpu_set_t own_;
  cpu_set_t of_process_;
};

}  // namespace

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
  const OnOneCore on_one_core(process_.id());
  return step();
}

calibrate::OwnStep SteppedLoop::step() {
  if (has_gone_on() || !process_.write_line("step"))
    throw UserError(name_ + " does not wait for a line before each step",
                    "the loop reads a line before each step, and prints a line `step ...` after it, flushed");
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
  std::vector<double> steps_s;
  for (int i = 0; i < timed; ++i) {
    const std::int64_t began_ns = LiveClock::monotonic_ns();
    static_cast<void>(step());
    steps_s.push_back(1e-9 * static_cast<double>(LiveClock::monotonic_ns() - began_ns));
  }
  return Seconds{median(std::move(steps_s))};
}

}  // namespace paceline::live
