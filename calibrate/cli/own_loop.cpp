#include "calibrate/cli/own_loop.hpp"

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <stdexcept>
#include <system_error>
#include <thread>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

extern "C" {  // glibc 2.36 forgets to say so
#include <sys/pidfd.h>
}

#include "calibrate/live/one_core.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/base/process.hpp"
#include "sim/base/progress.hpp"

namespace paceline::calibrate {
namespace {

// The last lines of what a program wrote.
std::string end_of(const std::string& text) {
  constexpr std::size_t most = 2000;
  return text.size() <= most ? text : "…" + text.substr(text.size() - most);
}

// Stops the process again and again, until it is over. By its descriptor, which never means another one.
void stop_in_turn(const std::stop_token& over, int process, const std::vector<Seconds>& rests) {
  std::mutex mutex;
  std::condition_variable_any ended;
  std::unique_lock lock(mutex);
  const auto wait = [&](Seconds time) {
    ended.wait_for(lock, over, std::chrono::duration<double>(time.value()), [] { return false; });
  };
  for (std::size_t turn = 0; !over.stop_requested(); ++turn) {
    wait(between_stops);
    if (over.stop_requested()) break;
    pidfd_send_signal(process, SIGSTOP, nullptr, 0);
    wait(rests[turn % rests.size()]);
    pidfd_send_signal(process, SIGCONT, nullptr, 0);
  }
  close(process);
}

}  // namespace

OwnLoop read_log(const std::string& path) {
  std::ifstream file(path);
  if (!file || std::filesystem::is_directory(path))
    throw UserError(fmt::format("cannot read {}", path), "name a log with lines `step ...`");
  OwnLoop loop{{}, path, {}};
  int number = 0;
  for (std::string line; std::getline(file, line);)
    if (const auto step = parse_own_step(line, path, ++number)) loop.steps.push_back(*step);
  return loop;
}

OwnLoop run_command(const std::vector<std::string>& words, const std::function<void(pid_t)>& when_started,
                    const std::vector<int>& cores) {
  OwnLoop loop{{}, fmt::format("`{}`", fmt::join(words, " ")), {}};
  Process process({.words = words, .cores = cores});
  when_started(process.id());
  int number = 0;
  while (const std::optional<std::string> line = process.read_line()) {
    const std::chrono::duration<double> now = std::chrono::steady_clock::now().time_since_epoch();
    if (const auto step = parse_own_step(*line, "output of " + loop.source, ++number)) {
      loop.steps.push_back(*step);
      loop.read_s.push_back(now.count());
    }
  }
  const int status = process.wait();
  if (status == status_not_started)
    throw UserError(fmt::format("{} cannot be started: {}", loop.source, end_of(process.errors())),
                    "a program on the PATH, or a path to one, after `--`");
  if (status != 0)
    throw std::runtime_error(fmt::format("{} {}{}", loop.source, describe_status(status),
                                         process.errors().empty() ? "" : ":\n" + end_of(process.errors())));
  return loop;
}

OwnLoop run_stopping(const std::vector<std::string>& words, const std::vector<Seconds>& rests,
                     std::optional<std::size_t> core) {
  std::vector<int> cores;
  if (core) cores = live::cores_of(0);
  if (!cores.empty()) cores = {cores[*core % cores.size()]};
  std::jthread stopping;
  return run_command(
      words,
      [&](pid_t id) {
        const int process = pidfd_open(id, 0);
        if (process < 0) throw std::system_error(errno, std::generic_category(), "pidfd_open");
        stopping = std::jthread(
            [process, &rests](const std::stop_token& over) { stop_in_turn(over, process, rests); });
      },
      cores);
}

live::CoreWatch watch_of(const std::vector<std::string>& loop, std::optional<double> computing_s) {
  if (computing_s && !loop.empty())
    throw UserError("--computing cannot be combined with a loop after `--`, which computes",
                    "leave one of them out");
  Progress progress("timing a step");
  if (!loop.empty()) progress.update(0.0, "waiting for lines `step ...`");
  return live::CoreWatch(loop);
}

Seconds computing_of(const live::CoreWatch& watch, std::optional<double> computing_s) {
  return watch.usual_step().value_or(Seconds{computing_s.value_or(5e-3)});
}

}  // namespace paceline::calibrate
