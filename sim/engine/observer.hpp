// Who watches a run: the recorder of results, or a test.
#pragma once

#include <cstdint>
#include <optional>

#include "sim/base/quantity.hpp"
#include "sim/cost/balance.hpp"
#include "sim/training/action.hpp"
#include "sim/training/event.hpp"

namespace paceline {

enum class BalanceCause : std::uint8_t { start, adjustment, conditions };

class RunObserver {
 public:
  virtual ~RunObserver() = default;

  // Every event as it reaches the coordinator, and every action as it is carried out.
  virtual void on_event(Seconds now, const Event& event) = 0;
  virtual void on_action(Seconds now, const Action& action) = 0;
  // A server computes from `begin` to `end`: on an update's step, or to add a gradient. Told when the work is
  // queued, or when it is over.
  virtual void on_server_work(ServerId server, std::optional<UpdateId> step, Seconds begin, Seconds end) = 0;
  // How well the batches fit the workers, from now on: at the start and whenever either changes.
  virtual void on_balance(Seconds /*now*/, BalanceCause /*cause*/, const Balance& /*balance*/) {}
};

}  // namespace paceline
