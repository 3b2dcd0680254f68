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

// Runs `task(i)` for i in 0 … count-1 in forked children, `jobs` at a time; `on_done(finished)` after each.
// A task that throws or dies does not disturb the others; but after a user's mistake no further task is started (the
// others would most likely meet it too) and theirs stay `not_started`. The children die with this process, and are
// ended when Interrupted is thrown (sim/base/interrupt.hpp).
[[nodiscard]] PoolReport run_in_processes(std::size_t count, int jobs,
                                          const std::function<std::string(std::size_t)>& task,
                                          const std::function<void(std::size_t finished)>& on_done);

// As many jobs as this process may use processors.
[[nodiscard]] int default_jobs();

}  // namespace paceline
