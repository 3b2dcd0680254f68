// Seconds of an iteration from the laws of a profile.
//
// Models:      forward and backward of a batch b on c cores, without jitter.
// Equation:    measured c:    T(b) = intercept + slope·b + extra_slope·max(0, b − knee)      (knee optional)
//              other c:       T(b, c) = T(b, c*) · ρ(c)/ρ(c*), ρ the core law, c* the measured count next to
//              c (the
//                             smaller of two equally near ones)
//              a profile as it might have been measured: draw k = ensemble[⌊u·n⌋], u uniform, keyed by
//              (seed, replication) alone: every policy compared in one replication meets the same machine.
//              Its core law: ρ(c)/ρ(c*) · exp(ε·z·|ln(c/c*)| / ln 2), z standard normal, ε the law's
//              leave-one-out error (assumed 10 % where none is known): the error of one doubling.
// Units:       seconds, samples.
// Assumptions: those of profile.hpp. The processes that were measured stand for all of this machine.
// Not modelled: more than one bend; the uncertainty of optimizer step, server rates, memory and jitter.
// Source:      Efron and Tibshirani, "An introduction to the bootstrap", 1993; docs/models.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/random.hpp"
#include "sim/cost/profile.hpp"

namespace paceline {

// The measured core count next to `cores`, the smaller of two equally near ones.
[[nodiscard]] const ComputeFit& nearest_fit(const Profile& profile, int cores);
// The same law with every time `factor` times as long, the optimizer step aside.
[[nodiscard]] ComputeFit scaled(ComputeFit fit, double factor);

[[nodiscard]] Seconds law_seconds(const ComputeFit& fit, double batch_samples);

// The fit of a measured core count, or one scaled to the count by the core law; nothing without such a law.
[[nodiscard]] std::optional<ComputeFit> fit_for_cores(const Profile& profile, int cores);

// One sentence for each of the core counts that was not measured, with the law used and how far it can be
// trusted; and one before them where the laws have been corrected.
[[nodiscard]] std::vector<std::string> core_law_notes(const Profile& profile, const std::vector<int>& cores);

// Error of the core law for each doubling of the cores where fewer than 3 counts were measured.
inline constexpr double assumed_core_law_error = 0.10;

// The profile for one replication; `cores` are the counts in use, of which those without a measurement get a
// fit of their own. Throws UserError when the profile holds no ensemble: an interval of width 0 would be a
// lie.
[[nodiscard]] Profile drawn_profile(const Profile& profile, const std::vector<int>& cores, Seed seed);

}  // namespace paceline
