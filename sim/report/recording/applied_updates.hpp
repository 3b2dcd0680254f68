// Puts the shards of an update together: what became of each gradient, once its last shard is applied.
//
// Models:      an update of S servers reaches the recorder as S actions (Apply or Overwrite), the last of which says so.
// Equation:    of one gradient over its shards: staleness = max s_k, mean staleness = (sum s_k) / S.
// Units:       updates.
// Assumptions: every shard of an update names the same gradients in the same order.
// Source:      design section 5 (sharded servers report maximum and mean).
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "sim/training/action.hpp"

namespace paceline {

struct GradientOutcome {
  AppliedGradient gradient;     // its staleness: the maximum over the shards
  double mean_staleness = 0.0;  // over the shards
};

class AppliedUpdates {
 public:
  // The update's gradients when this shard is its last; otherwise none.
  [[nodiscard]] std::vector<GradientOutcome> add(UpdateId update, bool completes_update,
                                                 const std::vector<AppliedGradient>& gradients);

 private:
  struct Pending {
    std::uint64_t shards = 0;
    std::vector<GradientOutcome> outcomes;  // mean_staleness holds the sum until the last shard
  };
  static void add_shard(Pending& pending, const std::vector<AppliedGradient>& gradients);

  std::map<UpdateId, Pending> pending_;
};

}  // namespace paceline
