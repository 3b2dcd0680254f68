// Links to measure messages over, as `paceline calibrate server` and `collective` are told of them.
#pragma once

#include <optional>

#include "sim/cluster/cluster.hpp"

namespace CLI {
class App;
}

namespace paceline::calibrate {

struct LinkArguments {
  std::optional<double> bandwidth_bytes_per_s;  // absent: loopback
  std::optional<double> burst_bytes;
};

void declare(CLI::App& app, LinkArguments& arguments);
// Nothing for loopback. Throws UserError where this machine can emulate none.
[[nodiscard]] std::optional<NetworkConfig> links_of(const LinkArguments& arguments);

}  // namespace paceline::calibrate
