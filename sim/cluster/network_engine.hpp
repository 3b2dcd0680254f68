// Which simulation of the network carries a job's messages.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sim/cluster/cluster.hpp"

namespace paceline {

enum class NetworkEngine { automatic, fluid, simgrid };

// Whether what is known to come out the same is left out: a collective like the one before is not simulated
// again, and local steps between two exchanges are one event.
enum class Shortcuts { on, off };

[[nodiscard]] constexpr std::string_view to_string(NetworkEngine engine) {
  constexpr std::string_view words[] = {"auto", "fluid", "simgrid"};
  return words[static_cast<std::size_t>(engine)];
}

// What of a network the fluid timeline does not model; absent: its dates are SimGrid's.
[[nodiscard]] inline std::optional<std::string> why_not_fluid(const NetworkModel& model) {
  if (model.cross_traffic) return "cross-traffic is modelled by SimGrid alone";
  return std::nullopt;
}

// What SimGrid's timeline does not model.
[[nodiscard]] inline std::optional<std::string> why_not_simgrid(const ServersConfig& servers) {
  if (servers.sends != ServerSends::together) return "messages that a server sends in turn are not modelled";
  return std::nullopt;
}

// The one that is used: never `automatic`.
[[nodiscard]] inline NetworkEngine resolved(NetworkEngine engine, Shortcuts shortcuts,
                                            const Cluster& cluster) {
  if (engine != NetworkEngine::automatic) return engine;
  if (why_not_simgrid(cluster.servers)) return NetworkEngine::fluid;
  const bool is_exact = shortcuts == Shortcuts::on && !why_not_fluid(cluster.network.model);
  return is_exact ? NetworkEngine::fluid : NetworkEngine::simgrid;
}

}  // namespace paceline
