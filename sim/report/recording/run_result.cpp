#include "sim/report/recording/run_result.hpp"

#include <cstring>
#include <type_traits>

#include <nlohmann/json.hpp>

#include "sim/base/check.hpp"
#include "sim/report/output/record_json.hpp"

namespace paceline {
namespace {

using nlohmann::json;

json to_json(const CurvePoint& p) {
  return {p.time.value(), p.updates, p.samples, p.loss, p.accuracy};
}
CurvePoint curve_point(const json& j) {
  return {Seconds{j[0].get<double>()}, j[1].get<std::uint64_t>(), j[2].get<std::int64_t>(),
          j[3].get<double>(), j[4].get<double>()};
}

json to_json(const BatchChange& c) {
  return {c.time.value(), c.updates, c.batches, c.wanted_samples, c.limited_by};
}
BatchChange batch_change(const json& j) {
  return {Seconds{j[0].get<double>()}, j[1].get<std::uint64_t>(), j[2].get<Batches>(),
          j[3].get<std::vector<double>>(), j[4].get<std::vector<BatchLimit>>()};
}

// The mean over [first record, end) of what holds from each record to the next.
template <class Value>
double time_mean(const std::vector<BalanceRecord>& records, Seconds end, const Value& value) {
  if (records.empty()) return 1.0;
  double sum = 0.0;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const Seconds until = i + 1 < records.size() ? records[i + 1].time : end;
    sum += value(records[i].balance) * (until - records[i].time).value();
  }
  const double duration_s = (end - records.front().time).value();
  return duration_s > 0.0 ? sum / duration_s : value(records.back().balance);
}

template <class Record>
json records_to_json(const std::vector<Record>& records) {
  json array = json::array();
  for (const Record& record : records) array.push_back(to_json(record));
  return array;
}

// Tables of plain numbers travel as the bytes they have in memory: sender and receiver are one program.
template <class Row>
json rows_to_json(const std::vector<Row>& rows) {
  static_assert(std::is_trivially_copyable_v<Row>);
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(rows.data());
  return json::binary(std::vector<std::uint8_t>(bytes, bytes + rows.size() * sizeof(Row)));
}
template <class Row>
std::vector<Row> rows_from_json(const json& packed) {
  const auto& bytes = packed.get_binary();
  check(bytes.size() % sizeof(Row) == 0, "packed rows are whole");
  std::vector<Row> rows(bytes.size() / sizeof(Row));
  if (!rows.empty()) std::memcpy(static_cast<void*>(rows.data()), bytes.data(), bytes.size());
  return rows;
}

json to_json(const LinkUse& link) {
  return {link.name, link.bytes.value(), link.busy.value(), link.saturated.value()};
}
LinkUse link_use(const json& j) {
  return {j[0].get<std::string>(), Bytes{j[1].get<double>()}, Seconds{j[2].get<double>()},
          Seconds{j[3].get<double>()}};
}

json to_json(const RunTrace& trace) {
  return {records_to_json(trace.activities), rows_to_json(trace.server_work),
          rows_to_json(trace.evaluations)};
}
RunTrace run_trace(const json& j) {
  return {j[0].get<std::vector<ActivitySpan>>(), rows_from_json<ServerSpan>(j[1]),
          rows_from_json<Seconds>(j[2])};
}

}  // namespace

double PhaseRecord::mean_staleness() const {
  return gradients_applied > 0 ? staleness_sum / static_cast<double>(gradients_applied) : 0.0;
}

double RunResult::mean_shard_staleness() const {
  return gradients_applied > 0 ? shard_staleness_sum / static_cast<double>(gradients_applied) : 0.0;
}

double RunResult::mean_staleness() const {
  double sum = 0.0;
  double count = 0.0;
  for (const auto& [key, gradients] : staleness) {
    sum += static_cast<double>(key.second) * static_cast<double>(gradients);
    count += static_cast<double>(gradients);
  }
  return count > 0.0 ? sum / count : 0.0;
}

std::string_view to_string(BalanceCause cause) {
  constexpr std::string_view names[] = {"start", "adjustment", "conditions"};
  return names[static_cast<std::size_t>(cause)];
}

double RunResult::mean_imbalance() const {
  return time_mean(balances, end_time, [](const Balance& balance) { return balance.imbalance(); });
}

