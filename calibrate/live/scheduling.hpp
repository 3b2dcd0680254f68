// How the kernel schedules the calling thread, of the usual class: its priority and its slice.
//
// Units:       seconds; nice values, -20 goes before 19.
// Assumptions: the thread is of the usual class. Threads and processes that it starts after an adopt() have
//              the kernel's own slice, and a nice value of 0 instead of one below.
// Source:      Linux, sched_setattr(2): `sched_runtime` of such threads is their slice since 6.12.
#pragma once

#include <optional>

#include "sim/base/quantity.hpp"

namespace paceline::live {

inline constexpr int highest_usual_priority = -20;

struct Scheduling {
  int nice = 0;
  std::optional<Seconds> slice{};  // absent: the kernel does not say it; to set it: the usual one
};
[[nodiscard]] Scheduling scheduling();
// False, and errno is set, where the kernel does not permit it. A kernel without slices leaves that out.
[[nodiscard]] bool adopt(const Scheduling& wanted);

}  // namespace paceline::live
