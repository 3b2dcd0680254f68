// How near balance the proportional rules come in three adjustments where times are not proportional to
// batches: a fixed part, or a bend beyond which a sample costs more.
//
// A proportional step b' = b·t̄/t multiplies a small error of the batches by 1 - ε, where t ∝ b^ε near the
// balance. With a fixed part that is the share φ of the balanced time, ε = 1 - φ: three steps leave φ³ of the
// logarithm of the imbalance. Beyond a bend where a sample costs r times as much, ε is up to r.
// proportional-repair learns ε from its first step.
#include <algorithm>
#include <array>
#include <vector>

#include <doctest/doctest.h>

#include "tests/policy/random_clusters.hpp"

using namespace paceline;
using namespace paceline::test;

namespace {

constexpr const char* published = "dynamic";
constexpr const char* repaired = "proportional-repair";

// OmniLearn's levels, BSP and ASP, and its 32 workers.
const std::vector<std::vector<double>> levels{
    {12, 12, 12, 12},
    {12, 12, 8, 16},
    {9, 8, 6, 25},
    {6, 6, 4, 32},
    {10, 10, 4, 16},
    {4, 4, 4, 28},
    {2, 2, 2, 2, 6, 6, 6, 6, 2, 2, 2, 6, 6, 6, 6, 16, 32, 2, 2, 2, 4, 4, 4, 4, 6, 6, 4, 4, 4, 4, 4, 4}};

double worst_of(const char* kind, const std::vector<Laws>& clusters) {
  double worst = 0.0;
  for (const Laws& laws : clusters) worst = std::max(worst, imbalance_after_three(kind, laws));
  return worst;
}

// Share of the clusters that proportional-repair leaves further than 10 % from balance after three
// adjustments, each made from moving averages of ten iterations whose times vary by `jitter`.
double share_missed(const std::vector<Laws>& clusters, double jitter) {
  RandomStream random(Seed{9, 0}, Purpose::test);
  int missed = 0;
  for (const Laws& laws : clusters) {
    const auto controller = unbounded(repaired, laws.size(), 10);
    const auto jittered_s = [&](std::uint64_t w, std::int64_t b) {
      return random.log_normal(time_s(laws, w, b), jitter);
    };
    if (imbalance(laws, drive(*controller, jittered_s, 3, 200)) > 1.10) ++missed;
  }
  return missed / static_cast<double>(clusters.size());
}

}  // namespace

TEST_CASE(
    "the published rule reaches 10 % in three adjustments, whatever the speeds, "
    "where the fixed part is at most 0.45 of the balanced time") {
  for (const double share : {0.0, 0.1, 0.2, 0.3, 0.4, 0.45})
    CHECK(worst_of(published, random_clusters(300, share)) <= 1.10);
  CHECK(worst_of(published, random_clusters(1000, [](RandomStream& r) { return 0.45 * r.uniform(); })) <=
        1.10);
}

TEST_CASE("the published rule needs more than three with a larger fixed part, by φ³ of the logarithm") {
  // OmniLearn's HL8, 6 6 4 32, fixed part 0.7: at equal batches the slowest takes 0.7 + 0.3·12/4 = 1.6 times
  // the balanced time, and ln 1.6 · 0.7³ = 0.161: some 17 % are left of 60 %.
  const double left =
      imbalance_after_three(published, balanced_at_one_second({6, 6, 4, 32}, std::vector<double>(4, 0.7)));
  CHECK(left > 1.10);
  CHECK(left < 1.20);
}

TEST_CASE("the published rule takes a bend for a bound, and so may stay far from balance") {
  // Throughput falls beyond the bend, and the batch before becomes the worker's maximum for good.
  CHECK(worst_of(published, random_clusters_with_bends(300, 2.0, 0.2)) > 1.10);
}

TEST_CASE(
    "proportional-repair reaches 10 % in three adjustments with fixed parts up to 0.8, whatever the speeds") {
  for (const double share : {0.0, 0.2, 0.45, 0.6, 0.7, 0.8})
    CHECK(worst_of(repaired, random_clusters(300, share)) <= 1.10);
  CHECK(worst_of(repaired, random_clusters(1000, [](RandomStream& r) { return 0.8 * r.uniform(); })) <= 1.10);
}

TEST_CASE(
    "proportional-repair reaches 10 % in three adjustments at every level, with fixed parts up to 0.8") {
  for (const std::vector<double>& speeds : levels)
    for (const double share : {0.0, 0.45, 0.7, 0.8})
      CHECK(imbalance_after_three(
                repaired, balanced_at_one_second(speeds, std::vector<double>(speeds.size(), share))) <= 1.10);
}

TEST_CASE(
    "proportional-repair reaches 10 % in three adjustments where a sample beyond a bend costs twice as "
    "much") {
  for (const double share : {0.0, 0.2, 0.5})
    CHECK(worst_of(repaired, random_clusters_with_bends(300, 2.0, share)) <= 1.10);
}

TEST_CASE(
    "where a sample beyond a bend costs four times as much, it does so in all but 2 % of the clusters") {
  // A worker whose third step is the first beyond its bend could not know of it.
  for (const double share : {0.0, 0.2, 0.5}) {
    const std::vector<Laws> clusters = random_clusters_with_bends(1000, 4.0, share);
    CHECK(share_missed(clusters, 0.0) <= 0.02);
    CHECK(worst_of(repaired, clusters) <= 1.30);
  }
}

TEST_CASE("jitter of single iterations costs proportional-repair little of that") {
  // Averages of ten iterations, weight 0.2, vary by a third of the jitter: 1.7 % and 3.3 %. Between the
  // slowest of eight and their mean lie some 1.4 of these, 2.4 % and 4.7 %, whatever the rule.
  for (const double share : {0.0, 0.45, 0.7, 0.8}) {
    CHECK(share_missed(random_clusters(300, share), 0.05) <= 0.01);
    CHECK(share_missed(random_clusters(300, share), 0.10) <= 0.08);
  }
  CHECK(share_missed(random_clusters_with_bends(300, 2.0, 0.2), 0.05) <= 0.01);
  CHECK(share_missed(random_clusters_with_bends(300, 4.0, 0.2), 0.05) <= 0.04);
}
