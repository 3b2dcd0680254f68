// What collectives that had the network to themselves took, so that the same one need not be simulated again.
//
// Models:      on a network that nothing else uses, an all-reduce with the same algorithm, members, size and link
//              capacities takes the same time and puts the same load on every link.
// Assumptions: the owner forgets everything when a capacity changes.
// Source:      design section 11.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <vector>

#include "sim/base/id.hpp"
#include "sim/engine/collective.hpp"
#include "sim/engine/link_meter.hpp"

namespace paceline {

struct CollectiveKey {
  Collective algorithm = Collective::ring;
  std::vector<WorkerId> members;
  Bytes size;
  friend auto operator<=>(const CollectiveKey&, const CollectiveKey&) = default;
};

class CollectiveMemory {
 public:
  explicit CollectiveMemory(std::size_t directions) : forgotten_(directions) {}

  // `use`: what one such collective adds to each direction.
  // `share_missing`: the part of that which was not simulated, and so counts once already.
  void remember(const CollectiveKey& key, Seconds duration, std::vector<LinkTotals> use,
                double share_missing);
  // How long it takes, if known.
  [[nodiscard]] std::optional<Seconds> find(const CollectiveKey& key) const;
  // Its load counts once more.
  void count(const CollectiveKey& key) { known_.at(key).times += 1.0; }
  void forget();
  // The load of everything used again so far, by direction.
  [[nodiscard]] std::vector<LinkTotals> totals() const;

 private:
  struct Known {
    Seconds duration;
    std::vector<LinkTotals> use;
    double times = 0.0;  // that its load was not simulated
  };
  std::map<CollectiveKey, Known> known_;
  std::vector<LinkTotals> forgotten_;  // load of what is no longer known
};

}  // namespace paceline
