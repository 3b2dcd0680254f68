#include "sim/study/pool/process_pool.hpp"

#include <stdexcept>

#include <doctest/doctest.h>
#include <signal.h>
#include <unistd.h>

#include "sim/base/diagnostic.hpp"

using namespace paceline;

namespace {
const auto ignore_progress = [](std::size_t) {};
}

TEST_CASE("results come back in task order, whatever the number of jobs and who finishes first") {
  for (const int jobs : {1, 3, 8}) {
    const PoolReport report = run_in_processes(
        8, jobs,
        [](std::size_t i) {
          usleep(static_cast<useconds_t>(1000 * (8 - i)));
          return std::string(100000, static_cast<char>('a' + i));
        },
        ignore_progress);
    for (std::size_t i = 0; i < 8; ++i) {
      CHECK(report.outcomes[i].status == TaskStatus::done);
      CHECK(report.outcomes[i].output == std::string(100000, static_cast<char>('a' + i)));
    }
  }
}

TEST_CASE("a task that throws and a task that is killed are told apart and disturb nobody") {
  const PoolReport report = run_in_processes(
      3, 2,
      [](std::size_t i) -> std::string {
        if (i == 0) throw std::runtime_error("broke");
        if (i == 1) raise(SIGKILL);
        return "fine";
      },
      ignore_progress);
  CHECK(report.outcomes[0].status == TaskStatus::failed);
  CHECK(report.outcomes[0].output == "broke");
  CHECK(report.outcomes[1].status == TaskStatus::failed);
  CHECK(report.outcomes[1].output.find("killed by signal 9") != std::string::npos);
  CHECK(report.outcomes[2].status == TaskStatus::done);
  CHECK(report.outcomes[2].output == "fine");
}

TEST_CASE("after a user's mistake no further task is started") {
  const PoolReport report = run_in_processes(
      5, 1,
      [](std::size_t i) -> std::string {
        if (i == 1) throw UserError("error: no such file\n");
        return "fine";
      },
      ignore_progress);
  CHECK(report.outcomes[0].status == TaskStatus::done);
  CHECK(report.outcomes[1].status == TaskStatus::user_error);
  CHECK(report.outcomes[1].output == "error: no such file\n");
  for (std::size_t i = 2; i < 5; ++i) CHECK(report.outcomes[i].status == TaskStatus::not_started);
}

TEST_CASE("each task runs in a process of its own") {
  const PoolReport report = run_in_processes(
      2, 1, [](std::size_t) { return std::to_string(getpid()); }, ignore_progress);
  CHECK(report.outcomes[0].output != report.outcomes[1].output);
  CHECK(report.outcomes[0].output != std::to_string(getpid()));
}
