// The sections of a scenario file: what each key means (description.hpp). What composes them: scenario.cpp.
#pragma once

#include "sim/description/description.hpp"
#include "sim/scenario/scenario.hpp"
#include "sim/scenario/sections/scenario_kinds.hpp"

namespace paceline {

inline constexpr std::int64_t maximum_workers = 1 << 24U;  // a random stream's entity has 24 bits

// Whoever prints a threshold needs its kind too.
inline const ThresholdText expected_duration{Dimension::time, above(0), "< 10 min"};
inline const ThresholdText expected_fraction{between(0, 1), "> 0.9"};
inline const ThresholdText expected_rate{above(0), "> 100"};
inline const ThresholdText expected_staleness{at_least(0), "< 8"};

void describe(Visitor& v, BatchingConfig& c);
void describe(Visitor& v, CheckpointConfig& c);
void describe(Visitor& v, Cluster& c);
void describe(Visitor& v, CoordinationCost& c);
void describe(Visitor& v, EvaluationConfig& c);
void describe(Visitor& v, ExpectConfig& c);
void describe(Visitor& v, HeterogeneityConfig& c);
void describe(Visitor& v, JitterOverrides& c);
void describe(Visitor& v, JobConfig& c);
void describe(Visitor& v, LearnerConfig& c);
void describe(Visitor& v, PhaseEntry& c);
void describe(Visitor& v, RampUp& c);
void describe(Visitor& v, ReactionEntry& c);
void describe(Visitor& v, RestartCost& c);
void describe(Visitor& v, StopConfig& c);
void describe(Visitor& v, Scenario& c);

}  // namespace paceline
