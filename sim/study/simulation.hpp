// One replication of one scenario, composed from all folders: the place to see how they fit together.
#pragma once

#include <cstdint>
#include <memory>

#include "sim/cluster/conditions.hpp"
#include "sim/cost/compute_time.hpp"
#include "sim/cost/profile.hpp"
#include "sim/learning/learner.hpp"
#include "sim/report/recording/run_recorder.hpp"
#include "sim/report/recording/run_result.hpp"
#include "sim/scenario/reader.hpp"
#include "sim/training/coordinator.hpp"

namespace paceline {

// What a replication takes for the machine's true times.
enum class ProfileUse {
  as_fitted,
  drawn,  // one equally likely calibration for each replication, the same for every policy (compute_law.hpp)
};

// The scenario's changes over time, its trace file read. Throws UserError when that makes no sense.
[[nodiscard]] Heterogeneity heterogeneity(const Scenario& scenario);

// The learner of one replication, on parameters in so many parts.
[[nodiscard]] std::unique_ptr<Learner> build_learner(const Scenario& scenario, std::size_t servers,
                                                     Seed seed);

// What simulates the network, and with which settings.
[[nodiscard]] std::vector<std::string> network_model_of(const Scenario& scenario);

// sd / mean of the time that all work takes, between the cluster described and the one that results are to
// hold for; 0 for the same one.
[[nodiscard]] double cluster_variation(const Scenario& scenario, const Profile& profile);

// The parts of a replication that are the same whoever carries it out: what the job pays, what a network
// learner is told, and the coordinator, which knows what is declared and the profiles' mean times.
[[nodiscard]] FixedCosts fixed_costs(const Scenario& scenario);
[[nodiscard]] NetworkLearnerConfig network_learner_config(const Scenario& scenario, Seed seed);
[[nodiscard]] Coordinator build_coordinator(const Scenario& scenario, const Profiles& profiles, Seed seed);

// Simulates. At most one call per process: SimGrid has one clock.
[[nodiscard]] RunResult simulate(const Scenario& scenario, const Profiles& profiles,
                                 std::uint32_t replication, RecordingOptions recording, ProfileUse use);

}  // namespace paceline
