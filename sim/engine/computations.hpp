// Iterations under way, whose end moves when their worker's speed changes.
//
// Equation:    remaining work decreases by rate · elapsed; end = now + remaining / rate. Under a quota of
//              processor time "elapsed" is the time in which the worker was allowed to compute
//              (sim/cost/quota_clock.hpp).
//              Of the time since it started, own_share counts as its compute time: what messages take of
//              the processor is spread evenly over it. What a worker that waits does for messages goes on at
//              the rate of its last iteration; what is left of it when the next one begins is added to that.
//              An iteration passes a mark m when (1 − m) of its work is left, that of messages included, and
//              without what comes first.
// Units:       work in seconds at rate 1.
// Assumptions: rates are constant between two changes and above 0.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "sim/base/check.hpp"
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
  Seconds since;                    // when work_left was true
  double own_share = 1.0;           // of its work; the rest is that of messages
  Seconds computed_before{};        // in earlier steps of the same stretch
  std::span<const double> marks{};  // still to be passed: ascending, below 1
  Seconds comes_first{};            // of its work: before that which marks are shares of
  Seconds whole{};                  // that which they are shares of

  [[nodiscard]] Seconds compute_time(Seconds now) const {
    return computed_before + (now - started) * own_share;
  }
  void add_messages(Seconds work) {
    if (work == Seconds{}) return;
    own_share = own_share * work_left / (work_left + work);
    work_left += work;
  }
  [[nodiscard]] Seconds left_at_mark() const {
    return marks.empty() ? Seconds{} : (1.0 - marks.front()) * whole;
  }
};

class Computations {
 public:
  // `quotas`: for each worker, or none at all.
  explicit Computations(std::size_t workers, std::vector<std::optional<QuotaClock>> quotas = {})
      : of_worker_(workers) {
    check(quotas.empty() || quotas.size() == workers, "a quota, or none, for each worker");
    for (std::size_t w = 0; w < quotas.size(); ++w) of_worker_[w].quota = quotas[w];
  }

  // When it ends or passes a mark, and the attempt that date belongs to.
  struct End {
    Seconds at;
    std::uint64_t attempt = 0;
  };
  End start(WorkerId worker, Computation computation) {
    check(computation.rate > 0.0, "a computation goes forward");
    Slot& slot = of_worker_.at(worker.value);
    computation.add_messages(settle_messages(slot, computation.since));
    slot.messages.left = {};
    slot.messages.rate = computation.rate;
    computation.whole = computation.work_left - computation.comes_first;
    slot.computation = computation;
    return {end_of(slot), ++slot.attempt};
  }
  // From now on, while the worker waits.
  void handle_messages(WorkerId worker, Seconds now, Seconds work) {
    Slot& slot = of_worker_.at(worker.value);
    check(!slot.computation, "a worker that computes handles messages with its next iteration");
    slot.messages.left = settle_messages(slot, now) + work;
    slot.messages.since = now;
  }
  void drop_messages(WorkerId worker, Seconds now) {
    Slot& slot = of_worker_.at(worker.value);
    settle_messages(slot, now);
    slot.messages.left = {};
  }
  // Nothing when the worker computes nothing, or its rate stays.
  std::optional<End> change_rate(WorkerId worker, Seconds now, double rate) {
    check(rate > 0.0, "a computation goes forward");
    Slot& slot = of_worker_.at(worker.value);
    if (!slot.computation || slot.computation->rate == rate) return std::nullopt;
    slot.messages.rate = rate;
    Computation& computation = *slot.computation;
    const Seconds done = pass_time(slot, now) * computation.rate;
    computation.work_left = std::max(computation.left_at_mark(), computation.work_left - done);
    computation.since = now;
    computation.rate = rate;
    return End{end_of(slot), ++slot.attempt};
  }
  // The computation that is done, or the next date of one that has passed a mark; neither when `attempt` is
  // not the one that counts any more.
  struct Reached {
    std::optional<Computation> done{};
    std::optional<End> next{};
  };
  Reached finish(WorkerId worker, std::uint64_t attempt, Seconds now) {
    Slot& slot = of_worker_.at(worker.value);
    if (!slot.computation || slot.attempt != attempt) return {};
    pass_time(slot, now);
    if (slot.computation->marks.empty()) return {.done = std::exchange(slot.computation, std::nullopt)};
    Computation& computation = *slot.computation;
    computation.work_left = computation.left_at_mark();
    computation.marks = computation.marks.subspan(1);
    computation.since = now;
    return {.next = End{end_of(slot), ++slot.attempt}};
  }
  void call_off(GradientId gradient, Seconds now) {
    for (Slot& slot : of_worker_) {
      if (!slot.computation || slot.computation->gradient != gradient) continue;
      pass_time(slot, now);
      slot.computation.reset();
    }
  }

  [[nodiscard]] const std::optional<Computation>& of(WorkerId worker) const {
    return of_worker_.at(worker.value).computation;
  }

 private:
  struct Messages {
    Seconds left{};
    Seconds since{};  // when that was true
    double rate = 1.0;
  };
  struct Slot {
    std::optional<Computation> computation;
    std::uint64_t attempt = 0;
    std::optional<QuotaClock> quota = std::nullopt;
    Messages messages{};
  };
  // What is left by now, at rate 1.
  static Seconds settle_messages(Slot& slot, Seconds now) {
    const Messages& messages = slot.messages;
    if (messages.left == Seconds{}) return {};
    const Seconds work = messages.left / messages.rate;
    const Seconds end = slot.quota ? slot.quota->end_of(messages.since, work) : messages.since + work;
    const Seconds until = std::min(end, now);
    const Seconds done = slot.quota ? slot.quota->use(messages.since, until) : until - messages.since;
    return end <= now ? Seconds{} : std::max(Seconds{}, messages.left - messages.rate * done);
  }
  [[nodiscard]] static Seconds end_of(const Slot& slot) {
    const Computation& computation = *slot.computation;
    const Seconds work = (computation.work_left - computation.left_at_mark()) / computation.rate;
    return slot.quota ? slot.quota->end_of(computation.since, work) : computation.since + work;
  }
  // Time in which it computed, from `since` on.
  static Seconds pass_time(Slot& slot, Seconds now) {
    const Seconds since = slot.computation->since;
    return slot.quota ? slot.quota->use(since, now) : now - since;
  }

  std::vector<Slot> of_worker_;
};

}  // namespace paceline
