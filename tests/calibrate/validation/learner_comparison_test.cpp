#include "calibrate/validation/learner_comparison.hpp"

#include <doctest/doctest.h>

using namespace paceline;

TEST_CASE("policies are ranked where paired training tells them apart, and only there") {
  // a - b = 0.10 in every seed but for 0.01: told apart. a - c = ±0.02: not.
  const LearnerComparison comparison = compare_learner({{"a", {0.80, 0.82, 0.78}, {0.81}},
                                                        {"b", {0.70, 0.71, 0.68}, {0.82}},
                                                        {"c", {0.82, 0.80, 0.78}, {0.79}}});
  CHECK(comparison.pairs_in_all == 3);
  REQUIRE(comparison.pairs.size() == 2);
  CHECK(comparison.pairs[0].better == "a");
  CHECK(comparison.pairs[0].worse == "b");
  CHECK_FALSE(comparison.pairs[0].is_ranked_alike());  // predicted 0.81 below 0.82
  CHECK(comparison.pairs[1].better == "c");
  CHECK(comparison.pairs[1].predicted_difference == doctest::Approx(-0.03));
}

TEST_CASE("the error is of means, its interval Student's, and the null model ends every policy alike") {
  const LearnerComparison comparison =
      compare_learner({{"a", {0.80, 0.82}, {0.80, 0.84}}, {"b", {0.6, 0.6}, {0.62}}});
  CHECK(comparison.rows[0].predicted - comparison.rows[0].trained == doctest::Approx(0.01));
  // sd 0.01 · √2, n = 2: 0.01 · t(0.95, 1) = 0.01 · 6.3138
  CHECK(*comparison.rows[0].trained_half_width == doctest::Approx(0.063138).epsilon(1e-4));
  CHECK(comparison.rows[1].null_predicted == doctest::Approx(0.72));
}
