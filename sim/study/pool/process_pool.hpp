// Independent tasks, one process each, a few at a time.
//
// SimGrid allows one simulation per process, and a crash of one run must not take the others along. Results come
// back in task order whatever the number of jobs, so nothing downstream can depend on it.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace paceline {

enum class TaskStatus { not_started, done, user_error, failed };

struct TaskOutcome {
  TaskStatus status = TaskStatus::not_started;
  std::string output;  // what the task returned, or why it failed
};

struct PoolReport {
  std::vector<TaskOutcome> outcomes;  // by task
  double peak_memory_mib = 0.0;       // of the largest child
};

// What a pool may do.
struct PoolRules {
  int jobs = 1;                    // processes at a time, fewer where memory is short (memory.hpp)
  bool ends_after_mistake = true;  // a user's mistake: the other tasks would most likely meet it too
};

// Runs `task(i)` for i in 0 … count-1 in forked children and hands over each outcome as it comes, in any order; nothing
// is kept. A task that throws or dies does not disturb the others. The children die with this process, and are ended
// when Interrupted is thrown (sim/base/interrupt.hpp), or what `on_outcome` throws. Returns the memory of the largest
// child, in MiB.
double stream_in_processes(std::size_t count, const PoolRules& rules,
                           const std::function<std::string(std::size_t)>& task,
                           const std::function<void(std::size_t task, TaskOutcome outcome)>& on_outcome);

// The same for few tasks, with all outcomes in task order; `on_done(finished)` after each. After a user's mistake no
// further task is started, and theirs stay `not_started`.
[[nodiscard]] PoolReport run_in_processes(std::size_t count, int jobs,
                                          const std::function<std::string(std::size_t)>& task,
                                          const std::function<void(std::size_t finished)>& on_done);

// As many jobs as this process may use processors.
[[nodiscard]] int default_jobs();

}  // namespace paceline