double RunResult::mean_batch_growth() const {
  if (balances.empty()) return 1.0;
  const auto start = static_cast<double>(balances.front().balance.total_samples);
  return time_mean(balances, end_time, [start](const Balance& balance) {
    return static_cast<double>(balance.total_samples) / start;
  });
}

std::optional<Seconds> RunResult::mean_lag() const {
  Seconds sum;
  double answered = 0.0;
  for (const BalanceRecord& record : balances) {
    if (!record.lag) continue;
    sum += *record.lag;
    answered += 1.0;
  }
  return answered > 0.0 ? std::optional(sum / answered) : std::nullopt;
}

Seconds RunResult::evaluation_interval() const {
  if (curve.size() < 2) return Seconds{};
  return (curve.back().time - curve.front().time) / static_cast<double>(curve.size() - 1);
}

std::string pack(const RunResult& result) {
  json j = {{"seed", result.seed.seed},
            {"replication", result.seed.replication},
            {"end_reason", result.end_reason},
            {"stall", result.stall},
            {"end_time", result.end_time.value()},
            {"updates", result.updates},
            {"samples", result.samples},
            {"started", result.gradients_started},
            {"applied", result.gradients_applied},
            {"curve", json::array()},
            {"batch_changes", json::array()},
            {"staleness", json::array()}};
  j["shard_staleness_sum"] = result.shard_staleness_sum;
  j["attribution"] = rows_to_json(result.attribution);
  j["phases"] = rows_to_json(result.phases);
  j["decisions"] = records_to_json(result.decisions);
  j["windows_judged"] = result.windows_judged;
  j["slow_windows"] = result.slow_windows;
  j["balances"] = records_to_json(result.balances);
  j["worker_samples"] = rows_to_json(result.worker_samples);
  j["server_busy"] = rows_to_json(result.server_busy);
  j["links"] = json::array();
  for (const LinkUse& link : result.links) j["links"].push_back(to_json(link));
  j["iterations"] = records_to_json(result.iterations);
  if (result.trace) j["trace"] = to_json(*result.trace);
  if (result.time_to_accuracy) j["time_to_accuracy"] = result.time_to_accuracy->value();
  for (const CurvePoint& point : result.curve) j["curve"].push_back(to_json(point));
  for (const BatchChange& change : result.batch_changes) j["batch_changes"].push_back(to_json(change));
  for (const auto& [key, count] : result.staleness) j["staleness"].push_back({key.first, key.second, count});
  std::string packed;
  json::to_cbor(j, packed);
  return packed;
}

RunResult unpack(const std::string& packed) {
  const json j = json::from_cbor(packed);
  RunResult result;
  result.seed = {j.at("seed").get<std::uint32_t>(), j.at("replication").get<std::uint32_t>()};
  result.end_reason = j.at("end_reason");
  result.stall = j.at("stall");
  result.end_time = Seconds{j.at("end_time").get<double>()};
  result.updates = j.at("updates");
  result.samples = j.at("samples");
  result.gradients_started = j.at("started");
  result.gradients_applied = j.at("applied");
  result.shard_staleness_sum = j.at("shard_staleness_sum");
  result.attribution = rows_from_json<ActivityTimes>(j.at("attribution"));
  result.phases = rows_from_json<PhaseRecord>(j.at("phases"));
  result.decisions = j.at("decisions").get<std::vector<DecisionRecord>>();
  result.windows_judged = j.at("windows_judged");
  result.slow_windows = j.at("slow_windows");
  result.balances = j.at("balances").get<std::vector<BalanceRecord>>();
  result.worker_samples = rows_from_json<std::int64_t>(j.at("worker_samples"));
  result.server_busy = rows_from_json<Seconds>(j.at("server_busy"));
  for (const json& link : j.at("links")) result.links.push_back(link_use(link));
  result.iterations = j.at("iterations").get<std::vector<IterationRecord>>();
  if (j.contains("trace")) result.trace = run_trace(j.at("trace"));
  if (j.contains("time_to_accuracy"))
    result.time_to_accuracy = Seconds{j.at("time_to_accuracy").get<double>()};
  for (const json& point : j.at("curve")) result.curve.push_back(curve_point(point));
  for (const json& change : j.at("batch_changes")) result.batch_changes.push_back(batch_change(change));
  for (const json& row : j.at("staleness"))
    result.staleness[{row[0].get<std::uint64_t>(), row[1].get<std::uint64_t>()}] =
        row[2].get<std::uint64_t>();
  return result;
}

}  // namespace paceline
