// What the kernel of this machine is asked for while live jobs run, and while what they take is measured, so
// that one run takes as long as the next: processors that do not idle, and a server that goes first.
//
// Models:      a machine of its own for each worker and for the server, as far as one machine can be that.
//              A processor without work polls for some instead of stopping: who waits for a message goes on
//              as soon as it is there, and the host of a virtual machine does not take its processors away
//              meanwhile. The thread of the server has the highest of the usual priorities and the shortest
//              slice: a message to it does not wait until a worker has used up its turn of a processor, and
//              it goes to a processor that idles if there is one. A real-time priority would keep it on the
//              one where it was last, before whose worker it then always goes.
// Units:       the first request is in microseconds, until a processor has woken up: 0.
// Assumptions: the kernel has a driver for idle processors and lets this user ask. Both end with this
//              process, whatever ends it; processes and threads that it starts have the usual priority.
// Not modelled: other machines' processors; messages between workers, which wait for turns as ever.
// Source:      Linux, Documentation/power/pm_qos_interface.rst; sched(7).
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "calibrate/live/scheduling.hpp"

namespace paceline::live {

// Where the kernel says and is told what it does about processors without work.
struct IdleControl {
  std::filesystem::path request = "/dev/cpu_dma_latency";
  std::filesystem::path driver = "/sys/devices/system/cpu/cpuidle/current_driver";
};

class AwakeProcessors {
 public:
  explicit AwakeProcessors(const IdleControl& control = {});
  AwakeProcessors(const AwakeProcessors&) = delete;
  AwakeProcessors& operator=(const AwakeProcessors&) = delete;
  ~AwakeProcessors();

  // Empty: they are kept from idling.
  [[nodiscard]] const std::string& why_not() const { return why_not_; }

 private:
  std::optional<int> request_;  // a file descriptor
  std::string why_not_;
};

// Of the thread that makes it and ends it.
class FirstInLine {
 public:
  FirstInLine();
  FirstInLine(const FirstInLine&) = delete;
  FirstInLine& operator=(const FirstInLine&) = delete;
  ~FirstInLine();

  // Empty: it goes before all others.
  [[nodiscard]] const std::string& why_not() const { return why_not_; }

 private:
  Scheduling usual_ = scheduling();
  std::string why_not_;
};

class SteadyMachine {
 public:
  // `as_it_is`: nothing is asked for.
  explicit SteadyMachine(bool as_it_is);

  // What was granted, and why the rest was not.
  [[nodiscard]] std::string text() const;
  // Whether all that was asked for was granted.
  [[nodiscard]] bool is_as_asked() const;

 private:
  std::optional<AwakeProcessors> processors_;
  std::optional<FirstInLine> server_;
};

}  // namespace paceline::live
