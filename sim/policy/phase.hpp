// What a scenario says about synchronization: a job is a sequence of phases. The rules: synchronization.hpp.
#pragma once

#include "sim/base/quantity.hpp"

namespace paceline {

enum class SynchronizationKind { bsp, asp };
enum class Transport { ring, server };

struct PhaseConfig {
  SynchronizationKind policy = SynchronizationKind::bsp;
  Transport transport = Transport::server;  // ring: all-reduce among the workers (BSP only)
  double share = 1.0;                       // fraction of the job's samples; the shares of a job sum to 1
  Seconds switch_cost{};  // pause of every worker before this phase starts; unused by the first
};

}  // namespace paceline
