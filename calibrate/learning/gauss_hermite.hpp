// Three nodes for means over a standard normal draw.
//
// Equation:    E[f(z)] ≈ Σ weight · f(node), nodes -√3, 0, √3, weights 1/6, 2/3, 1/6: exact for polynomials of degree 5.
// Units:       pure numbers.
// Source:      Abramowitz and Stegun, table 25.10.
#pragma once

#include <array>

namespace paceline {

struct QuadratureNode {
  double at = 0.0;
  double weight = 0.0;
};

inline constexpr std::array<QuadratureNode, 3> gauss_hermite{
    {{-1.7320508075688772, 1.0 / 6.0}, {0.0, 2.0 / 3.0}, {1.7320508075688772, 1.0 / 6.0}}};

}  // namespace paceline
