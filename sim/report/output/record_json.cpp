#include "sim/report/output/record_json.hpp"

#include <nlohmann/json.hpp>

namespace paceline {
namespace {

using nlohmann::json;

json or_null(const std::optional<Seconds>& time) {
  return time ? json(time->value()) : json(nullptr);
}
std::optional<Seconds> time_or_none(const json& j) {
  if (j.is_null()) return std::nullopt;
  return Seconds{j.get<double>()};
}
Seconds time_of(const json& j) {
  return Seconds{j.get<double>()};
}
WorkerId worker_of(const json& j) {
  return WorkerId{j.get<std::uint64_t>()};
}

json to_json(const Judgement& judgement) {
  return {judgement.worker.value,      judgement.throughput, judgement.baseline,    judgement.cluster_mean,
          judgement.cluster_deviation, judgement.is_slow,    judgement.is_straggler};
}
Judgement judgement_of(const json& j) {
  return {worker_of(j[0]), j[1], j[2], j[3], j[4], j[5], j[6]};
}

}  // namespace

json to_json(const BalanceRecord& record) {
  return {record.time.value(),
          record.updates,
          static_cast<int>(record.cause),
          record.balance.total_samples,
          record.balance.slowest.value(),
          record.balance.balanced.value(),
          or_null(record.lag)};
}
void from_json(const json& j, BalanceRecord& record) {
  record = {time_of(j[0]),
            j[1],
            static_cast<BalanceCause>(j[2].get<int>()),
            {j[3], time_of(j[4]), time_of(j[5])},
            time_or_none(j[6])};
}

json to_json(const DecisionRecord& record) {
  const Decision& decision = record.decision;
  return {record.time.value(),   record.updates,
          record.phase,          static_cast<int>(decision.kind),
          decision.worker.value, decision.judgement ? to_json(*decision.judgement) : json(nullptr)};
}
void from_json(const json& j, DecisionRecord& record) {
  record = {time_of(j[0]), j[1], j[2], {static_cast<DecisionKind>(j[3].get<int>()), worker_of(j[4])}};
  if (!j[5].is_null()) record.decision.judgement = judgement_of(j[5]);
}

json to_json(const IterationRecord& record) {
  return {record.worker.value,     record.iteration,        record.batch_samples,
          record.release.value(),  or_null(record.start),   or_null(record.finish),
          or_null(record.arrival), or_null(record.applied), record.staleness,
          record.mean_staleness,   record.weight,           static_cast<int>(record.fate)};
}
void from_json(const json& j, IterationRecord& record) {
  record = {worker_of(j[0]),
            j[1],
            j[2],
            time_of(j[3]),
            time_or_none(j[4]),
            time_or_none(j[5]),
            time_or_none(j[6]),
            time_or_none(j[7]),
            j[8],
            j[9],
            j[10],
            static_cast<Fate>(j[11].get<int>())};
}

json to_json(const ActivitySpan& span) {
  return {span.worker.value, static_cast<int>(span.activity), span.begin.value(), span.end.value()};
}
void from_json(const json& j, ActivitySpan& span) {
  span = {worker_of(j[0]), static_cast<Activity>(j[1].get<int>()), time_of(j[2]), time_of(j[3])};
}

}  // namespace paceline
