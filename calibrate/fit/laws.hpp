// Which laws of the batch and of the cores fit measured times, and how well.
//
// Models:      affine T(b) = a + s·b knee T(b) = a + s·b + e·max(0, b − k): one change of slope. Caches
//              overflow (e > 0), or
//                      small batches leave the cores idle (e < 0).
//              cores   compute_law.hpp: Amdahl, power, universal scalability.
// Equation:    (a, s) or (a, s, e) minimize Σ_b ((T(b) − t_b)/t_b)²; a ≥ 0, s ≥ 0, s + e ≥ 0. k runs over the
//              inner batches and the geometric means between them, and the best is kept. leave-one-out error
//              = mean over b of |T fitted without b, at b, − t_b| / t_b, the smallest and the largest batch
//              (extrapolated) included. The knee is chosen where this is below 0.9 times the line's, and by
//              at least 0.1 points. It competes from 6 batches on: its 4 parameters must be fewer than the
//              batches left when one is out. ρ_c = median over the common batches of t(b, c) / t(b, c_min);
//              scale·ρ(c) is fitted to ρ_c by relative least squares: Amdahl scale·ρ = A + B/c; universal
//              scale·ρ = A + B/c + C·(c − 1), all ≥ 0; power on logarithms. Leave-one-out error = mean over
//              core counts c and batches b of |t(b, c') · ρ(c)/ρ(c') − t(b, c)| / t(b, c), the law fitted
//              without c, c' the nearest other count. With k counts a law competes whose parameters (scale
//              included: Amdahl and power 2, universal 3) are fewer than k. With k = 2 no law can be judged:
//              Amdahl, which saturates and so promises least, passes through both; its error is unknown.
// Units:       seconds, samples, cores.
// Assumptions: one time for each batch, robust already (fit.hpp); batches scale alike.
// Not modelled: more than one bend.
// Source:      OmniLearn (ACSOS 2020, figure 5): throughput of a CPU falls beyond a batch of 256.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "sim/cost/profile.hpp"

namespace paceline::calibrate {

struct BatchTime {
  std::int64_t batch_samples = 1;
  double seconds = 0.0;
};

struct BatchLine {
  double intercept_s = 0.0;
  double slope_s_per_sample = 0.0;
  std::optional<BatchKnee> knee = std::nullopt;

  [[nodiscard]] double at(double batch_samples) const;
};

enum class BatchLaw { affine, knee };

inline constexpr std::size_t minimum_batches_for_knee = 6;
inline constexpr double knee_must_win_by = 0.9;
inline constexpr double smallest_gain = 0.001;

// At least 2 different batches, positive times; the knee: at least 5.
[[nodiscard]] BatchLine fit_batch_law(std::span<const BatchTime> points, BatchLaw law);
// One batch more than the law needs.
[[nodiscard]] double leave_one_out_error(std::span<const BatchTime> points, BatchLaw law);

struct BatchLawChoice {
  BatchLaw law = BatchLaw::affine;
  BatchLine line;
  double leave_one_out_error = 0.0;
  double affine_error = 0.0;
  std::optional<double> knee_error = std::nullopt;  // where it competed
};
// At least 3 batches.
[[nodiscard]] BatchLawChoice choose_batch_law(std::span<const BatchTime> points);

// seconds by cores, then by batch
using TimeTable = std::map<int, std::map<std::int64_t, double>>;

struct CoreLawCandidate {
  CoreLaw law;
  double leave_one_out_error = 0.0;
};

// The laws that compete, best first; empty below 3 core counts.
[[nodiscard]] std::vector<CoreLawCandidate> core_law_candidates(const TimeTable& times);
// Nothing with one core count.
[[nodiscard]] std::optional<CoreScalingFit> fit_core_scaling(const TimeTable& times);

}  // namespace paceline::calibrate
