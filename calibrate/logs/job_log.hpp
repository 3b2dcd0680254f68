// Logs of asynchronous jobs in three forms: every update, windows of updates, or one row for each job.
//
// Models:      CSV files with a header; columns are found by name, others are ignored.
//                every update   worker, time_s: a row for each update, by whom and when (rows without a time
//                               are of iterations that were never applied)
//                windows        time_s, step: how many updates the whole job had made by then; with
//                               steps_per_s the rate is this column's, else Δstep / Δtime_s
//                one row a job  duration_s and end_step, or step_s (seconds per update of the whole job)
//              Of the job, where they are there: workers (1), gpu (kind of its workers, any text; or gpus,
//              as k80x2), network, campaign, servers (1), latency_ms (to the server), complete (0: left out),
//              run, replication. Rows of one job stand together; another job begins where one of these
//              changes, or where time and step both begin anew. A file is one job at least.
// Equation:    rate = 1 / median seconds per update over the windows after the first fifth, while workers
//              still join; its relative error 1.25 · spread / √windows, spread = 1.4826 · median absolute
//              deviation. Iterations vary by spread · √(updates of a window) in a job of one worker, or by
//              the spread of its intervals. A pause of the chief (the lowest worker) is what exceeds the
//              median where an interval is more than 3 times it; in windows of one worker, where at least 3
//              exceed the median by more than max(10 %, 5 spreads). One row: pauses that are given are taken
//              off, divided among the workers.
// Units:       seconds, updates.
// Assumptions: windows and iterations are independent; pauses are rare enough to leave medians alone.
// Not modelled: rates that drift; pauses of others than the chief; pauses in windows of several workers.
// Source:      recorded series of Li, Walls, Guo, ICDCS 2020, for the columns; Huber, Robust Statistics,
//              1981.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace paceline::calibrate {

struct LoggedPause {
  double seconds = 0.0;
  double at_updates = 0.0;  // of the whole job
};

struct LoggedJob {
  std::string place;  // FILE:LINE of its first row
  std::string campaign;
  std::string network;
  std::string gpu;
  int workers = 1;
  int servers = 1;
  double rate = 0.0;                          // updates/s of all workers, between pauses
  double relative_error = 0.0;                // of the rate, by how its windows vary
  double updates = 0.0;                       // logged
  std::optional<double> iteration_variation;  // sd / mean
  std::vector<LoggedPause> pauses;            // of the chief, after the first fifth
  std::optional<double> latency_ms;
};

struct JobLogs {
  std::vector<LoggedJob> jobs;
  std::vector<std::string> left_out;  // and why
};

// Pauses of the chief in jobs of which only the whole duration is known.
struct KnownPauses {
  double seconds = 0.0;
  double every_updates = 1.0;
};

struct JobLogOptions {
  std::string network;  // empty: all; jobs that name no network are of this one
  std::string time_column = "time_s";
  std::optional<KnownPauses> pauses = {};
};

// Throws UserError naming the place.
[[nodiscard]] JobLogs read_job_logs(const std::vector<std::filesystem::path>& files,
                                    const JobLogOptions& options);

}  // namespace paceline::calibrate
