// In what pieces workers sum a gradient, and when each of them can begin.
//
// Models:      an all-reduce that begins before the backward pass has ended. Gradients of variables fill
//              buckets in the order in which they are computed; a bucket that is full is summed while the
//              pass goes on with the others, one bucket after the other.
// Equation:    a bucket takes in whole variables until it holds at least its size, first's for the first
//              one; its sum can begin once the last of its variables is computed on every worker.
// Units:       bytes; shares of an iteration's work (forward and backward).
// Assumptions: the order in which one process computed the gradients is that of all workers and batches.
// Not modelled: gradients of variables that some iterations do not use; a bucket's copy of its gradients; the
//              first iteration, in which DistributedDataParallel has one bucket for all.
// Source:      S. Li et al., PyTorch Distributed, VLDB 2020, section 3.2.3; sizes by default are those of
//              torch.nn.parallel.DistributedDataParallel.
#pragma once

#include <vector>

#include "sim/base/quantity.hpp"

namespace paceline {

struct BucketSizes {
  Bytes first{1024.0 * 1024.0};
  Bytes size{25.0 * 1024.0 * 1024.0};

  friend bool operator==(const BucketSizes&, const BucketSizes&) = default;
};

struct GradientBucket {
  Bytes bytes;
  double ready = 1.0;  // share of the iteration after which its gradients are there
};

struct GradientVariable {
  Bytes bytes;         // 0: not trained
  double ready = 1.0;  // share of an iteration after which its gradient is there
};

// `variables`: in order of creation; of gradients that come together, those of later variables are first.
[[nodiscard]] std::vector<GradientBucket> gradient_buckets(std::vector<GradientVariable> variables,
                                                           const BucketSizes& sizes);

}  // namespace paceline
