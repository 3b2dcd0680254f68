#include "calibrate/measure/child_process.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/base/interrupt.hpp"

namespace paceline::calibrate {
namespace {

constexpr int closed = -1;               // the value poll() ignores
constexpr int interrupt_check_ms = 200;  // a signal may arrive just before poll() and not end it

struct Pipe {
  int read_end = closed;
  int write_end = closed;
};

Pipe open_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  return {ends[0], ends[1]};
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

std::vector<std::string> merged_environment(const std::vector<std::string>& additions) {
  std::vector<std::string> merged = additions;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name_and_equals = text.substr(0, text.find('=') + 1);
    bool replaced = false;
    for (const std::string& addition : additions) replaced |= addition.starts_with(name_and_equals);
    if (!replaced) merged.emplace_back(text);
  }
  return merged;
}

cpu_set_t core_mask(const std::vector<int>& cores) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  for (const int core : cores) CPU_SET(static_cast<std::size_t>(core), &mask);
  return mask;
}

// Between fork and exec only system calls are safe: other threads may have held locks.
[[noreturn]] void become(const char* program, char* const* arguments, char* const* environment,
                         const cpu_set_t& mask, pid_t parent, int output, int errors) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int no_input = open("/dev/null", O_RDONLY);
  dup2(no_input, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(errors, STDERR_FILENO);
  if (getppid() != parent) _exit(127);  // the parent died before prctl took effect
  if (sched_setaffinity(0, sizeof mask, &mask) == 0) execve(program, arguments, environment);
  const char* reason = strerrordesc_np(errno);
  const ssize_t ignored = write(STDERR_FILENO, reason, std::strlen(reason));
  static_cast<void>(ignored);
  _exit(127);
}

}  // namespace

ChildProcess::ChildProcess(const ChildCommand& command) {
  std::vector<std::string> arguments = {command.program};
  arguments.insert(arguments.end(), command.arguments.begin(), command.arguments.end());
  std::vector<std::string> environment = merged_environment(command.environment);
  const std::vector<char*> argument_pointers = pointers_to(arguments);
  const std::vector<char*> environment_pointers = pointers_to(environment);
  const cpu_set_t mask = core_mask(command.cores);
  const Pipe output = open_pipe();
  const Pipe errors = open_pipe();
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ == 0)
    become(command.program.c_str(), argument_pointers.data(), environment_pointers.data(), mask, parent,
           output.write_end, errors.write_end);
  const int fork_error = errno;
  close(output.write_end);
  close(errors.write_end);
  output_ = output.read_end;
  errors_ = errors.read_end;
  if (pid_ > 0) return;
  close(output_);
  close(errors_);
  throw std::system_error(fork_error, std::generic_category(), "cannot start a measuring process");
}

ChildProcess::~ChildProcess() {
  if (!waited_for_) {
    kill(pid_, SIGKILL);
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) continue;
  }
  if (output_ != closed) close(output_);
  if (errors_ != closed) close(errors_);
}

void ChildProcess::drain(int& descriptor, std::string& into) {
  std::array<char, 1 << 16> buffer{};
  const ssize_t size = read(descriptor, buffer.data(), buffer.size());
  if (size > 0) {
    into.append(buffer.data(), static_cast<std::size_t>(size));
  } else if (size == 0 || errno != EINTR) {
    close(descriptor);
    descriptor = closed;
  }
}

std::optional<std::string> ChildProcess::read_line() {
  while (true) {
    throw_if_interrupted();
    if (const auto end = output_text_.find('\n'); end != std::string::npos) {
      std::string line = output_text_.substr(0, end);
      output_text_.erase(0, end + 1);
      return line;
    }
    if (output_ == closed && errors_ == closed) return std::nullopt;
    std::array<pollfd, 2> sources = {{{output_, POLLIN, 0}, {errors_, POLLIN, 0}}};
    if (poll(sources.data(), sources.size(), interrupt_check_ms) <= 0) continue;
    if (sources[0].revents != 0) drain(output_, output_text_);
    if (sources[1].revents != 0) drain(errors_, error_text_);
  }
}

std::optional<std::string> ChildProcess::wait_for_failure() {
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) throw_if_interrupted();
  waited_for_ = true;
  throw_if_interrupted();
  if (WIFSIGNALED(status))
    return fmt::format("was killed by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
  if (WEXITSTATUS(status) != 0) return fmt::format("exited with code {}", WEXITSTATUS(status));
  return std::nullopt;
}

}  // namespace paceline::calibrate
