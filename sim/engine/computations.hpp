// Iterations under way, whose end moves when their worker's speed changes.
//
// Equation:    remaining work decreases by rate · elapsed; end = now + remaining / rate. Under a quota of
//              processor time "elapsed" is the time in which the worker was allowed to compute
//              (sim/cost/quota_clock.hpp).
// Units:       work in seconds at rate 1.
// Assumptions: rates are constant between two changes and above 0.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/base/id.hpp"
#include "sim/base/quantity.hpp"
#include "sim/cost/quota_clock.hpp"

namespace paceline {

struct Computation {
  GradientId gradient;
  std::int64_t batch_samples = 0;
  Seconds started;
  Seconds work_left;
  double rate = 1.0;
  Seconds since;  // when work_left was true
};

class Computations {
 public:
  // `quotas`: for each worker, or none at all.
  explicit Computations(std::size_t workers, std::vector<std::optional<QuotaClock>> quotas = {});

  // When it ends, and the attempt that end belongs to.
  struct End {
    Seconds at;
    std::uint64_t attempt = 0;
  };
  End start(WorkerId worker, Computation computation);
  // Nothing when the worker computes nothing, or its rate stays.
  std::optional<End> change_rate(WorkerId worker, Seconds now, double rate);
  // The computation that is done, if `attempt` is still the one that counts.
  std::optional<Computation> finish(WorkerId worker, std::uint64_t attempt, Seconds now);
  void call_off(GradientId gradient, Seconds now);

  [[nodiscard]] const std::optional<Computation>& of(WorkerId worker) const;

 private:
  struct Slot {
    std::optional<Computation> computation;
    std::uint64_t attempt = 0;
    std::optional<QuotaClock> quota = std::nullopt;
  };
  [[nodiscard]] static Seconds end_of(const Slot& slot);
  // Time in which it computed, from `since` on.
  static Seconds pass_time(Slot& slot, Seconds now);

  std::vector<Slot> of_worker_;
};

}  // namespace paceline
