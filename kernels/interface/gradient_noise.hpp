// How noisy a network's gradients are while it learns, for the gradient noise scale.
//
// Models:      momentum SGD on a data set; at several points of training, mean squared lengths of gradients
//              of small batches and of the large batch they make up together.
// Equation:    at each point and repeat: k small batches of b samples drawn at random, gradients g_1 … g_k;
//              small = mean |g_i|², large = |mean g_i|², of batches b and B = k·b.
// Units:       squared gradient length; samples.
// Assumptions: the network takes 32x32 images; learning at rate 0.02, momentum 0.9, batch 32.
// Not modelled: other optimizers and rates: the noise scale depends on them.
// Source:      McCandlish et al., "An empirical model of large-batch training", 2018, appendix A.1.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/learning/network_learner.hpp"

namespace paceline::kernels {

struct GradientSquares {
  double small = 0.0;
  double large = 0.0;
};

struct NoiseMeasurement {
  std::int64_t small_batch = 32;
  std::int64_t large_batch = 256;
  std::vector<std::int64_t> points = {25, 100, 400};  // updates of training, ascending
  int repeats = 24;                                   // at each point
  DatasetSource data{"built-in-images", "", 4096, 1};
};

struct NoisePoint {
  std::int64_t updates = 0;
  double loss = 0.0;  // mean over the small batches
  std::vector<GradientSquares> repeats;
};

// Deterministic for one number of compute threads. Throws UserError for a network that does not take 32x32
// images, and for data that cannot be loaded.
[[nodiscard]] std::vector<NoisePoint> measure_gradient_noise(const std::string& network,
                                                             const NoiseMeasurement& measurement);

}  // namespace paceline::kernels
