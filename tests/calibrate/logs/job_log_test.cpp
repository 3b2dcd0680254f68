// Logs of asynchronous jobs: rates, variation and pauses from rows whose truth is known; what is refused.
#include "calibrate/logs/job_log.hpp"

#include <cmath>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "sim/base/atomic_file.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/base/random.hpp"
#include "tests/support/temporary_folder.hpp"

namespace paceline::calibrate {
namespace {

JobLogs read_text(const std::string& text, const JobLogOptions& options = {}) {
  const test::TemporaryFolder folder;
  write_file_atomically(folder.path() / "log.csv", text);
  return read_job_logs({folder.path() / "log.csv"}, options);
}

void check_log_refused(const std::string& text, const std::string& message) {
  CAPTURE(text);
  std::string said;
  try {
    static_cast<void>(read_text(text));
  } catch (const UserError& error) {
    said = error.what();
  }
  CHECK_MESSAGE(said.find(message) != std::string::npos, said);
}

// Windows of 100 updates at 10 a second, after four of 5 a second while workers join.
std::string windows_of(const std::string& job, double pause_s) {
  std::string rows;
  double time = 0.0;
  for (int k = 0; k <= 20; ++k) {
    rows += fmt::format("{},{},{}\n", job, time, 100 * k);
    time += k < 4 ? 20.0 : 10.0;
    if (k % 5 == 0) time += pause_s;
  }
  return rows;
}

}  // namespace

TEST_CASE("job logs: a rate is that of the windows after the first fifth, without a pause") {
  const JobLogs logs =
      read_text("workers,gpu,time_s,step\n" + windows_of("1,k80", 7.0) + windows_of("3,k80", 7.0));
  REQUIRE(logs.jobs.size() == 2);
  CHECK(logs.jobs[0].rate == doctest::Approx(10.0).epsilon(1e-9));
  CHECK(logs.jobs[0].relative_error == doctest::Approx(0.0).epsilon(1e-9));
  // Within the windows that end at 600, 1100 and 1600 updates; those of three workers tell no pauses.
  REQUIRE(logs.jobs[0].pauses.size() == 3);
  for (const LoggedPause& pause : logs.jobs[0].pauses)
    CHECK(pause.seconds == doctest::Approx(7.0).epsilon(1e-9));
  CHECK(logs.jobs[0].pauses[0].at_updates == 600.0);
  CHECK(logs.jobs[0].pauses[1].at_updates == 1100.0);
  CHECK(logs.jobs[1].pauses.empty());
  CHECK(logs.jobs[1].workers == 3);
  CHECK(logs.jobs[1].gpu == "k80");
  CHECK(logs.jobs[1].updates == 2000.0);
}

TEST_CASE("job logs: a job begins anew where time and step do, or where a column of it changes") {
  const std::string rows = windows_of("1", 0.0);
  CHECK(read_text("workers,time_s,step\n" + rows + rows).jobs.size() == 2);
  CHECK(read_text("workers,time_s,step\n" + rows + windows_of("2", 0.0)).jobs.size() == 2);
}

TEST_CASE("job logs: a rate that is logged beside rounded times is taken from its own column") {
  std::string text = "time_s,step,steps_per_s\n";
  for (int k = 0; k < 20; ++k) text += fmt::format("{},{},34.5\n", 3 * k, 100 * k);
  CHECK(read_text(text).jobs.at(0).rate == doctest::Approx(34.5));
}

TEST_CASE("job logs: updates by worker tell workers, rate, variation of iterations and pauses of the chief") {
  // Two workers of 0.1 s with 10 % variation, the chief stops for 3 s after every 250 of its own.
  RandomStream random({1, 0}, Purpose::test);
  std::string text = "worker,time_s\n";
  for (const int worker : {0, 1}) {
    double time = 0.0;
    for (int k = 1; k <= 1000; ++k) {
      time += random.log_normal(0.1, 0.1);
      if (worker == 0 && k % 250 == 0) time += 3.0;
      text += fmt::format("{},{:.6f}\n", worker, time);
    }
  }
  const LoggedJob job = read_text(text).jobs.at(0);
  CHECK(job.workers == 2);
  CHECK(job.updates == 2000.0);
  CHECK(job.rate == doctest::Approx(20.0).epsilon(0.02));
  REQUIRE(job.pauses.size() >= 2);
  for (const LoggedPause& pause : job.pauses) CHECK(pause.seconds == doctest::Approx(3.0).epsilon(0.02));
  // 250 of its own take 28 s, in which the other one makes 280.
  CHECK(job.pauses[1].at_updates - job.pauses[0].at_updates == doctest::Approx(530.0).epsilon(0.03));

  std::string alone = "worker,time_s\n";
  double time = 0.0;
  for (int k = 0; k < 2000; ++k) alone += fmt::format("7,{:.6f}\n", time += random.log_normal(0.1, 0.1));
  CHECK(read_text(alone).jobs.at(0).iteration_variation.value() == doctest::Approx(0.1).epsilon(0.1));
}

TEST_CASE("job logs: windows tell the variation of iterations by the root of their updates") {
  // 100 independent iterations of 20 % vary by 2 % together.
  RandomStream random({2, 0}, Purpose::test);
  std::string text = "time_s,step\n";
  double time = 0.0;
  for (int k = 0; k <= 400; ++k) {
    text += fmt::format("{:.6f},{}\n", time, 100 * k);
    for (int i = 0; i < 100; ++i) time += random.log_normal(0.05, 0.2);
  }
  const LoggedJob job = read_text(text).jobs.at(0);
  CHECK(job.iteration_variation.value() == doctest::Approx(0.2).epsilon(0.15));
  // 320 windows: 1.25 · 2 % / √320.
  CHECK(job.relative_error == doctest::Approx(1.2533 * 0.02 / std::sqrt(320.0)).epsilon(0.15));
}

TEST_CASE("job logs: of a job in one row the chief's pauses are taken off, shared by the workers") {
  const std::string text =
      "configuration,workers,gpus,complete,end_step,duration_s\n"
      "a,1,k80x1,1,8000,820\na,2,k80x2,1,8000,410\na,1,k80x1,0,100,10\n"
      "b,2,k80x1+p100x1,1,8000,400\n";
  const JobLogs logs = read_text(text, {.network = "net", .pauses = KnownPauses{10.0, 4000.0}});
  REQUIRE(logs.jobs.size() == 2);
  CHECK(logs.jobs[0].rate == doctest::Approx(10.0));
  CHECK(logs.jobs[1].rate == doctest::Approx(20.0));
  CHECK(logs.jobs[1].gpu == "k80");
  CHECK(logs.jobs[1].network == "net");
  REQUIRE(logs.left_out.size() == 2);
  CHECK(logs.left_out[0].find("log.csv:4: the job was cut off") != std::string::npos);
  CHECK(logs.left_out[1].find("log.csv:5: workers of several kinds") != std::string::npos);
}

TEST_CASE("job logs: what is no log is refused with its line") {
  check_log_refused("a,b\n1,2\n", "log.csv:1: this is no log of an asynchronous job");
  check_log_refused("time_s,step\n", "log.csv:1: there are no rows");
  check_log_refused("time_s,step\n0,0\n1,x\n", "log.csv:3:3: `x` in column `step` is not a finite number");
  check_log_refused("time_s,step\n0,0\n2,100\n1,200\n", "log.csv:4:3: step 200 at 1 s does not come after");
  check_log_refused("time_s,step\n0,0\n2,100\n3,100\n", "log.csv:4:3: step 100 at 3 s does not come after");
  check_log_refused("time_s,step,workers\n0,0,0\n", "log.csv:2:5: `workers` must be from 1 to 100000, is 0");
  check_log_refused("time_s,step,steps_per_s\n0,0,1\n1,5,0\n", "log.csv:3:5: `steps_per_s` must be above 0");
  check_log_refused("worker,time_s\n0,1\n1,1\n0,1\n", "log.csv:4:3: worker 0 at 1 s does not come after");
  check_log_refused("duration_s,end_step\n-5,100\n", "log.csv:2:1: `duration_s` must be above 0, is -5");
  CHECK(read_text("time_s,step\n0,0\n1,5\n").left_out.at(0).find("2 rows are too few") != std::string::npos);
}

}  // namespace paceline::calibrate
