// A profile as it might have been measured: how unsure the calibration is, carried into simulations.
//
// Models:      the parameters of the compute laws as one equally likely member of the profile's ensemble;
//              where a core count was not measured, its scaling is unsure as well.
// Equation:    draw k = ensemble[⌊u·n⌋], u uniform, keyed by (seed, replication) alone: every policy compared
//              in one replication meets the same machine. Core law: ρ(c)/ρ(c*) · exp(ε·z·|ln(c/c*)| / ln 2),
//              z standard normal, ε the law's leave-one-out error (assumed 10 % where none is known): the
//              error of one doubling, growing with the distance.
// Units:       those of the profile.
// Assumptions: the processes that were measured stand for all processes of this machine.
// Not modelled: the uncertainty of optimizer step, server rates, memory and jitter.
// Source:      Efron and Tibshirani, "An introduction to the bootstrap", 1993.
#pragma once

#include <vector>

#include "sim/base/random.hpp"
#include "sim/cost/profile.hpp"

namespace paceline {

// Error of the core law for each doubling of the cores where fewer than 3 counts were measured.
inline constexpr double assumed_core_law_error = 0.10;

// The profile for one replication; `cores` are the counts in use, of which those without a measurement get a
// fit of their own. Throws UserError when the profile holds no ensemble: an interval of width 0 would be a
// lie.
[[nodiscard]] Profile drawn_profile(const Profile& profile, const std::vector<int>& cores, Seed seed);

}  // namespace paceline
