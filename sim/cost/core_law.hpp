// How the time of an iteration changes with the number of cores.
//
// Models:      one factor for the whole iteration, relative to its time on one core.
// Equation:    Amdahl                  ρ(c) = σ + (1 − σ)/c
//              power                   ρ(c) = c^(−α)
//              universal scalability   ρ(c) = (1 + σ(c − 1) + κ·c(c − 1)) / c
// Units:       none; σ (serial share) in 0-1, κ (coherence) ≥ 0, α (exponent) ≥ 0.
// Assumptions: every core is alike and belongs to the job; all batches scale alike.
// Not modelled: sockets, shared caches, hyper-threads, a quota of processor time (cpu_quota.hpp).
// Source:      Amdahl 1967; Gunther, "A general theory of computational scalability based on rational functions", 2008.
#pragma once

#include <string_view>
#include <variant>

namespace paceline {

struct AmdahlLaw {
  double serial_share = 0.0;
};
struct PowerLaw {
  double exponent = 1.0;
};
struct UniversalLaw {
  double serial_share = 0.0;
  double coherence = 0.0;
};
using CoreLaw = std::variant<AmdahlLaw, PowerLaw, UniversalLaw>;

// ρ(cores) of the law; cores ≥ 1.
[[nodiscard]] double time_ratio(const CoreLaw& law, int cores);
// "amdahl", "power", "universal".
[[nodiscard]] std::string_view law_name(const CoreLaw& law);

}  // namespace paceline
