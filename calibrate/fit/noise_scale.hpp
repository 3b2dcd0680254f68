// The gradient noise scale: the batch beyond which larger ones bring little.
//
// Models:      a mini-batch gradient is the true one, G, plus noise of covariance Σ/batch.
// Equation:    E|g_b|² = |G|² + tr Σ / b, so from batches b and B:
//              |G|² ≈ (B·|g_B|² − b·|g_b|²)/(B − b),  tr Σ ≈ (|g_b|² − |g_B|²)/(1/b − 1/B), both unbiased;
//              B_simple = mean(tr Σ) / mean(|G|²), since the average of ratios is biased.
//              interval: bootstrap over the repeats, 95 %. Where |G|² is not above 0 the scale is unbounded.
// Units:       samples.
// Assumptions: repeats are independent.
// Source:      McCandlish et al., "An empirical model of large-batch training", 2018, appendix A.1.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "kernels/interface/gradient_noise.hpp"

namespace paceline::calibrate {

struct NoiseScale {
  double samples = std::numeric_limits<double>::infinity();
  double low = 0.0;
  double high = std::numeric_limits<double>::infinity();
};

[[nodiscard]] NoiseScale noise_scale(std::span<const kernels::GradientSquares> repeats, double small_batch,
                                     double large_batch);

// The scale along training, as a profile keeps it; infinity is null in JSON.
struct NoiseRecord {
  struct Point {
    std::int64_t updates = 0;
    double loss = 0.0;
    NoiseScale scale;
  };
  std::string data;
  std::int64_t small_batch = 0;
  std::int64_t large_batch = 0;
  int repeats = 0;
  std::vector<Point> points;
};
void to_json(nlohmann::ordered_json& json, const NoiseRecord& noise);
void from_json(const nlohmann::json& json, NoiseRecord& noise);
[[nodiscard]] std::string noise_text(const NoiseRecord& noise);

}  // namespace paceline::calibrate
