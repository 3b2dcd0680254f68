#include "sim/study/pool/process_pool.hpp"

#include <stdexcept>
#include <vector>

#include <doctest/doctest.h>
#include <signal.h>
#include <unistd.h>

#include "sim/base/diagnostic.hpp"

using namespace paceline;

namespace {

std::vector<TaskOutcome> outcomes_of(std::size_t count, int jobs,
                                     const std::function<std::string(std::size_t)>& task) {
  std::vector<TaskOutcome> outcomes(count);
  run_in_processes(count, jobs, task,
                   [&](std::size_t i, TaskOutcome outcome) { outcomes[i] = std::move(outcome); });
  return outcomes;
}

}  // namespace

TEST_CASE("every task has its result, whatever the number of jobs and who finishes first") {
  for (const int jobs : {1, 3, 8}) {
    const std::vector<TaskOutcome> outcomes = outcomes_of(8, jobs, [](std::size_t i) {
      usleep(static_cast<useconds_t>(1000 * (8 - i)));
      return std::string(100000, static_cast<char>('a' + i));
    });
    for (std::size_t i = 0; i < 8; ++i) {
      CHECK(outcomes[i].status == TaskStatus::done);
      CHECK(outcomes[i].output == std::string(100000, static_cast<char>('a' + i)));
    }
  }
}

TEST_CASE("a task that throws and a task that is killed are told apart and disturb nobody") {
  const std::vector<TaskOutcome> outcomes = outcomes_of(3, 2, [](std::size_t i) -> std::string {
    if (i == 0) throw std::runtime_error("broke");
    if (i == 1) raise(SIGKILL);
    return "fine";
  });
  CHECK(outcomes[0].status == TaskStatus::failed);
  CHECK(outcomes[0].output == "broke");
  CHECK(outcomes[1].status == TaskStatus::failed);
  CHECK(outcomes[1].output.find("killed by signal 9") != std::string::npos);
  CHECK(outcomes[2].status == TaskStatus::done);
  CHECK(outcomes[2].output == "fine");
}

TEST_CASE("a user's mistake is told apart, and what the receiver throws ends the pool") {
  const auto mistaken = [](std::size_t) -> std::string { throw UserError("error: no such file\n"); };
  int received = 0;
  CHECK_THROWS_AS(run_in_processes(5, 1, mistaken,
                                   [&](std::size_t, const TaskOutcome& outcome) {
                                     ++received;
                                     CHECK(outcome.status == TaskStatus::user_error);
                                     throw UserError(outcome.output);
                                   }),
                  UserError);
  CHECK(received == 1);
}

TEST_CASE("each task runs in a process of its own") {
  const std::vector<TaskOutcome> outcomes =
      outcomes_of(2, 1, [](std::size_t) { return std::to_string(getpid()); });
  CHECK(outcomes[0].output != outcomes[1].output);
  CHECK(outcomes[0].output != std::to_string(getpid()));
}
