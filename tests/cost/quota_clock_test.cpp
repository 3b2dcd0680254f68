// Computing under a quota of processor time: bursts and pauses in each period.
#include "sim/cost/quota_clock.hpp"

#include <cmath>
#include <vector>

#include <doctest/doctest.h>

#include "sim/base/random.hpp"

namespace paceline {
namespace {

// On one core 4 s of each 10 s.
const CpuQuota four_of_ten{0.4, Seconds{10.0}};

// The end of each piece of work when they follow one another without a break.
double end_of_all(QuotaClock& clock, double start, const std::vector<double>& works) {
  Seconds now{start};
  for (const double work : works) {
    const Seconds end = clock.end_of(now, Seconds{work});
    clock.use(now, end);
    now = end;
  }
  return now.value();
}

}  // namespace

TEST_CASE("short work is not slowed down, and finds what is left by the work before it") {
  // r = P·q/c = 4 s. 3 s run at once; of the next 3 s one fits, two wait for the period from 10 s on:
  // end 12 s.
  QuotaClock clock(four_of_ten, 1, Seconds{});
  CHECK(end_of_all(clock, 0.0, {3.0}) == 3.0);
  CHECK(end_of_all(clock, 3.0, {3.0}) == 12.0);
}

TEST_CASE("long work ends (W − r) − n·r into a later period") {
  // From 0 s: 4 s in each of the periods from 0, 10 and 20 s, 1 s of that from 30 s: 31 s. Exactly
  // 12 s end at 24 s.
  const QuotaClock clock(four_of_ten, 1, Seconds{});
  CHECK(clock.end_of(Seconds{0.0}, Seconds{13.0}).value() == 31.0);
  CHECK(clock.end_of(Seconds{0.0}, Seconds{12.0}).value() == 24.0);
  // From 8 s: 2 s until 10 s, then 4 s, then 1 s: 21 s.
  CHECK(clock.end_of(Seconds{8.0}, Seconds{7.0}).value() == 21.0);
  // Twice the cores use it up in half the time: 2 s of each period.
  CHECK(QuotaClock(four_of_ten, 2, Seconds{}).end_of(Seconds{0.0}, Seconds{5.0}).value() == 21.0);
  // Periods that begin at 3 s + k · 10 s: from 0 s, 3 s of the period that began at −7 s, then
  // 4 s from 3 s on.
  CHECK(QuotaClock(four_of_ten, 1, Seconds{3.0}).end_of(Seconds{0.0}, Seconds{6.0}).value() == 6.0);
}

TEST_CASE("waiting uses nothing, and what is not used in a period is lost") {
  // 1 s from 0 s; from 20 s on a fresh allowance of 4 s, not 4 + 3.
  QuotaClock clock(four_of_ten, 1, Seconds{});
  CHECK(end_of_all(clock, 0.0, {1.0}) == 1.0);
  CHECK(clock.end_of(Seconds{20.0}, Seconds{6.0}).value() == 32.0);
}

TEST_CASE("a quota of as many cores as are busy holds nothing up") {
  // max(1, c/q) = 1, and the end is start + work
  const CpuQuota two{2.0, Seconds{0.1}};
  CHECK(steady_slowdown(two, 2) == 1.0);
  CHECK(steady_slowdown(two, 1) == 1.0);
  CHECK(QuotaClock(two, 2, Seconds{-0.05}).end_of(Seconds{1.0}, Seconds{7.0}).value() ==
        doctest::Approx(8.0).epsilon(1e-12));
}

TEST_CASE("who has stood still computes for `resume` again") {
  // 4 s of each 10 s, 1 s to resume. From 0 s: 4 s, then 3 s of the work in each of the periods from 10 and
  // 20 s (11 to 14, 21 to 24), then 3 s: 13 s of work end at 30 + 1 + 3 = 34 s.
  CpuQuota quota = four_of_ten;
  quota.resume = Seconds{1.0};
  QuotaClock clock(quota, 1, Seconds{});
  CHECK(clock.end_of(Seconds{0.0}, Seconds{13.0}).value() == 34.0);
  // From 8 s on nobody stands still at 10 s: 2 s, 4 s until 14 s, then 1 s to resume and 1 s: 22 s.
  CHECK(clock.end_of(Seconds{8.0}, Seconds{7.0}).value() == 22.0);
  CHECK(clock.work_between(Seconds{8.0}, Seconds{22.0}).value() == 7.0);
  // Looked at while it resumes, half of that is still to come: 4 s by 4 s, nothing until 10.5 s, 0.5 s more
  // to resume, then 2 s: 13 s.
  CHECK(clock.use(Seconds{0.0}, Seconds{10.5}).value() == 4.0);
  CHECK(clock.end_of(Seconds{10.5}, Seconds{2.0}).value() == 13.0);
  CHECK(clock.work_between(Seconds{10.5}, Seconds{13.0}).value() == 2.0);
  // Steady: 10 s for 4 − 1 = 3 s of work.
  CHECK(steady_slowdown(quota, 1) == doctest::Approx(10.0 / 3.0).epsilon(1e-12));
  // A quota that never holds up costs nothing: 7 s.
  CpuQuota whole{1.0, Seconds{10.0}, Seconds{1.0}};
  CHECK(QuotaClock(whole, 1, Seconds{}).end_of(Seconds{8.0}, Seconds{7.0}).value() == 15.0);
}

TEST_CASE("work done until a date is the inverse of the date at which it is done") {
  // work_between(start, end_of(start, W)) = W, for random starts and works
  RandomStream stream(Seed{7}, Purpose::test);
  for (int i = 0; i < 1000; ++i) {
    CpuQuota quota{0.1 + 3.0 * stream.uniform(), Seconds{0.05 + stream.uniform()}};
    const int cores = 1 + static_cast<int>(stream.below(4));
    if (i % 2 == 1) quota.resume = 0.9 * stream.uniform() * allowance_of(quota, cores);
    QuotaClock clock(quota, cores, Seconds{-stream.uniform()});
    const Seconds begin{stream.uniform()};
    const Seconds now = clock.end_of(begin, Seconds{stream.uniform()});
    clock.use(begin, now);
    const Seconds work{5.0 * stream.uniform()};
    CAPTURE(i);
    CHECK(clock.work_between(now, clock.end_of(now, work)).value() ==
          doctest::Approx(work.value()).epsilon(1e-9));
  }
}

TEST_CASE("computing without a break is slower by cores over quota") {
  // 1000 pieces of 0.37 s of work on 3 cores under a quota of 1.2: 370 s · 3/1.2 = 925 s, to within a period
  QuotaClock clock({1.2, Seconds{0.1}}, 3, Seconds{-0.02});
  CHECK(std::abs(end_of_all(clock, 0.0, std::vector<double>(1000, 0.37)) - 925.0) <= 0.1);
}

}  // namespace paceline
