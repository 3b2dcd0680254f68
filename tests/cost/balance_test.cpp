#include "sim/cost/balance.hpp"

#include <doctest/doctest.h>

using namespace paceline;

namespace {

ComputeFit line(double intercept_s, double slope_s) {
  return {.intercept = Seconds{intercept_s}, .slope_per_sample = Seconds{slope_s}};
}

}  // namespace

TEST_CASE("where times are proportional to batches the balanced time is the total over the sum of speeds") {
  // Cores 12, 12, 8, 16 with 32 each: slowest 32/8 = 4, balanced 128/48 = 2.667: imbalance 1.5.
  const std::vector<BalancedWorker> workers{
      {line(0, 1.0 / 12), 32}, {line(0, 1.0 / 12), 32}, {line(0, 1.0 / 8), 32}, {line(0, 1.0 / 16), 32}};
  const Balance balance = balance_of(workers);
  CHECK(balance.total_samples == 128);
  CHECK(balance.slowest.value() == doctest::Approx(4.0));
  CHECK(balance.balanced.value() == doctest::Approx(128.0 / 48.0));
  CHECK(balance.imbalance() == doctest::Approx(1.5));
}

TEST_CASE("a fixed part of the time is part of the best division") {
  // T1 = 1 + b, T2 = 3 + b, 20 samples: b1 + b2 = (T - 1) + (T - 3) = 20 -> T = 12, b = 11 and 9.
  const std::vector<BalancedWorker> workers{{line(1, 1), 11}, {line(3, 1), 9}};
  const Balance balance = balance_of(workers);
  CHECK(balance.balanced.value() == doctest::Approx(12.0));
  CHECK(balance.imbalance() == doctest::Approx(1.0));
}

TEST_CASE("a worker too slow for its share still has one sample") {
  // T1 = b, T2 = 100 + b, 20 samples: even with one sample the second needs 101.
  const std::vector<BalancedWorker> workers{{line(0, 1), 10}, {line(100, 1), 10}};
  const Balance balance = balance_of(workers);
  CHECK(balance.slowest.value() == doctest::Approx(110.0));
  CHECK(balance.balanced.value() == doctest::Approx(101.0));
}

TEST_CASE("the inverse of a law with a bend takes each side's slope") {
  // 10 + b up to 50 samples, then 3 s more for each: 10 + 60 + 10·3 = 100 s at 60 samples.
  ComputeFit law = line(10, 1);
  law.knee = BatchKnee{.at_samples = 50.0, .extra_slope = Seconds{3.0}};
  CHECK(batch_taking(law, Seconds{40.0}) == doctest::Approx(30.0));
  CHECK(batch_taking(law, Seconds{100.0}) == doctest::Approx(60.0));
  CHECK(batch_taking(law, Seconds{4.0}) == doctest::Approx(-6.0));
}
