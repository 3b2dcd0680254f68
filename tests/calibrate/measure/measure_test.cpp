// Measuring processes that misbehave, played by shell scripts: every failure is told, with what the child
// said.
#include "calibrate/measure/measure.hpp"

#include <filesystem>
#include <fstream>

#include <doctest/doctest.h>
#include <signal.h>
#include <unistd.h>

#include "sim/base/interrupt.hpp"
#include "tests/cost/example_profile.hpp"

namespace paceline::calibrate {
namespace {

class Script {
 public:
  explicit Script(const std::string& body) : file_("#!/bin/sh\n" + body + "\n") {
    std::filesystem::permissions(file_.path(), std::filesystem::perms::owner_all);
  }
  [[nodiscard]] std::string path() const { return file_.path().string(); }

 private:
  TemporaryFile file_;
};

std::string failure_of(const std::string& script_body) {
  const Script script(script_body);
  const MeasurementPlan plan{"mlp", {1}, {8, 16, 32}, 1, 0.01, 1};
  try {
    static_cast<void>(measure(plan, read_machine(), script.path()));
    return "";
  } catch (const MeasurementError& error) {
    return error.what();
  }
}

}  // namespace

TEST_CASE("a request and a sample survive the way through a line of text") {
  MeasurementPlan plan{"mlp", {2}, {32, 8}, 5, 0.25, 7};
  plan.data = DataChoice{"mnist", "/data"};
  const MeasureRequest request = parse_request(to_line(MeasureRequest{plan, 2, 4, true, {3, 5}}));
  CHECK(request.plan.network == "mlp");
  CHECK(request.cores == 2);
  CHECK(request.process == 4);
  CHECK(request.plan.batches == std::vector<std::int64_t>{32, 8});
  CHECK(request.with_server);
  CHECK(request.plan.seconds_per_point == 0.25);
  CHECK(request.plan.minimum_iterations == 7);
  CHECK(request.plan.data.value().path == "/data");
  CHECK(request.core_numbers == std::vector<int>{3, 5});
  const Sample sample = parse_sample(to_line(Sample{2, 8, 4, Operation::server_step, {0.1, 1.0 / 3.0}}));
  CHECK(sample.cores == 2);
  CHECK(sample.batch == 8);
  CHECK(sample.process == 4);
  CHECK(sample.operation == Operation::server_step);
  CHECK(sample.seconds == std::vector<double>{0.1, 1.0 / 3.0});
  CHECK_FALSE(sample.set_aside);
  Sample aside = sample;
  aside.set_aside = true;
  CHECK(parse_sample(to_line(aside)).set_aside);
}

TEST_CASE("a child that fails is reported with its code and its own words") {
  const std::string text = failure_of("echo no memory left >&2; exit 3");
  CHECK(text ==
        "measuring mlp on 1 core failed: the measuring process exited with code 3\n"
        "its error output:\nno memory left\n");
}

TEST_CASE("a child that is killed is reported with the signal") {
  CHECK(failure_of("kill -9 $$").find("was killed by signal 9 (Killed)\nit wrote no error message") !=
        std::string::npos);
}

TEST_CASE("a child that ends too early or talks nonsense is reported, not believed") {
  CHECK(failure_of("exit 0").find("ended after 0 of 13 measurements") != std::string::npos);
  CHECK(failure_of("echo hello").find("a line that is not a measurement: hello") != std::string::npos);
  const std::string zero = to_line(Sample{1, 8, 0, Operation::forward_backward, {0.0}});
  CHECK(failure_of("echo '" + zero + "'").find("not a measurement") != std::string::npos);
}

TEST_CASE("a program that cannot be started is reported") {
  const MeasurementPlan plan{"mlp", {1}, {8, 16, 32}, 1, 0.01, 1};
  CHECK_THROWS_WITH_AS(static_cast<void>(measure(plan, read_machine(), "/nowhere/program")),
                       doctest::Contains("No such file or directory"), MeasurementError);
}

TEST_CASE("an interrupt ends the measurement and the child at once") {
  catch_interrupts();
  const TemporaryFile pid_file("");
  // The child interrupts its parent, as Ctrl-C would, and then sleeps for ever.
  const Script script("echo $$ > " + pid_file.path().string() + "; kill -INT $PPID; exec sleep 1000");
  const MeasurementPlan plan{"mlp", {1}, {8, 16, 32}, 1, 0.01, 1};
  CHECK_THROWS_AS(static_cast<void>(measure(plan, read_machine(), script.path())), Interrupted);
  pid_t child = 0;
  std::ifstream(pid_file.path()) >> child;
  REQUIRE(child > 0);
  CHECK(kill(child, 0) == -1);  // gone, and waited for
}

}  // namespace paceline::calibrate
