// ASP that exchanges parameters: a worker goes on with its own copy and pulls once each epoch.
#include <cmath>

#include <doctest/doctest.h>

#include "tests/support/test_job.hpp"

using namespace paceline;
using paceline::test::TestJob;

namespace {

std::vector<SendParameters> pulls(const TestJob::Result& result) {
  std::vector<SendParameters> all;
  for (const auto& [time, sent] : result.recording.all<SendParameters>())
    if (!sent.is_answer_only) all.push_back(sent);
  return all;
}

}  // namespace

TEST_CASE("workers that exchange parameters push after every iteration and pull once per epoch") {
  // One worker, 40 iterations of 10 of 400 samples; the data set of TestJob is the whole job, so it never
  // pulls again after the start of the phase: 40 pushes, all but the last answered, no pull.
  TestJob job;
  job.workers = {{}};
  job.phases = {{.policy = "asp", .exchange = Exchange::parameters}};
  const auto result = job.run_ideal();
  CHECK(result.recording.all<SendGradient>().size() == 40);
  CHECK(result.recording.all<Overwrite>().size() == 40);
  CHECK(result.recording.all<SendParameters>().size() == 39);
  CHECK(pulls(result).empty());
}

TEST_CASE("with several epochs each worker pulls at its first release after each epoch") {
  // 3 epochs of 400 samples; whoever is released at floor(epoch) above that of its last pull, pulls: 2 times
  // each. Between two pulls of a worker the epoch has grown by one.
  TestJob job;
  job.workers = {{1, 1.0}, {1, 0.7}, {1, 0.4}};
  job.phases = {{.policy = "asp", .exchange = Exchange::parameters}};
  job.total_samples = 1200;
  job.dataset_samples = 400;
  const auto result = job.run_ideal();
  std::vector<std::vector<double>> epochs_of_pulls(3);
  std::int64_t applied = 0;
  for (const auto& [time, action] : result.recording.actions) {
    if (const auto* overwrite = std::get_if<Overwrite>(&action)) applied += overwrite->by.batch_samples;
    if (const auto* pull = std::get_if<SendParameters>(&action); pull && !pull->is_answer_only)
      epochs_of_pulls.at(pull->to.value).push_back(std::floor(static_cast<double>(applied) / 400.0));
  }
  for (const std::vector<double>& epochs : epochs_of_pulls) CHECK(epochs == std::vector{1.0, 2.0});
}

TEST_CASE("an iteration with parameters exchanged: computation, step, push and its answer, but no pull") {
  // 10 + 2 + (1 + 1000/100) + taking over 1000/500 = 25 s, and 1 s for an answer without bytes: overwritten
  // at 25, 51, 77 s.
  TestJob job;
  job.workers = {{}};
  job.network = {BytesPerSecond{100.0}, Seconds{1.0}, BytesPerSecond{100.0}};
  job.optimizer_step = Seconds{2.0};
  job.server_rate = BytesPerSecond{500.0};
  job.phases = {{.policy = "asp", .exchange = Exchange::parameters}};
  job.total_samples = 30;
  std::vector<double> times;
  for (const auto& [time, overwrite] : job.run_ideal().recording.all<Overwrite>())
    times.push_back(time.value());
  CHECK(times == std::vector{25.0, 51.0, 77.0});
}
