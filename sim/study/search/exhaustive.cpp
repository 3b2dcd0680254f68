#include "sim/base/check.hpp"
#include "sim/study/search/methods.hpp"

namespace paceline::search {

Found exhaustive(const std::vector<double>& settings, int replications, const Objective& objective,
                 Trials& trials) {
  check(!settings.empty(), "a search needs settings");
  Found best;
  for (const double setting : settings) {
    const std::optional<Score> here = score(trials.of(setting, replications), objective);
    if (is_better(here, best.score)) best = {setting, here};
  }
  return best;
}

}  // namespace paceline::search
