// Independent tasks, one process each, a few at a time.
//
// SimGrid allows one simulation per process, and a crash of one run must not take the others along. Children
// are forks of this process and return a string; programs are started by sim/base/process.hpp.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace paceline {

enum class TaskStatus { done, user_error, failed };

struct TaskOutcome {
  TaskStatus status = TaskStatus::done;
  std::string output;  // what the task returned, or why it failed
};

// Runs `task(i)` for i in 0 … count-1 in at most `jobs` forked children (fewer where memory is short,
// memory.hpp) and hands over each outcome as it comes, in any order. A task that throws or dies does not
// disturb the others. `while_waiting` is called some times a second while all are busy. The children die with
// this process, and are ended when Interrupted is thrown (sim/base/interrupt.hpp), or what `on_outcome`
// throws. Returns the memory of the largest child, in MiB.
double run_in_processes(std::size_t count, int jobs, const std::function<std::string(std::size_t)>& task,
                        const std::function<void(std::size_t task, TaskOutcome outcome)>& on_outcome,
                        const std::function<void()>& while_waiting = {});

// As many jobs as this process may use processors.
[[nodiscard]] int default_jobs();

}  // namespace paceline
