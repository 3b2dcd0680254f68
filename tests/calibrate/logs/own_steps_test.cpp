#include "calibrate/logs/own_steps.hpp"

#include <doctest/doctest.h>

using namespace paceline;
using namespace paceline::calibrate;

namespace {

// Of `text` what follows "error: ".
std::string mistake(const std::string& line) {
  try {
    static_cast<void>(parse_own_step(line, "train.log", 7));
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

std::vector<OwnStep> steps_of(std::int64_t batch, const std::vector<double>& wall) {
  std::vector<OwnStep> steps;
  for (const double seconds : wall)
    steps.push_back({static_cast<std::int64_t>(steps.size()), seconds, 0.5 * seconds, batch});
  return steps;
}

}  // namespace

TEST_CASE("lines of steps are read, all others are the loop's own") {
  const auto step = parse_own_step("step 12 0.0314 2.98e-2 32", "train.log", 1);
  REQUIRE(step.has_value());
  CHECK(step->step == 12);
  CHECK(step->wall_s == 0.0314);
  CHECK(step->processor_s == 0.0298);
  CHECK(step->samples == 32);
  for (const char* other : {"", "epoch 1", "steps 1 2 3 4", "  loss 0.3 at step 4"})
    CHECK_FALSE(parse_own_step(other, "train.log", 1).has_value());
}

TEST_CASE("a line of a step that is none names its place") {
  CHECK(mistake("step 1 0.1 0.1").find("train.log:7:12: error: 3 words after `step`") == 0);
  CHECK(mistake("step 1 0,1 0.1 32").find("train.log:7:8: error: its wall-clock time must be a number") == 0);
  CHECK(mistake("step 1 -1 0.1 32").find("train.log:7:8: error: ") == 0);
  CHECK(mistake("step 1 nan 0.1 32").find("train.log:7:8: error: ") == 0);
  CHECK(mistake("step 1 0.1 0.1 3.5").find("train.log:7:16: error: its samples must be a whole number") == 0);
  CHECK(mistake("step 1 0.1 0.1 0").find("train.log:7:16: error: ") == 0);
}

TEST_CASE("warm-up is left out, and a stall does not move the median") {
  std::vector<double> wall(5, 9.0);
  wall.insert(wall.end(), 40, 0.1);
  wall.push_back(50.0);
  const OwnTimes times = own_times(steps_of(32, wall), 5, "train.log");
  REQUIRE(times.batches.size() == 1);
  CHECK(times.batches[0].steps == 41);
  CHECK(times.batches[0].wall.seconds == doctest::Approx(0.1));
  CHECK(times.batches[0].wall.half_width_s == doctest::Approx(0.0));
  CHECK(times.batches[0].processor.seconds == doctest::Approx(0.05));
}

TEST_CASE("of copies that began together the first steps and the last tenth do not count") {
  // 5 steps of 9 s to warm up, 40 of 0.3 and 0.1 s in turn, 5 of 9 s when others have ended: 0.2 s / 4.
  std::vector<double> wall(5, 9.0);
  for (int i = 0; i < 40; ++i) wall.push_back(i % 2 == 0 ? 0.3 : 0.1);
  wall.insert(wall.end(), 5, 9.0);
  CHECK(mean_seconds_per_sample(steps_of(4, wall), 5, "train.log") == doctest::Approx(0.05));
  CHECK_THROWS_AS(static_cast<void>(mean_seconds_per_sample(steps_of(4, {0.1, 0.1}), 0, "train.log")),
                  UserError);
}

TEST_CASE("the interval of a median reaches from rank n/2 - 0.98 √n to n/2 + 0.98 √n") {
  // 1 … 100 in steps of 1, shuffled by a stride that is prime to 100: ranks 50 ± 9.8, so 40 to 60: values 41
  // to 61, half of it 10.
  std::vector<double> wall;
  for (int i = 0; i < 100; ++i) wall.push_back(1.0 + (i * 37) % 100);
  const OwnTimes times = own_times(steps_of(8, wall), 0, "train.log");
  CHECK(times.batches[0].wall.seconds == doctest::Approx(50.5));
  CHECK(times.batches[0].wall.half_width_s == doctest::Approx(10.0));
}

TEST_CASE("batch sizes are told apart, and one of too few steps is left out by name") {
  std::vector<OwnStep> steps = steps_of(16, std::vector<double>(20, 0.1));
  for (const OwnStep& step : steps_of(32, std::vector<double>(20, 0.2))) steps.push_back(step);
  steps.push_back({40, 0.05, 0.05, 7});
  const OwnTimes times = own_times(steps, 0, "train.log");
  REQUIRE(times.batches.size() == 2);
  CHECK(times.batches[1].batch == 32);
  CHECK(times.batches[1].wall.seconds == doctest::Approx(0.2));
  CHECK(times.left_out == std::vector<std::string>{"batch 7: 1 steps"});
}

TEST_CASE("too few steps, and times since the start, are mistakes") {
  CHECK_THROWS_WITH_AS(
      static_cast<void>(own_times(steps_of(8, std::vector<double>(19, 0.1)), 10, "train.log")),
      doctest::Contains("19 steps, of which 10 warm up: at least 10 more are needed"), UserError);
  std::vector<double> since_start;
  for (int i = 1; i <= 30; ++i) since_start.push_back(0.1 * i);
  CHECK_THROWS_WITH_AS(static_cast<void>(own_times(steps_of(8, since_start), 0, "train.log")),
                       doctest::Contains("not the time since the start"), UserError);
}
