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

std::string quoted_json(const std::string& text) {
  return json(text).dump(-1, ' ', false, json::error_handler_t::replace);
}

double microseconds(Seconds time) {
  return time.value() * 1e6;
}

class TraceText {
 public:
  void name_process(int pid, const std::string& name) {
    add(fmt::format(R"({{"ph":"M","name":"process_name","pid":{},"tid":0,"args":{{"name":{}}}}})", pid,
                    quoted_json(name)));
    add(fmt::format(R"({{"ph":"M","name":"process_sort_index","pid":{},"tid":0,"args":{{"sort_index":{}}}}})",
                    pid, pid));
  }
  void name_thread(int pid, std::uint64_t tid, const std::string& name) {
    add(fmt::format(R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":{}}}}})", pid, tid,
                    quoted_json(name)));
  }
  void complete(int pid, std::uint64_t tid, std::string_view category, const std::string& name, Seconds begin,
                Seconds end) {
    add(fmt::format(R"({{"ph":"X","name":{},"cat":"{}","pid":{},"tid":{},"ts":{},"dur":{}}})",
                    quoted_json(name), category, pid, tid, microseconds(begin), microseconds(end - begin)));
  }
  void instant(int pid, std::uint64_t tid, std::string_view name, Seconds time) {
    add(fmt::format(R"({{"ph":"i","name":"{}","pid":{},"tid":{},"ts":{},"s":"g"}})", name, pid, tid,
                    microseconds(time)));
  }
  [[nodiscard]] std::string finish() && { return std::move(text_) + "\n],\"displayTimeUnit\":\"ms\"}\n"; }

 private:
  void add(const std::string& event) {
    text_ += first_ ? "\n" : ",\n";
    text_ += event;
    first_ = false;
  }

  std::string text_ = "{\"traceEvents\":[";
  bool first_ = true;
};

void add_job(TraceText& trace, const RunResult& run, const LoadedScenario& loaded) {
  trace.name_thread(job_pid, 1, "phases");
  trace.name_thread(job_pid, 2, "evaluations");
  for (const PhaseRecord& phase : run.phases) {
    trace.complete(job_pid, 1, "phase",
                   fmt::format("phase {}: {}, {}", phase.phase, phase_word(loaded, phase.phase, "policy"),
                               phase_word(loaded, phase.phase, "transport")),
                   phase.begin, phase.end);
  }
  for (const Seconds time : run.trace->evaluations) trace.instant(job_pid, 2, "evaluation", time);
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
  add_job(trace, run, loaded);
  for (std::size_t w = 0; w < run.attribution.size(); ++w)
    trace.name_thread(workers_pid, w + 1, fmt::format("worker {}", w));
  for (std::size_t s = 0; s < servers; ++s)
    trace.name_thread(servers_pid, s + 1, fmt::format("server {}", s));
  for (const ActivitySpan& span : run.trace->activities) {
    if (span.activity == Activity::wait) continue;
    trace.complete(workers_pid, span.worker.value + 1, "activity", std::string(to_string(span.activity)),
                   span.begin, span.end);
  }
  for (const ServerSpan& work : run.trace->server_work)
    trace.complete(servers_pid, work.server.value + 1, "server", "apply", work.begin, work.end);
  return std::move(trace).finish();
}

}  // namespace paceline
