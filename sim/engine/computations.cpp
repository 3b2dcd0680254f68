#include "sim/engine/computations.hpp"

#include <algorithm>
#include <utility>

#include "sim/base/check.hpp"

namespace paceline {

Computations::End Computations::start(WorkerId worker, Computation computation) {
  check(computation.rate > 0.0, "a computation goes forward");
  Slot& slot = of_worker_.at(worker.value);
  slot.computation = computation;
  return {end_of(computation), ++slot.attempt};
}

std::optional<Computations::End> Computations::change_rate(WorkerId worker, Seconds now, double rate) {
  check(rate > 0.0, "a computation goes forward");
  Slot& slot = of_worker_.at(worker.value);
  if (!slot.computation || slot.computation->rate == rate) return std::nullopt;
  Computation& computation = *slot.computation;
  const Seconds done = (now - computation.since) * computation.rate;
  computation.work_left = std::max(Seconds{}, computation.work_left - done);
  computation.since = now;
  computation.rate = rate;
  return End{end_of(computation), ++slot.attempt};
}

std::optional<Computation> Computations::finish(WorkerId worker, std::uint64_t attempt) {
  Slot& slot = of_worker_.at(worker.value);
  if (!slot.computation || slot.attempt != attempt) return std::nullopt;
  return std::exchange(slot.computation, std::nullopt);
}

void Computations::call_off(GradientId gradient) {
  for (Slot& slot : of_worker_)
    if (slot.computation && slot.computation->gradient == gradient) slot.computation.reset();
}

const std::optional<Computation>& Computations::of(WorkerId worker) const {
  return of_worker_.at(worker.value).computation;
}

Seconds Computations::end_of(const Computation& computation) {
  return computation.since + computation.work_left / computation.rate;
}

}  // namespace paceline
