#include <algorithm>

#include "sim/base/check.hpp"
#include "sim/study/search/methods.hpp"

namespace paceline::search {

Found successive_halving(std::vector<double> settings, const Halving& halving, const Objective& objective,
                         Trials& trials) {
  check(!settings.empty() && halving.first_replications > 0 && halving.keep_one_of > 1,
        "halving needs settings, replications, and to leave some behind");
  int replications = std::min(halving.first_replications, halving.replications);
  const auto keep_one_of = static_cast<std::size_t>(halving.keep_one_of);
  while (true) {
    std::vector<Found> ranked;
    for (const double setting : settings)
      ranked.push_back({setting, score(trials.of(setting, replications),
                                       static_cast<std::size_t>(replications), objective)});
    std::ranges::stable_sort(ranked,
                             [](const Found& a, const Found& b) { return is_better(a.score, b.score); });
    const bool last = settings.size() == 1 || replications == halving.replications;
    if (last) return ranked.front().score ? ranked.front() : Found{};
    ranked.resize((ranked.size() + keep_one_of - 1) / keep_one_of);
    settings.clear();
    for (const Found& found : ranked) settings.push_back(*found.setting);
    replications = std::min(replications * halving.keep_one_of, halving.replications);
  }
}

}  // namespace paceline::search
