// The methods of search over a line or a list.
//
// Models:      exhaustive: every setting of a list, all replications of each.
//              golden section: shrinks an interval around the lowest of three points until it is short
//              enough.
//              successive halving: rounds; in each, the settings that are left get `keep_one_of` times the
//              replications of the round before, and the best one in `keep_one_of` go on.
// Equation:    golden section: an interval [a, b] is probed at b - φ(b-a) and a + φ(b-a), φ = (√5 - 1)/2, so
//              that one of the two points can be used again; settings tried, but for the ends:
//                2 + ⌈ln(tolerance/(b-a)) / ln φ⌉.
//              successive halving of n settings: round k has ⌈n / q^k⌉ settings with min(r₀ q^k, R)
//                replications.
// Units:       those of the settings.
// Assumptions: golden section: the score has one valley on the interval (beside noise smaller than its
//              depth); common random numbers over settings make that noise small. An infeasible setting
//              counts as higher than any other, so the feasible settings must lie together.
// Not modelled: several numbers at a time; gradients.
// Source:      Kiefer 1953 (golden section); Jamieson and Talwalkar 2016 (successive halving).
#pragma once

#include <optional>
#include <vector>

#include "sim/study/search/score.hpp"
#include "sim/study/search/setting.hpp"

namespace paceline::search {

struct Found {
  std::optional<double> setting;  // absent: no feasible one was tried
  std::optional<Score> score;
};

// Of equals, the first.
[[nodiscard]] Found exhaustive(const std::vector<double>& settings, int replications,
                               const Objective& objective, Trials& trials);

struct Line {
  double from = 0.0;
  double to = 1.0;
  double tolerance = 0.01;  // length of the interval that is left
  bool whole = false;       // only whole numbers are tried: the nearest ones
};
[[nodiscard]] Found golden_section(const Line& line, int replications, const Objective& objective,
                                   Trials& trials);

struct Halving {
  int first_replications = 4;
  int replications = 20;  // of a setting, at most
  int keep_one_of = 3;
};
// The best of the last round, which has all replications when rounds are left for it.
[[nodiscard]] Found successive_halving(std::vector<double> settings, const Halving& halving,
                                       const Objective& objective, Trials& trials);

}  // namespace paceline::search
