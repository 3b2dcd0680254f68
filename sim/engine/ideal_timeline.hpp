// The oracle: a priority queue of events and closed forms instead of a network simulation.
//
// Models:      every message as if it were alone on its route.
// Equation:    message of B bytes: L + B / min(bw_worker, bw_server).
//              ring all-reduce among n: 2(n-1)·(L + ceil(B/n) / bw); 0 for n = 1.
// Units:       seconds, bytes.
// Assumptions: no contention: messages that share a link do not slow each other down.
// Not modelled: everything a shared network does; compare with simgrid_timeline.hpp.
// Source:      design sections 3 and 10.
#pragma once

#include <map>
#include <utility>

#include "sim/cluster/cluster.hpp"
#include "sim/engine/timeline.hpp"

namespace paceline {

class IdealTimeline final : public Timeline {
 public:
  explicit IdealTimeline(const Cluster& cluster);

  [[nodiscard]] Seconds now() const override { return now_; }
  void at(Seconds date, Occurrence occurrence) override;
  void send(Endpoint from, Endpoint to, Bytes size, Occurrence arrival) override;
  void ring_all_reduce(std::span<const WorkerId> members, Bytes size, Occurrence finish) override;
  void set_bandwidth_factor(WorkerId worker, double factor) override;
  [[nodiscard]] bool run(const Deliver& deliver) override;

 private:
  StarNetwork network_;
  Seconds now_;
  std::multimap<Seconds, Occurrence> agenda_;
};

}  // namespace paceline
