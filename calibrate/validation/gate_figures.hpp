// What the gate before live jobs has measured of a scenario, as it is sealed with the prediction.
//
// Models:      nothing: figures, and what a scenario takes over from them in its own words.
// Units:       seconds.
// Source:      calibrate/validation/live_gate.hpp measures them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "calibrate/live/communication_fit.hpp"
#include "calibrate/live/iteration_timing.hpp"
#include "calibrate/live/sharing_timing.hpp"
#include "sim/cost/profile.hpp"
#include "sim/scenario/scenario.hpp"

namespace paceline {

// A job of all workers.
struct TogetherTime {
  std::int64_t batch_samples = 0;
  live::CycleTime measured;
  live::CycleTime predicted;  // with what was measured before
};

// How many times as long a worker's iterations take beside the others as alone, by batch; never empty.
using BesideOthers = std::map<std::int64_t, double>;
// Between two batches on a line over the logarithm of the batch; beyond them as with the nearest one.
[[nodiscard]] double factor_of(const BesideOthers& beside, std::int64_t batch);
// Times how much longer than predicted iterations of a job were: with the worker's own batch, and with the
// smallest one where that was timed and is smaller.
[[nodiscard]] BesideOthers held_against(const BesideOthers& before, const TogetherTime& own,
                                        const TogetherTime* small);

struct GateFigures {
  std::string stated{};  // what of the scenario was measured instead, in its words; empty: nothing
  std::optional<live::SharingTimes> sharing{};
  std::vector<std::vector<live::AloneTime>> alone{};  // by worker
  std::vector<TogetherTime> together{};               // by worker, under ASP; empty for one
  std::vector<TogetherTime> waiting{};                // under BSP, where workers wait for others
  std::vector<TogetherTime> together_small{};         // both with the smallest batch, where batches change
  std::vector<TogetherTime> waiting_small{};
  std::vector<double> slowness{};                // of the machine, in each round that timed them
  std::vector<std::string> deviations{};         // of speeds from the profile, accepted
  std::shared_ptr<const Profiles> calibrated{};  // as they were given
  std::vector<BesideOthers> factors{};           // of each worker's iterations
};

// Adds to what is stated.
void state(GateFigures& figures, const std::string& words);
[[nodiscard]] nlohmann::ordered_json gate_json(const GateFigures& figures);
// What messages cost in a scenario that does not say it, of a server that writes one after the other.
void adopt_communication(Scenario& scenario, const live::CommunicationFit& fit, GateFigures& figures);

}  // namespace paceline
