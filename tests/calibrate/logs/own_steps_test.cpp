#include "calibrate/logs/own_steps.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

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

TEST_CASE("warm-up is left out, and a stall does not move the mean") {
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

namespace {

// Said as they are made, from `start_s` on, or all when the last is made.
ReadSteps copy_of(double start_s, const std::vector<double>& wall, bool at_the_end) {
  ReadSteps copy{steps_of(4, wall), {}};
  for (const double seconds : wall) copy.read_s.push_back(start_s += seconds);
  if (at_the_end) std::ranges::fill(copy.read_s, start_s);
  return copy;
}

}  // namespace

TEST_CASE("copies are timed while all of them compute, whenever they say their steps") {
  // One takes 20 steps of 0.1 s alone and from 2 to 10 s, beside the other, 40 of 0.2 s; the other 20 of
  // 0.4 s and, alone again, 10 of 0.2 s. Both compute from 2 to 10 s: 16 s, half of them the processor's
  // (`steps_of`), 60 steps of 4 samples.
  std::vector<double> first(20, 0.1);
  first.insert(first.end(), 40, 0.2);
  std::vector<double> second(20, 0.4);
  second.insert(second.end(), 10, 0.2);
  for (const bool at_the_end : {false, true}) {
    const std::vector<ReadSteps> copies{copy_of(0.0, first, at_the_end),
                                        copy_of(2.0 - 1e-9, second, !at_the_end)};
    CHECK(mean_processor_at_once(copies, 0, "train.py") == doctest::Approx(8.0 / 240.0));
  }
  // Alone all steps after warm-up count: 40 of 0.1 s of the processor's.
  CHECK(mean_processor_at_once({copy_of(0.0, first, true)}, 20, "train.py") == doctest::Approx(0.025));
}

TEST_CASE("bug: copies that hardly computed at once told speeds of a machine of more cores") {
  // The second begins when the first, of 60 steps of 0.1 s, has 1 s left: less than half are made at once.
  const std::vector<double> wall(60, 0.1);
  const auto both = [&](double later_s) {
    return mean_processor_at_once({copy_of(0.0, wall, false), copy_of(later_s - 1e-9, wall, false)}, 0,
                                  "train.py");
  };
  CHECK(both(2.0) == doctest::Approx(0.0125));
  CHECK_THROWS_WITH_AS(
      static_cast<void>(both(5.0)),
      doctest::Contains("of 60 steps of one of 2 copies 10 were made while all copies computed"), UserError);
  CHECK_THROWS_AS(static_cast<void>(both(7.0)), UserError);
  CHECK_THROWS_AS(static_cast<void>(mean_processor_at_once({copy_of(0.0, {0.1, 0.1}, false)}, 0, "train.py")),
                  UserError);
}

TEST_CASE("steps that vary by themselves tell their mean to 1.96 s/√n") {
  // 50 times 0.09 and 0.11 s by turns: mean 0.1 s, s = 0.01 · √(100/99).
  std::vector<double> wall;
  for (int i = 0; i < 50; ++i) wall.insert(wall.end(), {0.09, 0.11});
  const OwnTimes times = own_times(steps_of(8, wall), 0, "train.log");
  CHECK(times.batches[0].wall.seconds == doctest::Approx(0.1));
  CHECK(times.batches[0].wall.half_width_s == doctest::Approx(1.96 * 0.01 * std::sqrt(100.0 / 99.0) / 10.0));
}

TEST_CASE("on a machine whose speed stays for a while, as many steps tell their mean less well") {
  // Of 400 steps 20 at a time take 0.09 s or 0.11 s, at random: known about as well as a mean of 20 values.
  std::vector<double> wall;
  for (const int slow : {0, 1, 1, 0, 1, 0, 0, 0, 1, 1, 0, 1, 0, 1, 1, 0, 0, 1, 0, 1})
    wall.insert(wall.end(), 20, slow == 0 ? 0.09 : 0.11);
  const std::vector<OwnStep> steps = steps_of(8, wall);
  const MeasuredMean mean = own_times(steps, 0, "train.log").batches[0].wall;
  CHECK(mean.seconds == doctest::Approx(0.1));
  CHECK(mean.half_width_s > 0.6 * 1.96 * 0.01 / std::sqrt(20.0));
  CHECK(mean.half_width_s < 1.4 * 1.96 * 0.01 / std::sqrt(20.0));
  const auto variation = variation_of(steps, 0);
  REQUIRE(variation.has_value());
  const double of_steps = 0.01 * std::sqrt(400.0 / 399.0) / 0.1 / std::sqrt(400.0);
  CHECK(mean.half_width_s ==
        doctest::Approx(1.96 * 0.1 *
                        std::sqrt(of_steps * of_steps + variance_of_mean(variation->spells, Seconds{40.0}))));
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
