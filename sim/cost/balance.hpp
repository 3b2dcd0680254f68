// How far a division of the batch among uneven workers is from the best one.
//
// Models:      the mean time of one iteration of every worker, against the least slowest time that any
//              division of the same total could have.
// Equation:    slowest  = max_k T_k(b_k)
//              balanced = the least T with Σ_k b_k(T) ≥ Σ_k b_k,  b_k(T) = max(1, the largest b with T_k(b) ≤
//              T);
//                         where times are proportional to batches, T_k = b/X_k, that is Σ b / Σ X
//              imbalance = slowest / balanced ≥ 1
// Units:       seconds, samples.
// Assumptions: every worker has at least one sample; parts of samples count. Times grow with the batch.
// Not modelled: jitter of single iterations, loading of data, quotas, the network.
// Source:      OmniLearn (ACSOS 2020): the slowdown by the slowest worker, here for times with a fixed part
//              as well.
#pragma once

#include <cstdint>
#include <span>

#include "sim/base/quantity.hpp"
#include "sim/cost/profile.hpp"

namespace paceline {

struct BalancedWorker {
  ComputeFit law;
  std::int64_t batch_samples = 1;
};

struct Balance {
  std::int64_t total_samples = 0;
  Seconds slowest;
  Seconds balanced;

  [[nodiscard]] double imbalance() const { return balanced > Seconds{} ? slowest / balanced : 1.0; }
};

// Of at least one worker.
[[nodiscard]] Balance balance_of(std::span<const BalancedWorker> workers);

// The batch that takes a law this long: its inverse, negative below the law's fixed part. Infinite where a
// batch costs nothing.
[[nodiscard]] double batch_taking(const ComputeFit& law, Seconds time);

}  // namespace paceline
