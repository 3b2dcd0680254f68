#include "calibrate/logs/correction.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "sim/base/diagnostic.hpp"
#include "sim/cost/compute_law.hpp"
#include "tests/cost/example_profile.hpp"

using namespace paceline;
using namespace paceline::calibrate;

namespace {

// One core of the example: 4 ms + 1 ms a sample, and 0.2 ms for the optimizer.
double of_example(std::int64_t batch) {
  return 4e-3 + 1e-3 * static_cast<double>(batch) + 2e-4;
}

OwnBatchTime own(std::int64_t batch, double seconds) {
  return {batch, 100, {seconds, 0.01 * seconds}, {0.5 * seconds, 0.0}};
}

struct Example {
  TemporaryFile file{example_profile_2().dump()};
  Profile profile = read_profile(file.path());
};

}  // namespace

TEST_CASE("one batch size gives the time that a slower loop adds, or the factor of a faster one") {
  const Example example;
  const Correction slower = correct(example.profile, {own(32, of_example(32) + 1e-3)}, {});
  CHECK(slower.factor == 1.0);
  CHECK(slower.offset_s == doctest::Approx(1e-3));
  const Correction faster = correct(example.profile, {own(32, 0.8 * of_example(32))}, {});
  CHECK(faster.factor == doctest::Approx(0.8));
  CHECK(faster.offset_s == 0.0);
  const Correction asked =
      correct(example.profile, {own(32, 1.5 * of_example(32))}, {.by = CorrectBy::factor});
  CHECK(asked.factor == doctest::Approx(1.5));
  CHECK_THROWS_AS(
      static_cast<void>(correct(example.profile, {own(32, 0.8 * of_example(32))}, {.by = CorrectBy::offset})),
      UserError);
}

TEST_CASE("several batch sizes give factor and offset, with the error that is left") {
  const Example example;
  const Correction both = correct(
      example.profile, {own(8, 1.2 * of_example(8) + 3e-3), own(64, 1.2 * of_example(64) + 3e-3)}, {});
  CHECK(both.factor == doctest::Approx(1.2));
  CHECK(both.offset_s == doctest::Approx(3e-3));
  CHECK(both.error < 1e-9);
  CHECK(both.relative_half_width == doctest::Approx(0.01));
  // Processor time is half of it here.
  const Correction busy =
      correct(example.profile, {own(8, 2.0 * of_example(8)), own(64, 2.0 * of_example(64))},
              {.clock = StepClock::processor});
  CHECK(busy.factor == doctest::Approx(1.0));
}

TEST_CASE("a corrected profile takes factor · (as measured) + offset, and says why") {
  const Example example;
  const Correction correction = correct(
      example.profile, {own(8, 1.2 * of_example(8) + 3e-3), own(64, 1.2 * of_example(64) + 3e-3)}, {});
  const TemporaryFile file(corrected_profile_text(example.file.path(), correction,
                                                  {"`python3 train.py`", "2026-01-01T00:00:00Z", 10}));
  const Profile corrected = read_profile(file.path());
  for (const int cores : {1, 2})
    for (const double batch : {8.0, 100.0}) {
      const double before = law_seconds(*example.profile.find(cores), batch).value();
      const double after = law_seconds(*corrected.find(cores), batch).value();
      CHECK(after == doctest::Approx(1.2 * before + 3e-3));
    }
  CHECK(corrected.find(1)->optimizer_step.value() == doctest::Approx(1.2 * 2e-4));
  const auto drawn = [](const Profile& profile) {
    return law_seconds(profile.ensemble[1].compute[1], 100.0).value();
  };
  CHECK(drawn(corrected) == doctest::Approx(1.2 * drawn(example.profile) + 3e-3));
  CHECK(corrected.server_step_rate == example.profile.server_step_rate);
  REQUIRE(corrected.correction.has_value());
  CHECK(corrected.correction->factor == doctest::Approx(1.2));
  CHECK(corrected.correction->summary.starts_with(
      "by a factor of 1.2 and 3 ms an iteration, from 200 steps of `python3 train.py` (wall time, ± 1 %"));
  CHECK_THROWS_WITH_AS(static_cast<void>(correct(corrected, {own(8, 1.0)}, {})),
                       doctest::Contains("is corrected already"), UserError);
}
