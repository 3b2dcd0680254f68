// Builds the star of sim/cluster/cluster.hpp out of SimGrid hosts and links. Private to sim/engine.
#pragma once

#include <vector>

#include <simgrid/s4u.hpp>

#include "sim/cluster/cluster.hpp"

namespace paceline {

struct StarPlatform {
  std::vector<simgrid::s4u::Host*> workers;
  simgrid::s4u::Host* server = nullptr;
};

[[nodiscard]] StarPlatform build_star(const Cluster& cluster);

}  // namespace paceline
