// Uneven clusters whose iteration times are known laws, and how far from balance a controller leaves them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/base/random.hpp"
#include "sim/cost/balance.hpp"
#include "sim/cost/compute_law.hpp"
#include "tests/policy/driven_controller.hpp"

namespace paceline::test {

using Laws = std::vector<ComputeFit>;  // by worker

inline constexpr std::int64_t plenty_of_samples = 256;  // at the start, so that whole samples do not matter

// Machines of `speeds` whose fixed parts are these shares of the time at the balance, 1 s.
inline Laws balanced_at_one_second(const std::vector<double>& speeds,
                                   const std::vector<double>& fixed_shares) {
  double per_second = 0.0;
  for (std::size_t k = 0; k < speeds.size(); ++k) per_second += (1.0 - fixed_shares[k]) * speeds[k];
  const double total = static_cast<double>(plenty_of_samples) * static_cast<double>(speeds.size());
  Laws laws;
  for (std::size_t k = 0; k < speeds.size(); ++k)
    laws.push_back({.intercept = Seconds{fixed_shares[k]},
                    .slope_per_sample = Seconds{per_second / (speeds[k] * total)}});
  return laws;
}

// Three to eight machines with speeds from 2 to 32; `fixed_share(random)` is drawn for each.
template <class Share>
std::vector<Laws> random_clusters(int count, const Share& fixed_share) {
  RandomStream random(Seed{7, 0}, Purpose::test);
  std::vector<Laws> clusters;
  for (int i = 0; i < count; ++i) {
    std::vector<double> speeds(3 + random.below(6));
    for (double& speed : speeds) speed = 2.0 + 30.0 * random.uniform();
    std::vector<double> shares;
    for (std::size_t k = 0; k < speeds.size(); ++k) shares.push_back(fixed_share(random));
    clusters.push_back(balanced_at_one_second(speeds, shares));
  }
  return clusters;
}

inline std::vector<Laws> random_clusters(int count, double fixed_share) {
  return random_clusters(count, [=](RandomStream&) { return fixed_share; });
}

// A bend somewhere between half and twice the initial batch, beyond which a sample costs `factor` times as
// much.
inline std::vector<Laws> random_clusters_with_bends(int count, double factor, double fixed_share) {
  RandomStream random(Seed{8, 0}, Purpose::test);
  std::vector<Laws> clusters = random_clusters(count, fixed_share);
  for (Laws& laws : clusters) {
    const double at_samples = static_cast<double>(plenty_of_samples) * (0.5 + 1.5 * random.uniform());
    for (ComputeFit& law : laws)
      law.knee = BatchKnee{.at_samples = at_samples, .extra_slope = (factor - 1.0) * law.slope_per_sample};
  }
  return clusters;
}

inline double imbalance(const Laws& laws, const Batches& batches) {
  std::vector<BalancedWorker> workers;
  for (std::size_t k = 0; k < laws.size(); ++k) workers.push_back({laws[k], batches[k]});
  return balance_of(workers).imbalance();
}

inline double time_s(const Laws& laws, std::uint64_t worker, std::int64_t batch) {
  return law_seconds(laws[worker], static_cast<double>(batch)).value();
}

// Looks every `iterations`, without bounds that could bind.
inline std::unique_ptr<BatchController> unbounded(const char* controller, std::size_t workers,
                                                  std::int64_t iterations = 1) {
  BatchingConfig config;
  config.controller = {controller, {{"adjust_every", EveryIterations{iterations}}}};
  config.initial_samples = plenty_of_samples;
  config.maximum_samples = 1'000'000;
  return make_batch_controller(config, machines(workers));
}

inline double imbalance_after_three(const char* controller, const Laws& laws) {
  const auto driven = unbounded(controller, laws.size());
  return imbalance(laws,
                   drive(
                       *driven, [&](std::uint64_t w, std::int64_t b) { return time_s(laws, w, b); }, 3, 20));
}

}  // namespace paceline::test
