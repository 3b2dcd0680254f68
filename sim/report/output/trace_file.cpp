#include "sim/report/output/trace_file.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/base/check.hpp"
#include "sim/report/output/record_columns.hpp"

namespace paceline {
namespace {

using json = nlohmann::ordered_json;

// Tracks of one kind form a process.
constexpr int job_pid = 1;
constexpr int workers_pid = 2;
constexpr int servers_pid = 3;

class TraceText {
 public:
  void name_process(int pid, const std::string& name) {
    add({{"ph", "M"}, {"name", "process_name"}, {"pid", pid}, {"tid", 0}, {"args", {{"name", name}}}});
    add({{"ph", "M"},
         {"name", "process_sort_index"},
         {"pid", pid},
         {"tid", 0},
         {"args", {{"sort_index", pid}}}});
  }
  void name_thread(int pid, std::uint64_t tid, const std::string& name) {
    add({{"ph", "M"}, {"name", "thread_name"}, {"pid", pid}, {"tid", tid}, {"args", {{"name", name}}}});
  }
  void complete(int pid, std::uint64_t tid, std::string_view category, std::string_view name, Seconds begin,
                Seconds end, const json& arguments = nullptr) {
    json event = {{"ph", "X"},
                  {"name", name},
                  {"cat", category},
                  {"pid", pid},
                  {"tid", tid},
                  {"ts", microseconds(begin)},
                  {"dur", microseconds(end - begin)}};
    if (!arguments.is_null()) event["args"] = arguments;
    add(event);
  }
  void instant(int pid, std::uint64_t tid, const char* name, Seconds time) {
    add({{"ph", "i"}, {"name", name}, {"pid", pid}, {"tid", tid}, {"ts", microseconds(time)}, {"s", "g"}});
  }
  [[nodiscard]] std::string text() const {
    return fmt::format("{{\"traceEvents\":[\n{}\n],\"displayTimeUnit\":\"ms\"}}\n", events_);
  }

 private:
  static double microseconds(Seconds time) { return time.value() * 1e6; }
  void add(const json& event) {
    events_ += events_.empty() ? "" : ",\n";
    events_ += event.dump(-1, ' ', false, json::error_handler_t::replace);
  }

  std::string events_;
};

// Pauses are called by what they are for.
std::string_view name_of_span(const ActivitySpan& span) {
  return span.task == "pause" ? to_string(span.activity) : std::string_view(span.task);
}

json arguments_of(const ActivitySpan& span) {
  json arguments;
  const bool is_gradient = span.task == "compute" || span.task == "push" || span.task == "pull";
  if (span.number) arguments[is_gradient ? "gradient" : "update"] = *span.number;
  if (span.server) arguments["server"] = *span.server;
  if (span.batch_samples) arguments["batch_samples"] = *span.batch_samples;
  if (span.staleness) arguments["staleness"] = *span.staleness;
  return arguments;
}

}  // namespace

std::string chrome_trace(const RunResult& run, const LoadedScenario& loaded) {
  check(run.trace.has_value(), "only a traced run can be written as a trace");
  TraceText trace;
  const auto servers = static_cast<std::size_t>(
      std::ranges::count_if(run.resources, [](const ResourceUse& resource) { return !resource.bytes; }));
  trace.name_process(job_pid, loaded.scenario.name);
  trace.name_process(workers_pid, "workers");
  if (servers > 0) trace.name_process(servers_pid, "servers");
  trace.name_thread(job_pid, 1, "phases");
  trace.name_thread(job_pid, 2, "evaluations");
  for (std::size_t w = 0; w < run.attribution.size(); ++w)
    trace.name_thread(workers_pid, w + 1, name_of(loaded.scenario.cluster.workers, w));
  for (std::size_t s = 0; s < servers; ++s)
    trace.name_thread(servers_pid, s + 1, fmt::format("server {}", s));
  for (const PhaseRecord& phase : run.phases)
    trace.complete(job_pid, 1, "phase",
                   fmt::format("phase {}: {}, {}", phase.phase, phase_word(loaded, phase.phase, "policy"),
                               phase_word(loaded, phase.phase, "transport")),
                   phase.begin, phase.end);
  for (const Seconds time : run.trace->evaluations) trace.instant(job_pid, 2, "evaluation", time);
  for (const ActivitySpan& span : run.trace->activities)
    if (span.activity != Activity::wait)
      trace.complete(workers_pid, span.worker.value + 1, to_string(span.activity), name_of_span(span),
                     span.begin, span.end, arguments_of(span));
  for (const ServerSpan& work : run.trace->server_work)
    trace.complete(servers_pid, work.server.value + 1, "server", work.task, work.begin, work.end,
                   work.update ? json{{"update", *work.update}} : json());
  return trace.text();
}

}  // namespace paceline
