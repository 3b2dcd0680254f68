// The simulated timeline: SimGrid's fluid network model under the job's messages.
//
// Models:      any network of full-duplex links (SimGrid's split-duplex); messages that share a link share
//              its bandwidth max-min fairly, each with a weight of 1 / latency of its route, as SimGrid's
//              CM02 model has it: routes of one latency share equally. A collective is its real messages
//              (collective.hpp).
// Equation:    alone on its route a message takes f_L · L + B / rate (job_network.hpp), met to 1e-12. A ring
//              that has the network to itself and whose first round ends at one time for all members takes
//              rounds · (first round).
// Units:       seconds, bytes.
// Assumptions: computing, serving and pauses take known durations and are kernel timers, not SimGrid
//              executions. A collective that has the network to itself takes as long as the one before with
//              the same algorithm, members, size and link capacities.
// Not modelled: packets, TCP slow start, the default LV08 corrections (latency ×13.01, bandwidth ×0.97)
//              unless asked for by `cluster.network.model`.
// Source:      SimGrid 3.32; what was measured of it is in the README of sim/engine.
//
// SimGrid keeps one clock per process: a second such timeline in one process is refused.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sim/cluster/network_engine.hpp"
#include "sim/engine/timeline.hpp"

namespace paceline {

// The settings a simulation under SimGrid runs with, as `name:value`.
[[nodiscard]] std::vector<std::string> simgrid_model(const NetworkModel& model);
// What simulates the network, those settings (the fluid network has the same model) and the factors by
// message size, for manifests.
[[nodiscard]] std::vector<std::string> network_model_text(NetworkEngine engine, const NetworkModel& model);
[[nodiscard]] std::string simgrid_version();

[[nodiscard]] std::unique_ptr<Timeline> make_simgrid_timeline(const Cluster& cluster,
                                                              Shortcuts shortcuts = Shortcuts::on);

}  // namespace paceline
