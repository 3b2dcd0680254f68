#include "sim/report/output/packed_run.hpp"

#include "sim/report/output/record_columns.hpp"

namespace paceline {
namespace {

// Every member by its name, for both directions: `each(name, member)`.
template <class Run, class Each>
void visit_members(Run& run, const Each& each) {
  each("seed", run.seed.seed);
  each("replication", run.seed.replication);
  each("cores", run.cores);
  each("end_reason", run.end_reason);
  each("stall", run.stall);
  each("end_time_s", run.end_time);
  each("updates", run.updates);
  each("samples", run.samples);
  each("gradients_started", run.gradients_started);
  each("gradients_applied", run.gradients_applied);
  each("adjustments", run.adjustments);
  each("time_to_accuracy_s", run.time_to_accuracy);
  each("worker_samples", run.worker_samples);
  each("shard_staleness_sum", run.shard_staleness_sum);
  each("windows_judged", run.windows_judged);
  each("slow_windows", run.slow_windows);
}

template <class Run, class Each>
void visit_records(Run& run, const Each& each) {
  const RecordColumns& columns = record_columns();
  each("curve", columns.curve, run.curve);
  each("batches", columns.batches, run.batches);
  each("balances", columns.balance, run.balances);
  each("phases", columns.phases, run.phases);
  each("decisions", columns.decisions, run.decisions);
  each("resources", columns.bottlenecks, run.resources);
  each("iterations", columns.iterations, run.iterations);
}

std::string to_bytes(const Cell& json) {
  std::string bytes;
  Cell::to_cbor(json, bytes);
  return bytes;
}

}  // namespace

std::string pack(const RunResult& run) {
  Cell json;
  visit_members(run, [&](const char* name, const auto& member) { json[name] = member; });
  visit_records(run, [&](const char* name, const auto& columns, const auto& records) {
    json[name] = to_arrays(columns, records);
  });
  json["staleness"] = to_arrays(record_columns().staleness, staleness_counts(run));
  for (std::size_t i = 0; i < activity_count; ++i)
    for (const ActivityTimes& times : run.attribution)
      json["attribution"][std::string(activity_names[i])].push_back(times[i]);
  if (run.trace)
    json["trace"] = {{"activities", to_arrays(record_columns().activities, run.trace->activities)},
                     {"server_work", to_arrays(record_columns().server_work, run.trace->server_work)},
                     {"evaluations", run.trace->evaluations}};
  return to_bytes(json);
}

RunResult unpack_result(const std::string& packed) {
  const Cell json = Cell::from_cbor(packed);
  RunResult run;
  visit_members(run, [&](const char* name, auto& member) { json.at(name).get_to(member); });
  visit_records(run, [&](const char* name, const auto& columns, auto& records) {
    from_arrays(json.at(name), columns, records);
  });
  std::vector<StalenessCount> counts;
  from_arrays(json.at("staleness"), record_columns().staleness, counts);
  for (const StalenessCount& count : counts)
    run.staleness[{count.worker.value, count.staleness}] = count.gradients;
  for (std::size_t i = 0; json.contains("attribution") && i < activity_count; ++i) {
    const Cell& times = json.at("attribution").at(std::string(activity_names[i]));
    run.attribution.resize(times.size());
    for (std::size_t w = 0; w < times.size(); ++w) times[w].get_to(run.attribution[w][i]);
  }
  if (!json.contains("trace")) return run;
  const Cell& trace = json.at("trace");
  run.trace.emplace();
  from_arrays(trace.at("activities"), record_columns().activities, run.trace->activities);
  from_arrays(trace.at("server_work"), record_columns().server_work, run.trace->server_work);
  trace.at("evaluations").get_to(run.trace->evaluations);
  return run;
}

std::string pack(const FinishedRun& run) {
  Cell json = {{"message", run.message},
               {"seed", run.summary.seed.seed},
               {"replication", run.summary.seed.replication},
               {"packed", Cell::binary({run.packed.begin(), run.packed.end()})}};
  for (const Column<RunSummary>& column : summary_columns())
    if (column.get) json["summary"][column.name] = column.get(run.summary);
  return to_bytes(json);
}

FinishedRun unpack_finished(const std::string& packed) {
  const Cell json = Cell::from_cbor(packed);
  FinishedRun run;
  json.at("message").get_to(run.message);
  json.at("seed").get_to(run.summary.seed.seed);
  json.at("replication").get_to(run.summary.seed.replication);
  for (const Column<RunSummary>& column : summary_columns())
    if (column.set) column.set(run.summary, json.at("summary").at(column.name));
  const auto& bytes = json.at("packed").get_binary();
  run.packed.assign(bytes.begin(), bytes.end());
  return run;
}

}  // namespace paceline
