// Events and actions in numbers, so that two runs can be compared.
#pragma once

#include <array>
#include <cstddef>

#include "sim/training/action.hpp"
#include "sim/training/event.hpp"

namespace paceline::test {

struct Entry {
  Seconds time;
  bool is_event = false;
  std::size_t kind = 0;
  std::array<double, 6> content{};
  friend bool operator==(const Entry&, const Entry&) = default;
};

[[nodiscard]] Entry entry_of(Seconds now, const Event& event);
[[nodiscard]] Entry entry_of(Seconds now, const Action& action);

}  // namespace paceline::test
