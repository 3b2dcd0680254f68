// How the time of an iteration changes with the number of cores.
//
// Models:      one factor for the whole iteration, relative to its time on one core.
// Equation:    Amdahl                  ρ(c) = σ + (1 − σ)/c
//              power                   ρ(c) = c^(−α)
//              universal scalability   ρ(c) = (1 + σ(c − 1) + κ·c(c − 1)) / c
// Units:       ratios; σ (serial share) in 0-1, κ (coherence) ≥ 0, α (exponent) ≥ 0.
// Assumptions: every core is alike and belongs to the job; all batches scale alike.
// Not modelled: sockets, shared caches, hyper-threads; a quota of processor time is quota_clock.hpp's.
// Source:      Amdahl 1967; Gunther, "A general theory of computational scalability based on rational
//              functions", 2008.
#pragma once

#include <cmath>
#include <string_view>
#include <variant>

namespace paceline {

struct AmdahlLaw {
  static constexpr std::string_view name = "amdahl";
  double serial_share = 0.0;

  [[nodiscard]] double ratio(double c) const { return serial_share + (1.0 - serial_share) / c; }
};
struct PowerLaw {
  static constexpr std::string_view name = "power";
  double exponent = 1.0;

  [[nodiscard]] double ratio(double c) const { return std::pow(c, -exponent); }
};
struct UniversalLaw {
  static constexpr std::string_view name = "universal";
  double serial_share = 0.0;
  double coherence = 0.0;

  [[nodiscard]] double ratio(double c) const {
    return (1.0 + serial_share * (c - 1.0) + coherence * c * (c - 1.0)) / c;
  }
};
using CoreLaw = std::variant<AmdahlLaw, PowerLaw, UniversalLaw>;

// ρ(cores) of the law; cores ≥ 1.
[[nodiscard]] inline double time_ratio(const CoreLaw& law, int cores) {
  return std::visit([&](const auto& each) { return each.ratio(cores); }, law);
}
[[nodiscard]] inline std::string_view law_name(const CoreLaw& law) {
  return std::visit([](const auto& each) { return each.name; }, law);
}

}  // namespace paceline
