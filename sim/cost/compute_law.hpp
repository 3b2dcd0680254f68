// Seconds of an iteration from the laws of a profile.
//
// Models:      forward and backward of a batch b on c cores, without jitter.
// Equation:    measured c:    T(b) = intercept + slope·b + extra_slope·max(0, b − knee)      (knee optional)
//              other c:       T(b, c) = T(b, c*) · ρ(c)/ρ(c*), ρ the core law, c* the measured count next to
//              c (the
//                             smaller of two equally near ones)
// Units:       seconds, samples.
// Assumptions: those of profile.hpp and core_law.hpp.
// Not modelled: more than one bend.
// Source:      docs/models.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/cost/profile.hpp"

namespace paceline {

// The measured core count next to `cores`, the smaller of two equally near ones.
[[nodiscard]] const ComputeFit& nearest_fit(const Profile& profile, int cores);
// The same law with every time `factor` times as long, the optimizer step aside.
[[nodiscard]] ComputeFit scaled(ComputeFit fit, double factor);

[[nodiscard]] Seconds law_seconds(const ComputeFit& fit, double batch_samples);
// What the knee adds to the line, positive or negative; 0 without a knee.
[[nodiscard]] Seconds beyond_knee(const std::optional<BatchKnee>& knee, double batch_samples);

// The fit of a measured core count, or one scaled to the count by the core law; nothing without such a law.
[[nodiscard]] std::optional<ComputeFit> fit_for_cores(const Profile& profile, int cores);

// One sentence for each of the core counts that was not measured, with the law used and how far it can be
// trusted.
[[nodiscard]] std::vector<std::string> core_law_notes(const Profile& profile, const std::vector<int>& cores);

}  // namespace paceline
