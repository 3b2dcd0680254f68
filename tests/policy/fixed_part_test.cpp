// How near balance the proportional rules come in three adjustments where times are not proportional to batches: a fixed
// part, or a bend beyond which a sample costs more.
//
// A proportional step b' = b·t̄/t multiplies a small error of the batches by 1 - ε, where t ∝ b^ε near the balance. With a
// fixed part that is the share φ of the balanced time, ε = 1 - φ: three steps leave φ³ of the logarithm of the imbalance.
// Beyond a bend where a sample costs r times as much, ε is up to r.
#include <algorithm>
#include <array>
#include <vector>

#include <doctest/doctest.h>

#include "sim/base/random.hpp"
#include "sim/cost/balance.hpp"
#include "sim/cost/compute_law.hpp"
#include "tests/policy/driven_controller.hpp"

using namespace paceline;
using namespace paceline::test;

namespace {

constexpr std::int64_t initial_samples = 256;  // so that whole samples do not matter
constexpr std::array proportional{BatchControllerKind::dynamic, BatchControllerKind::proportional_repair};

using Laws = std::vector<ComputeFit>;  // by worker

// Machines of `speeds` whose fixed parts are these shares of the time at the balance, 1 s.
Laws balanced_at_one_second(const std::vector<double>& speeds, const std::vector<double>& fixed_shares) {
  double per_second = 0.0;
  for (std::size_t k = 0; k < speeds.size(); ++k) per_second += (1.0 - fixed_shares[k]) * speeds[k];
  const double total = static_cast<double>(initial_samples) * static_cast<double>(speeds.size());
  Laws laws;
  for (std::size_t k = 0; k < speeds.size(); ++k)
    laws.push_back({.intercept = Seconds{fixed_shares[k]},
                    .slope_per_sample = Seconds{per_second / (speeds[k] * total)}});
  return laws;
}

// Three to eight machines with speeds from 2 to 32.
std::vector<double> random_speeds(RandomStream& random) {
  std::vector<double> speeds(3 + random.below(6));
  for (double& speed : speeds) speed = 2.0 + 30.0 * random.uniform();
  return speeds;
}

double imbalance_after_three(BatchControllerKind kind, const Laws& laws) {
  BatchingConfig config;
  config.controller = kind;
  config.initial_samples = initial_samples;
  config.maximum_samples = 1'000'000;
  config.adjust_every = EveryIterations{1};
  auto controller = make_batch_controller(config, machines(laws.size()));
  const auto time_s = [&](std::uint64_t w, std::int64_t b) {
    return law_seconds(laws[w], static_cast<double>(b)).value();
  };
  const Batches batches = drive(*controller, time_s, 3, 20);
  std::vector<BalancedWorker> workers;
  for (std::size_t k = 0; k < laws.size(); ++k) workers.push_back({laws[k], batches[k]});
  return balance_of(workers).imbalance();
}

double worst_of(BatchControllerKind kind, const std::vector<Laws>& clusters) {
  double worst = 0.0;
  for (const Laws& laws : clusters) worst = std::max(worst, imbalance_after_three(kind, laws));
  return worst;
}

// `fixed_share(random)` is drawn for each worker.
template <class Share>
std::vector<Laws> random_clusters(int count, const Share& fixed_share) {
  RandomStream random(Seed{7, 0}, Purpose::test);
  std::vector<Laws> clusters;
  for (int i = 0; i < count; ++i) {
    const std::vector<double> speeds = random_speeds(random);
    std::vector<double> shares;
    for (std::size_t k = 0; k < speeds.size(); ++k) shares.push_back(fixed_share(random));
    clusters.push_back(balanced_at_one_second(speeds, shares));
  }
  return clusters;
}

// A bend somewhere between half and twice the initial batch, beyond which a sample costs `factor` times as much.
std::vector<Laws> random_clusters_with_bends(int count, double factor) {
  RandomStream random(Seed{8, 0}, Purpose::test);
  std::vector<Laws> clusters = random_clusters(count, [](RandomStream&) { return 0.2; });
  for (Laws& laws : clusters) {
    const double at_samples = static_cast<double>(initial_samples) * (0.5 + 1.5 * random.uniform());
    for (ComputeFit& law : laws)
      law.knee = BatchKnee{.at_samples = at_samples, .extra_slope = (factor - 1.0) * law.slope_per_sample};
  }
  return clusters;
}

}  // namespace

TEST_CASE(
    "three adjustments reach 10 % where the fixed part is at most 0.45 of the balanced time, whatever the "
    "speeds") {
  for (const BatchControllerKind kind : proportional) {
    for (const double share : {0.0, 0.1, 0.2, 0.3, 0.4, 0.45})
      CHECK(worst_of(kind, random_clusters(300, [=](RandomStream&) { return share; })) <= 1.10);
    CHECK(worst_of(kind, random_clusters(1000, [](RandomStream& r) { return 0.45 * r.uniform(); })) <= 1.10);
  }
}

TEST_CASE("with a larger fixed part three adjustments are not enough, by φ³ of the logarithm") {
  // OmniLearn's HL8, 6 6 4 32, fixed part 0.7: at equal batches the slowest takes 0.7 + 0.3·12/4 = 1.6 times the balanced
  // time, and ln 1.6 · 0.7³ = 0.161: some 17 % are left of 60 %.
  const Laws laws = balanced_at_one_second({6, 6, 4, 32}, std::vector<double>(4, 0.7));
  for (const BatchControllerKind kind : proportional) {
    const double left = imbalance_after_three(kind, laws);
    CHECK(left > 1.10);
    CHECK(left < 1.20);
  }
}

TEST_CASE(
    "beyond a bend where a sample costs twice as much the repaired rule reaches 10 % in three adjustments") {
  CHECK(worst_of(BatchControllerKind::proportional_repair, random_clusters_with_bends(300, 2.0)) <= 1.10);
}

TEST_CASE("the published rule takes a bend for a bound, and so may stay far from balance") {
  // Throughput falls beyond the bend, and the batch before becomes the worker's maximum for good.
  CHECK(worst_of(BatchControllerKind::dynamic, random_clusters_with_bends(300, 2.0)) > 1.10);
}

TEST_CASE("beyond a bend where a sample costs four times as much the repaired rule needs more than three") {
  // It halves its gain at each reversal: still nearer than the published rule, which stays at its bounds.
  const std::vector<Laws> clusters = random_clusters_with_bends(300, 4.0);
  const double repaired = worst_of(BatchControllerKind::proportional_repair, clusters);
  CHECK(repaired > 1.10);
  CHECK(repaired < worst_of(BatchControllerKind::dynamic, clusters));
}
