// Who watches a run: the recorder of results, or a test.
#pragma once

#include <cstdint>

#include "sim/base/quantity.hpp"
#include "sim/training/action.hpp"
#include "sim/training/event.hpp"

namespace paceline {

class RunObserver {
 public:
  virtual ~RunObserver() = default;

  // Every event as it reaches the coordinator, and every action as it is carried out.
  virtual void on_event(Seconds now, const Event& event) = 0;
  virtual void on_action(Seconds now, const Action& action) = 0;
};

}  // namespace paceline
