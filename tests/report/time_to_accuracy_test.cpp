#include "sim/report/statistics/time_to_accuracy.hpp"

#include <cmath>

#include <doctest/doctest.h>

using namespace paceline;

namespace {

RunSummary reached(double time_s) {
  RunSummary run;
  run.end_time = Seconds{time_s};
  run.time_to_accuracy = Seconds{time_s};
  return run;
}

RunSummary never(double end_s) {
  RunSummary run;
  run.end_time = Seconds{end_s};
  return run;
}

TimeToAccuracy summarize(const std::vector<RunSummary>& runs) {
  return summarize_time_to_accuracy(runs, longest(runs));
}

}  // namespace

TEST_CASE("a run that never reaches the target counts as slowest in the median") {
  CHECK(summarize({reached(3), reached(1), reached(2)}).median->value() == 2.0);
  CHECK(summarize({reached(3), never(9), reached(1)}).median->value() == 3.0);
  CHECK_FALSE(summarize({never(9), never(9), reached(1)}).median.has_value());
  CHECK_FALSE(summarize({never(9), reached(1)}).median.has_value());
  CHECK(summarize({reached(4), reached(1)}).median->value() == 2.5);
}

TEST_CASE("the probability to reach is never 0 or 1") {
  // (k + 1/2) / (n + 1)
  CHECK(summarize({reached(1), reached(1), reached(1)}).p_reach.value == doctest::Approx(3.5 / 4.0));
  CHECK(summarize({never(1), never(1), never(1)}).p_reach.value == doctest::Approx(0.5 / 4.0));
}

TEST_CASE("reaching and being faster are probabilities of one kind: Jeffreys") {
  // One of two: Beta(3/2, 3/2), symmetric about 1/2. One tie alone: Beta(1, 1), uniform.
  const Probability one_of_two = jeffreys(1, 2);
  CHECK(one_of_two.value == doctest::Approx(0.5));
  CHECK(one_of_two.interval.low + one_of_two.interval.high == doctest::Approx(1.0));
  CHECK(jeffreys(0.5, 1).interval.low == doctest::Approx(0.05));
  CHECK(summarize({reached(1), never(1)}).p_reach.interval.low == one_of_two.interval.low);
  // Brown, Cai, DasGupta 2001 give Beta(0.5, 10.5) for 0 of 10; its 95 % quantile, by numerical integration:
  CHECK(jeffreys(0, 10).interval.high == doctest::Approx(0.171).epsilon(0.01));
  CHECK(jeffreys(10, 10).interval.high < 1.0);
}

namespace {

constexpr double student_4 = 2.131846786327;  // t_{0.95,4}

}  // namespace

TEST_CASE("the prediction interval follows Student's t on logarithms") {
  // y = 0, 0, 1, 2, 2: mean 1, s² = 4 / 4, n = 5: half width = t_{0.95,4} · √1.2
  const double e = std::exp(1.0);
  const TimeToAccuracy summary =
      summarize({reached(1), reached(e * e), reached(e), reached(e * e), reached(1)});
  const double half_width = student_4 * std::sqrt(1.2);
  CHECK(summary.low->value() == doctest::Approx(std::exp(1.0 - half_width)).epsilon(1e-9));
  CHECK(summary.high->value() == doctest::Approx(std::exp(1.0 + half_width)).epsilon(1e-9));
}

TEST_CASE("runs that happen to agree are not certain beyond the evaluation grid") {
  // Five equal times of 10 s, evaluated every 2 s: s = (2/10)/√12, half width = t · s · √1.2
  RunSummary run = reached(10.0);
  run.evaluation_interval = Seconds{2.0};
  const TimeToAccuracy summary = summarize({run, run, run, run, run});
  const double half_width = student_4 * (0.2 / std::sqrt(12.0)) * std::sqrt(1.2);
  CHECK(summary.high->value() == doctest::Approx(10.0 * std::exp(half_width)).epsilon(1e-9));
}

TEST_CASE(
    "the interval is open above when some run never reached, and absent with fewer than five that did") {
  const TimeToAccuracy some =
      summarize({reached(1), reached(2), reached(2), reached(3), reached(3), never(5)});
  CHECK(some.low.has_value());
  CHECK_FALSE(some.high.has_value());
  CHECK_FALSE(summarize({reached(1), reached(2), reached(2), reached(3), never(5)}).low.has_value());
  CHECK_FALSE(summarize({reached(1), reached(2), reached(2), reached(3)}).low.has_value());
}

