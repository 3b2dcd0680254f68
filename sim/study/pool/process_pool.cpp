#include "sim/study/pool/process_pool.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <exception>
#include <utility>

#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/base/check.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/base/interrupt.hpp"
#include "sim/study/pool/memory.hpp"

namespace paceline {
namespace {

constexpr double assumed_memory_mib = 64.0;  // of a simulation, before one has ended
constexpr int interrupt_check_ms = 200;      // a signal may arrive just before poll() and not end it

struct Child {
  std::size_t task = 0;
  pid_t pid = 0;
  int pipe = -1;
  std::string received;
};

void write_all(int file, const std::string& data) {
  std::size_t written = 0;
  while (written < data.size()) {
    const ssize_t n = write(file, data.data() + written, data.size() - written);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;  // the parent is gone, and with it whoever wanted the result
    written += static_cast<std::size_t>(n);
  }
}

[[noreturn]] void run_child(int pipe, pid_t parent, std::size_t index,
                            const std::function<std::string(std::size_t)>& task) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);  // the parent died before the line above
  TaskOutcome outcome;
  try {
    outcome.output = task(index);
  } catch (const UserError& error) {
    outcome = {TaskStatus::user_error, error.what()};
  } catch (const std::exception& error) {
    outcome = {TaskStatus::failed, error.what()};
  }
  // The first byte is the task's status, what follows its result or the reason of the failure.
  write_all(pipe, static_cast<char>(outcome.status) + outcome.output);
  // Not exit: the parent's buffers and static objects are not this child's to flush and destroy.
  _exit(0);
}

Child start_child(std::size_t index, const std::function<std::string(std::size_t)>& task) {
  std::array<int, 2> ends{};
  const pid_t parent = getpid();
  const pid_t pid = pipe(ends.data()) == 0 ? fork() : -1;
  if (pid < 0)
    throw UserError(fmt::format("cannot start a simulation: {}", std::strerror(errno)), "use fewer --jobs");
  if (pid == 0) {
    close(ends[0]);
    run_child(ends[1], parent, index, task);
  }
  close(ends[1]);
  return {.task = index, .pid = pid, .pipe = ends[0], .received = {}};
}

TaskOutcome reap(const Child& child, double& peak_memory_mib) {
  close(child.pipe);
  int status = 0;
  rusage usage{};
  while (wait4(child.pid, &status, 0, &usage) < 0 && errno == EINTR) {
  }
  peak_memory_mib = std::max(peak_memory_mib, static_cast<double>(usage.ru_maxrss) / 1024.0);
  if (WIFSIGNALED(status))
    return {TaskStatus::failed, fmt::format("the run was killed by signal {} ({})", WTERMSIG(status),
                                            strsignal(WTERMSIG(status)))};
  if (child.received.empty() || WEXITSTATUS(status) != 0)
    return {TaskStatus::failed, fmt::format("the run ended with status {}", WEXITSTATUS(status))};
  return {static_cast<TaskStatus>(child.received.front()), child.received.substr(1)};
}

// Ends and collects the children that are left when the pool is left early.
struct RunningChildren {
  std::vector<Child> children;
  RunningChildren() = default;
  RunningChildren(const RunningChildren&) = delete;
  RunningChildren& operator=(const RunningChildren&) = delete;
  ~RunningChildren() {
    for (const Child& child : children) kill(child.pid, SIGKILL);
    double ignored = 0.0;
    for (const Child& child : children) static_cast<void>(reap(child, ignored));
  }
};

// Reads what is there; false at the end of the child's output.
bool receive(Child& child) {
  std::array<char, 65536> buffer{};
  const ssize_t n = read(child.pipe, buffer.data(), buffer.size());
  if (n > 0) child.received.append(buffer.data(), static_cast<std::size_t>(n));
  return n > 0 || (n < 0 && errno == EINTR);
}

bool memory_allows(const std::vector<Child>& running, double peak_memory_mib) {
  if (running.empty()) return true;
  std::vector<double> used_mib;
  for (const Child& child : running) used_mib.push_back(memory_of_process_mib(child.pid));
  return another_fits(available_memory_mib(), used_mib, std::max(peak_memory_mib, assumed_memory_mib));
}

}  // namespace

double run_in_processes(std::size_t count, int jobs, const std::function<std::string(std::size_t)>& task,
                        const std::function<void(std::size_t, TaskOutcome)>& on_outcome,
                        const std::function<void()>& while_waiting) {
  check(jobs > 0, "a pool needs at least one job");
  double peak_memory_mib = 0.0;
  RunningChildren running;
  std::size_t next = 0;
  while (true) {
    throw_if_interrupted();
    while (running.children.size() < static_cast<std::size_t>(jobs) && next < count &&
           memory_allows(running.children, peak_memory_mib)) {
      running.children.push_back(start_child(next, task));
      ++next;
    }
    if (running.children.empty()) return peak_memory_mib;
    std::vector<pollfd> waiting;
    for (const Child& child : running.children)
      waiting.push_back({.fd = child.pipe, .events = POLLIN, .revents = 0});
    if (poll(waiting.data(), waiting.size(), interrupt_check_ms) <= 0) {
      if (while_waiting) while_waiting();
      continue;
    }
    for (std::size_t i = running.children.size(); i-- > 0;) {
      if (waiting[i].revents == 0 || receive(running.children[i])) continue;
      const Child done = std::move(running.children[i]);
      running.children.erase(running.children.begin() + static_cast<std::ptrdiff_t>(i));
      on_outcome(done.task, reap(done, peak_memory_mib));
    }
  }
}

int default_jobs() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return 1;
  return std::max(1, CPU_COUNT(&allowed));
}

}  // namespace paceline
