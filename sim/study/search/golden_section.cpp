#include <cmath>
#include <numbers>

#include "sim/base/check.hpp"
#include "sim/study/search/methods.hpp"

namespace paceline::search {

Found golden_section(const Line& line, int replications, const Objective& objective, Trials& trials) {
  check(line.from < line.to && line.tolerance > 0.0, "a line has a length and a tolerance");
  constexpr double shrink = std::numbers::phi - 1.0;
  Found best;
  const auto evaluate = [&](double wanted) {
    const double setting = line.whole ? std::round(wanted) : wanted;
    const std::optional<Score> here = score(trials.of(setting, replications), objective);
    if (is_better(here, best.score)) best = {setting, here};
    return here;
  };
  // The lowest point may be an end, which the interior points never reach.
  evaluate(line.from);
  evaluate(line.to);
  double low = line.from;
  double high = line.to;
  double left = high - shrink * (high - low);
  double right = low + shrink * (high - low);
  std::optional<Score> at_left = evaluate(left);
  std::optional<Score> at_right = evaluate(right);
  while (high - low > line.tolerance) {
    // Where neither is feasible, the side of the best setting so far is kept.
    const bool keep_left =
        at_left || at_right ? is_better(at_left, at_right) : best.setting.value_or(low) < (low + high) / 2.0;
    if (keep_left) {
      high = right;
      right = left;
      at_right = at_left;
      left = high - shrink * (high - low);
      at_left = evaluate(left);
    } else {
      low = left;
      left = right;
      at_left = at_right;
      right = low + shrink * (high - low);
      at_right = evaluate(right);
    }
  }
  return best;
}

}  // namespace paceline::search
