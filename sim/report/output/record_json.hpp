// Records of a run as JSON arrays, for the way from one process to another. Private to sim/report.
//
// Member by member: a record's bytes in memory hold padding and what an absent std::optional left behind, and would make
// equal runs differ.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "sim/report/recording/run_result.hpp"

namespace paceline {

[[nodiscard]] nlohmann::json to_json(const BalanceRecord& record);
[[nodiscard]] nlohmann::json to_json(const DecisionRecord& record);
[[nodiscard]] nlohmann::json to_json(const IterationRecord& record);
[[nodiscard]] nlohmann::json to_json(const ActivitySpan& span);

void from_json(const nlohmann::json& json, BalanceRecord& record);
void from_json(const nlohmann::json& json, DecisionRecord& record);
void from_json(const nlohmann::json& json, IterationRecord& record);
void from_json(const nlohmann::json& json, ActivitySpan& span);

}  // namespace paceline
