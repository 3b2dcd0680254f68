#include "sim/engine/computations.hpp"

#include <algorithm>
#include <utility>

#include "sim/base/check.hpp"

namespace paceline {

Computations::Computations(std::size_t workers, std::vector<std::optional<QuotaClock>> quotas)
    : of_worker_(workers) {
  check(quotas.empty() || quotas.size() == workers, "a quota, or none, for each worker");
  for (std::size_t w = 0; w < quotas.size(); ++w) of_worker_[w].quota = quotas[w];
}

Computations::End Computations::start(WorkerId worker, Computation computation) {
  check(computation.rate > 0.0, "a computation goes forward");
  Slot& slot = of_worker_.at(worker.value);
  slot.computation = computation;
  return {end_of(slot), ++slot.attempt};
}

std::optional<Computations::End> Computations::change_rate(WorkerId worker, Seconds now, double rate) {
  check(rate > 0.0, "a computation goes forward");
  Slot& slot = of_worker_.at(worker.value);
  if (!slot.computation || slot.computation->rate == rate) return std::nullopt;
  Computation& computation = *slot.computation;
  const Seconds done = pass_time(slot, now) * computation.rate;
  computation.work_left = std::max(Seconds{}, computation.work_left - done);
  computation.since = now;
  computation.rate = rate;
  return End{end_of(slot), ++slot.attempt};
}

std::optional<Computation> Computations::finish(WorkerId worker, std::uint64_t attempt, Seconds now) {
  Slot& slot = of_worker_.at(worker.value);
  if (!slot.computation || slot.attempt != attempt) return std::nullopt;
  pass_time(slot, now);
  return std::exchange(slot.computation, std::nullopt);
}

void Computations::call_off(GradientId gradient, Seconds now) {
  for (Slot& slot : of_worker_) {
    if (!slot.computation || slot.computation->gradient != gradient) continue;
    pass_time(slot, now);
    slot.computation.reset();
  }
}

const std::optional<Computation>& Computations::of(WorkerId worker) const {
  return of_worker_.at(worker.value).computation;
}

Seconds Computations::end_of(const Slot& slot) {
  const Computation& computation = *slot.computation;
  const Seconds work = computation.work_left / computation.rate;
  return slot.quota ? slot.quota->end_of(computation.since, work) : computation.since + work;
}

Seconds Computations::pass_time(Slot& slot, Seconds now) {
  const Seconds since = slot.computation->since;
  return slot.quota ? slot.quota->use(since, now) : now - since;
}

}  // namespace paceline
