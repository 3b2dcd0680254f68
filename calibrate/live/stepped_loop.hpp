// A user's own training loop that takes one step for each line it is given.
//
// Models:      the gradient of a worker that exchanges messages: computed by the loop itself, with its
//              memory, its caches and its framework, instead of by an imitation.
// Equation:    none: a line is written to the loop's input, and the loop prints a line `step ...`
//              (calibrate/logs/own_steps.hpp) when the step is done; other lines are ignored.
// Assumptions: it reads a line before each step, and flushes what it prints. It inherits the environment.
//              A worker of a server has its messages and takes its steps in one process, and computes where
//              a message has woken it: perhaps on the core on which packets of others are handled. So such a
//              step begins on the core of the thread that asks for it: the loop is bound to it until it is
//              woken, and may be moved from a busy core then, as a worker may be; the thread, which waits
//              meanwhile, may be woken where the loop has ended its step. Of the loop this goes for its first
//              thread only; not for another program that it has started. In a ring by Gloo a thread of its
//              own has the messages, and wakes the one that computes, as the loop is woken here.
// Not modelled: messages and steps in one process: here two wake each other. Who asks takes that off, by what
//              the loop says a step took.
#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

#include "calibrate/logs/own_steps.hpp"
#include "sim/base/process.hpp"
#include "sim/base/quantity.hpp"

namespace paceline::live {

class SteppedLoop {
 public:
  // Throws std::system_error when there can be no process.
  explicit SteppedLoop(const std::vector<std::string>& words);

  // Until it says that its step is done; returns what it says. Throws UserError where it cannot be started,
  // does not wait for a line, or prints a wrong one; std::runtime_error where it ends, with what it wrote.
  [[nodiscard]] calibrate::OwnStep step();
  [[nodiscard]] calibrate::OwnStep step_on_this_core();  // begins there, if the loop may use it
  // The first steps allocate and compile. How long who asks waits for one afterwards: the median of five.
  Seconds warm_up();
  [[nodiscard]] pid_t process_id() const { return process_.id(); }

 private:
  [[nodiscard]] bool has_gone_on() const;  // by itself
  void ask();
  [[nodiscard]] calibrate::OwnStep answer();

  std::string name_;
  Process process_;
  int lines_ = 0;  // read so far
};

}  // namespace paceline::live
