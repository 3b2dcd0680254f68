// Iterations under way, whose end moves when their worker's speed changes.
//
// Equation:    remaining work decreases by rate · elapsed; end = now + remaining / rate.
// Units:       work in seconds at rate 1.
// Assumptions: rates are constant between two changes and above 0.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/base/id.hpp"
#include "sim/base/quantity.hpp"

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
  explicit Computations(std::size_t workers) : of_worker_(workers) {}

  // When it ends, and the attempt that end belongs to.
  struct End {
    Seconds at;
    std::uint64_t attempt = 0;
  };
  End start(WorkerId worker, Computation computation);
  // Nothing when the worker computes nothing, or its rate stays.
  std::optional<End> change_rate(WorkerId worker, Seconds now, double rate);
  // The computation that is done, if `attempt` is still the one that counts.
  std::optional<Computation> finish(WorkerId worker, std::uint64_t attempt);
  void call_off(GradientId gradient);

  [[nodiscard]] const std::optional<Computation>& of(WorkerId worker) const;

 private:
  struct Slot {
    std::optional<Computation> computation;
    std::uint64_t attempt = 0;
  };
  [[nodiscard]] static Seconds end_of(const Computation& computation);

  std::vector<Slot> of_worker_;
};

}  // namespace paceline
