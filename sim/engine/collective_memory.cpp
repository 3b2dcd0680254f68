#include "sim/engine/collective_memory.hpp"

#include <utility>

namespace paceline {

void CollectiveMemory::remember(const CollectiveKey& key, Seconds duration, std::vector<LinkTotals> use,
                                double share_missing) {
  known_.emplace(key, Known{duration, std::move(use), share_missing});
}

std::optional<Seconds> CollectiveMemory::find(const CollectiveKey& key) const {
  const auto found = known_.find(key);
  return found == known_.end() ? std::nullopt : std::optional(found->second.duration);
}

void CollectiveMemory::forget() {
  forgotten_ = totals();
  known_.clear();
}

std::vector<LinkTotals> CollectiveMemory::totals() const {
  std::vector<LinkTotals> all = forgotten_;
  for (const auto& [key, known] : known_)
    for (std::size_t i = 0; i < all.size(); ++i) all[i] += known.times * known.use[i];
  return all;
}

}  // namespace paceline