TEST_CASE(
    "runs that reach, never reach, diverge and stall are four results with their own counts and words") {
  const auto ended = [](const char* reason) {
    RunSummary run = never(1);
    run.end_reason = reason;
    return run;
  };
  const RunSummary diverged = ended("diverged");
  const RunSummary stalled = ended("stalled");
  const Outcomes mixed = count_outcomes({reached(1), diverged, diverged, stalled, never(3)});
  CHECK(mixed.reached == 1);
  CHECK(mixed.diverged == 2);
  CHECK(mixed.stalled == 1);
  CHECK(mixed.done == 1);
  // Two of five are not most of them.
  CHECK(mixed.word(true) == "never");
  CHECK(mixed.shortfall(true) == "2 diverged, 1 stalled, 1 never reached");
  CHECK(mixed.shortfall(false) == "2 diverged, 1 stalled");
  CHECK(count_outcomes({reached(1), diverged, diverged}).word(true) == "diverges");
  CHECK(count_outcomes({stalled, stalled, reached(1)}).word(true) == "stalls");
  CHECK(count_outcomes({reached(1), reached(1), diverged}).word(true) == "reached");
  CHECK(count_outcomes({never(1), diverged}).word(false) == "never");
  CHECK(count_outcomes({never(1), never(2)}).word(false) == "done");
}

TEST_CASE("the restricted mean counts a run that never reached with the horizon") {
  // horizon 8: (2 + 4 + 8) / 3
  CHECK(summarize({reached(2), reached(4), never(8)}).restricted_mean.value() == doctest::Approx(14.0 / 3.0));
}

TEST_CASE(
    "with a common horizon a variant that never reaches is slower in the restricted mean, however short its "
    "runs") {
  // reached at 7 and 9, horizon 10: mean 8. Never, in runs of 2: counts as the horizon, 10.
  const Seconds horizon{10.0};
  CHECK(summarize_time_to_accuracy({reached(7), reached(9)}, horizon).restricted_mean.value() ==
        doctest::Approx(8.0));
  CHECK(summarize_time_to_accuracy({never(2), never(2)}, horizon).restricted_mean.value() ==
        doctest::Approx(10.0));
}

TEST_CASE("without censoring the Kaplan-Meier median is the median") {
  for (const auto& runs : {std::vector{reached(3), reached(1), reached(2)},
                           {reached(4), reached(1)},
                           {reached(1), reached(1), reached(2), reached(2)}})
    CHECK(*summarize(runs).kaplan_meier_median == *summarize(runs).median);
}

TEST_CASE("a run that ended before others reached does not count against the Kaplan-Meier median") {
  // Reached at 2, 4, 6; censored at 3 and 5. S(2) = 4/5; S(4) = 4/5 · 2/3 = 8/15; S(6) = 0: median 6.
  // Counting the censored as infinitely slow, the median of five is the third: 6 as well.
  const TimeToAccuracy five = summarize({reached(2), never(3), reached(4), never(5), reached(6)});
  CHECK(five.kaplan_meier_median->value() == 6.0);
  CHECK(five.median->value() == 6.0);
  // Reached at 2, 4; censored at 1, 1, 1. S(2) = 1/2, S(4) = 0: between 2 and 4. As infinitely slow: never.
  const TimeToAccuracy early = summarize({never(1), never(1), never(1), reached(2), reached(4)});
  CHECK(early.kaplan_meier_median->value() == 3.0);
  CHECK_FALSE(early.median.has_value());
}

TEST_CASE("a run that diverged or stalled would never have reached the target: it is not censored") {
  RunSummary diverged = never(1);
  diverged.end_reason = "diverged";
  RunSummary stalled = never(1);
  stalled.end_reason = "stalled";
  const TimeToAccuracy summary = summarize({diverged, stalled, diverged, reached(2), reached(4)});
  CHECK_FALSE(summary.kaplan_meier_median.has_value());
  // One of three: S(2) = 2/3, S(4) = 1/3.
  CHECK(summarize({diverged, reached(2), reached(4)}).kaplan_meier_median->value() == 4.0);
}

TEST_CASE("end times have a median and an interval even where no target was reached") {
  const double e2 = std::exp(2.0);
  const EndTimes ends = summarize_end_times({never(1), never(1), never(std::exp(1.0)), never(e2), never(e2)});
  CHECK(ends.median.value() == doctest::Approx(std::exp(1.0)));
  const double half_width = student_4 * std::sqrt(1.2);
  CHECK(ends.high->value() == doctest::Approx(std::exp(1.0 + half_width)).epsilon(1e-9));
  CHECK_FALSE(summarize_end_times({never(1), never(1), never(1), never(1)}).low.has_value());
}
