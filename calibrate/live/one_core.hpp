// A process kept on one of the cores that it may use, for as long as an object of this lives.
//
// Models:      a process that a kernel leaves where it is, though others wake it.
// Assumptions: nobody else changes what cores it may use meanwhile. Of its threads this goes for the first.
// Not modelled: a process that has ended, or may not use the core: nothing happens.
#pragma once

#include <vector>

#include <sched.h>
#include <sys/types.h>

namespace paceline::live {

// By number, in order; none of a process that has ended. 0: this thread.
[[nodiscard]] std::vector<int> cores_of(pid_t process);

class OnOneCore {
 public:
  OnOneCore(pid_t process, int core);
  OnOneCore(const OnOneCore&) = delete;
  OnOneCore& operator=(const OnOneCore&) = delete;
  ~OnOneCore();

 private:
  pid_t process_;
  cpu_set_t before_;
};

}  // namespace paceline::live
