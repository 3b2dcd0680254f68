// Which law of the cores fits the measured core counts, and how well.
//
// Models:      sim/cost/profile.hpp: Amdahl, power, universal scalability.
// Equation:    ρ_c = median over the common batches of t(b, c) / t(b, c_min); scale·ρ(c) is fitted to ρ_c by
//              relative least squares: Amdahl scale·ρ = A + B/c; universal scale·ρ = A + B/c + C·(c − 1), all
//              ≥ 0; power on logarithms.
//              leave-one-out error = mean over core counts c and batches b of |t(b, c') · ρ(c)/ρ(c') − t(b,
//              c)| / t(b, c) with the law fitted without c and c' the nearest other count.
//              With k counts a law competes whose parameters (scale included: Amdahl and power 2, universal
//              3) are fewer than k, so that it still fits when one is left out. With k = 2 no law can be
//              judged: Amdahl, which saturates and so promises least, passes through both; its error is
//              unknown. With k = 1 there is no law.
// Units:       seconds; cores.
// Assumptions: batches scale alike.
// Source:      docs/models.md.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "sim/cost/profile.hpp"

namespace paceline::calibrate {

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
