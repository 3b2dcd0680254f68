// The sections of a scenario file: what each key means (description.hpp), and the kinds of value (kinds.hpp)
// that only scenarios have. What composes the sections: scenario.cpp.
#pragma once

#include "sim/description/description.hpp"
#include "sim/scenario/scenario.hpp"

namespace paceline {

inline constexpr std::int64_t maximum_workers = 1 << 24U;  // a random stream's entity has 24 bits
inline const Whole repeated_workers{1, 1 << 16U};

// Whoever prints a threshold needs its kind too.
inline const ThresholdText expected_duration{Dimension::time, above(0), "< 10 min"};
inline const ThresholdText expected_fraction{std::nullopt, between(0, 1), "> 0.9"};
inline const ThresholdText expected_rate{std::nullopt, above(0), "> 100"};
inline const ThresholdText expected_staleness{std::nullopt, at_least(0), "< 8"};

// "100 s", "5 epochs", "30 %" of the workload: when something happens.
[[nodiscard]] Measured when();
// "400 updates", "5 epochs", "10 min": how long a phase is.
[[nodiscard]] Measured length();
// "600 s", "250 updates": how often something happens.
[[nodiscard]] Measured how_often();

// "0.88" or "88 %"; prints the number.
[[nodiscard]] Kind fraction(Range range);
// A worker by its number; its name is worked off before reading (named_workers.hpp).
[[nodiscard]] Kind worker_number();

// A point of a learning-rate schedule, written as its basis asks: epochs `7.5`, progress `50 %`, step
// `32000`. The schema has all of them: the basis is another key.
[[nodiscard]] Kind schedule_point(ScheduleBasis basis);

[[nodiscard]] Plain plain_of(const Count& value);
[[nodiscard]] Plain plain_of(const Moment& value);
[[nodiscard]] Plain plain_of(const PhaseLength& value);
[[nodiscard]] Plain plain_of(const Often& value);
void assign(Count& member, const Plain& value);
void assign(Moment& member, const Plain& value);
void assign(PhaseLength& member, const Plain& value);
void assign(Often& member, const Plain& value);

void describe(Visitor& v, BatchingConfig& c);
void describe(Visitor& v, BucketSizes& c);
void describe(Visitor& v, CheckpointConfig& c);
void describe(Visitor& v, Cluster& c);
void describe(Visitor& v, CoordinationCost& c);
void describe(Visitor& v, CommunicationCost& c);
void describe(Visitor& v, EvaluationConfig& c);
void describe(Visitor& v, ExpectConfig& c);
void describe(Visitor& v, HeterogeneityConfig& c);
void describe(Visitor& v, JitterOverrides& c);
void describe(Visitor& v, JobConfig& c);
void describe(Visitor& v, LearnerConfig& c);
void describe(Visitor& v, LocalTraining& c);
void describe(Visitor& v, OuterOptimizer& c);
void describe(Visitor& v, Streaming& c);
void describe(Visitor& v, PhaseEntry& c);
void describe(Visitor& v, PredictionConfig& c);
void describe(Visitor& v, HostsConfig& c);
void describe(Visitor& v, EmulationConfig& c);
void describe(Visitor& v, RampUp& c);
void describe(Visitor& v, RestCost& c);
void describe(Visitor& v, ReactionEntry& c);
void describe(Visitor& v, RestartCost& c);
void describe(Visitor& v, StopConfig& c);
void describe(Visitor& v, Scenario& c);

}  // namespace paceline
