#include "sim/report/output/packed_run.hpp"

#include "sim/report/output/record_columns.hpp"

namespace paceline {
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Seed, seed, replication)
// All but the records, which are kept by column.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RunResult, seed, cores, end_reason, stall, end_time, updates, samples,
                                   gradients_started, gradients_applied, adjustments, time_to_accuracy,
                                   worker_samples, staleness, shard_staleness_sum, attribution,
                                   windows_judged, slow_windows, self_profile)

namespace {

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
  Cell json = run;
  visit_records(run, [&](const char* name, const auto& columns, const auto& records) {
    json[name] = to_arrays(columns, records);
  });
  if (run.trace)
    json["trace"] = {{"activities", to_arrays(record_columns().activities, run.trace->activities)},
                     {"server_work", to_arrays(record_columns().server_work, run.trace->server_work)},
                     {"evaluations", run.trace->evaluations}};
  return to_bytes(json);
}

RunResult unpack_result(const std::string& packed) {
  const Cell json = Cell::from_cbor(packed);
  auto run = json.get<RunResult>();
  visit_records(run, [&](const char* name, const auto& columns, auto& records) {
    from_arrays(json.at(name), columns, records);
  });
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
               {"seed", run.summary.seed},
               {"packed", Cell::binary({run.packed.begin(), run.packed.end()})}};
  for (const Column<RunSummary>& column : summary_columns())
    if (column.get) json["summary"][column.name] = column.get(run.summary);
  return to_bytes(json);
}

FinishedRun unpack_finished(const std::string& packed) {
  const Cell json = Cell::from_cbor(packed);
  FinishedRun run;
  json.at("message").get_to(run.message);
  json.at("seed").get_to(run.summary.seed);
  for (const Column<RunSummary>& column : summary_columns())
    if (column.set) column.set(run.summary, json.at("summary").at(column.name));
  const auto& bytes = json.at("packed").get_binary();
  run.packed.assign(bytes.begin(), bytes.end());
  return run;
}

}  // namespace paceline
