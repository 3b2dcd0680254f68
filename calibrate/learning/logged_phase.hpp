// A phase of a logged job, as descriptions of logs write it: `{policy: bsp, share: 5 %}`.
#pragma once

#include "sim/description/description.hpp"

namespace paceline {

enum class LoggedPolicy { asp, bsp };

struct LogPhaseText {
  LoggedPolicy policy = LoggedPolicy::bsp;
  double share = 1.0;  // of the workload
};

inline constexpr double phase_share_tolerance = 1e-9;

inline void describe(Visitor& v, LogPhaseText& c) {
  v.required("policy", c.policy, Choice{{"bsp", LoggedPolicy::bsp}, {"asp", LoggedPolicy::asp}},
             "bsp: an update combines one gradient of every worker; asp: each gradient is an update");
  v.required("share", c.share, percent(above_up_to(0, 1)), "of the workload");
}

}  // namespace paceline
