#include "sim/base/process.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/base/check.hpp"
#include "sim/base/interrupt.hpp"

namespace paceline {
namespace {

constexpr int closed = -1;               // the value poll() ignores
constexpr int interrupt_check_ms = 200;  // a signal may arrive just before poll() and not end it
constexpr int patience_with_input_ms = 2000;

std::array<int, 2> open_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  return ends;
}

// A pipe that holds the text already; closed for none.
std::array<int, 2> pipe_with(const std::string& text) {
  if (text.empty()) return {closed, closed};
  const std::array<int, 2> ends = open_pipe();
  if (write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size())) return ends;
  for (const int end : ends) close(end);
  throw std::system_error(errno, std::generic_category(), "input of a child");
}

// The child's end, and ours.
std::array<int, 2> open_socket_pair() {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    throw std::system_error(errno, std::generic_category(), "input of a child");
  return ends;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

std::vector<std::string> environment_of(const Command& command) {
  std::vector<std::string> merged = command.environment;
  for (char** entry = environ; command.inherits_environment && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name_and_equals = text.substr(0, text.find('=') + 1);
    bool replaced = false;
    for (const std::string& own : command.environment) replaced |= own.starts_with(name_and_equals);
    if (!replaced) merged.emplace_back(text);
  }
  return merged;
}

struct Prepared {
  char* const* words;
  char* const* environment;
  const char* folder;
  const cpu_set_t* cores;  // nullptr: all
  pid_t parent;
  int input;  // closed: nothing
  int output;
  int errors;
};

// Between fork and exec only system calls are safe: other threads may have held locks.
[[noreturn]] void become(const Prepared& prepared) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  dup2(prepared.input == closed ? open("/dev/null", O_RDONLY) : prepared.input, STDIN_FILENO);
  dup2(prepared.output, STDOUT_FILENO);
  dup2(prepared.errors, STDERR_FILENO);
  close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);     // sockets that libraries have opened
  if (getppid() != prepared.parent) _exit(status_not_started);  // the parent died before prctl took effect
  if (chdir(prepared.folder) == 0 &&
      (prepared.cores == nullptr || sched_setaffinity(0, sizeof *prepared.cores, prepared.cores) == 0))
    execvpe(prepared.words[0], prepared.words, prepared.environment);
  const char* reason = strerrordesc_np(errno);
  const ssize_t ignored = write(STDERR_FILENO, reason, std::strlen(reason));
  static_cast<void>(ignored);
  _exit(status_not_started);
}

int collect(pid_t id) {
  int status = 0;
  while (waitpid(id, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? status_signal_base + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

std::vector<std::string> compute_environment(int cores) {
  return {fmt::format("OMP_NUM_THREADS={}", cores),
          fmt::format("OPENBLAS_NUM_THREADS={}", cores),
          "OMP_PROC_BIND=true",
          "OMP_WAIT_POLICY=passive",
          "GOMP_SPINCOUNT=2000",  // overrides the policy in g++'s OpenMP
          "MALLOC_MMAP_THRESHOLD_=1073741824",
          "MALLOC_TRIM_THRESHOLD_=1099511627776"};
}

std::string describe_status(int status) {
  const int signal = status - status_signal_base;
  // Beyond the last signal it is a code of the program's own, as ssh's 255.
  return signal > 0 && signal <= SIGRTMAX
             ? fmt::format("was killed by signal {} ({})", signal, strsignal(signal))
             : fmt::format("exited with code {}", status);
}

Process::Process(const Command& command) {
  std::vector<std::string> words = command.words;
  std::vector<std::string> environment = environment_of(command);
  const std::vector<char*> word_pointers = pointers_to(words);
  const std::vector<char*> environment_pointers = pointers_to(environment);
  cpu_set_t cores;
  CPU_ZERO(&cores);
  for (const int core : command.cores) CPU_SET(static_cast<std::size_t>(core), &cores);
  const std::array<int, 2> input = command.keeps_input_open ? open_socket_pair() : pipe_with(command.input);
  const std::array<int, 2> output = open_pipe();
  const std::array<int, 2> errors = open_pipe();
  const Prepared prepared{word_pointers.data(),
                          environment_pointers.data(),
                          command.folder.c_str(),
                          command.cores.empty() ? nullptr : &cores,
                          getpid(),
                          input[0],
                          output[1],
                          errors[1]};
  id_ = fork();
  if (id_ == 0) become(prepared);
  const int fork_error = errno;
  if (command.keeps_input_open) input_ = input[1];
  for (const int end : input)
    if (end != closed && end != input_) close(end);
  close(output[1]);
  close(errors[1]);
  output_.descriptor = output[0];
  errors_.descriptor = errors[0];
  if (id_ > 0) return;
  if (input_ != closed) close(input_);
  close(output[0]);
  close(errors[0]);
  throw std::system_error(fork_error, std::generic_category(), "cannot start " + command.words.front());
}

Process::~Process() {
  if (!has_ended_) {
    kill(id_, SIGKILL);
    collect(id_);
  }
  if (input_ != closed) close(input_);
  for (const Stream* stream : {&output_, &errors_})
    if (stream->descriptor != closed) close(stream->descriptor);
}

bool Process::write_line(const std::string& line) {
  check(input_ != closed, "only to a child whose input is kept open");
  const std::string text = line + "\n";
  for (std::string_view rest = text; !rest.empty();) {
    throw_if_interrupted();
    const ssize_t size = send(input_, rest.data(), rest.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (size >= 0) {
      rest.remove_prefix(static_cast<std::size_t>(size));
      continue;
    }
    // Where nobody reads any more that is no signal, and no mistake of the caller's.
    if (errno != EAGAIN) return true;
    pollfd takes_more{input_, POLLOUT, 0};
    if (poll(&takes_more, 1, patience_with_input_ms) == 0) return false;
  }
  return true;
}

void Process::Stream::read_some() {
  std::array<char, 1 << 16> buffer{};
  const ssize_t size = read(descriptor, buffer.data(), buffer.size());
  if (size > 0) {
    text.append(buffer.data(), static_cast<std::size_t>(size));
  } else if (size == 0 || errno != EINTR) {
    close(descriptor);
    descriptor = closed;
  }
}

bool Process::read_more() {
  throw_if_interrupted();
  if (output_.descriptor == closed && errors_.descriptor == closed) return false;
  std::array<pollfd, 2> sources = {{{output_.descriptor, POLLIN, 0}, {errors_.descriptor, POLLIN, 0}}};
  if (poll(sources.data(), sources.size(), interrupt_check_ms) <= 0) return true;
  if (sources[0].revents != 0) output_.read_some();
  if (sources[1].revents != 0) errors_.read_some();
  return true;
}

std::optional<std::string> Process::read_line() {
  do {
    if (const auto end = output_.text.find('\n'); end != std::string::npos) {
      std::string line = output_.text.substr(0, end);
      output_.text.erase(0, end + 1);
      return line;
    }
  } while (read_more());
  return std::nullopt;
}

int Process::wait() {
  if (input_ != closed) close(std::exchange(input_, closed));
  while (read_more()) {
  }
  const int status = collect(id_);
  has_ended_ = true;
  throw_if_interrupted();
  return status;
}

ProcessResult run_process(const Command& command) {
  Process process(command);
  const int status = process.wait();
  return {status, process.output(), process.errors()};
}

}  // namespace paceline
