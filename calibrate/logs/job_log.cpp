#include "calibrate/logs/job_log.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

#include <fmt/format.h>

#include "calibrate/logs/statistics.hpp"
#include "sim/base/csv.hpp"
#include "sim/base/diagnostic.hpp"

namespace paceline::calibrate {
namespace {

constexpr const char* form_hint =
    "a log has `worker` and the time of each update, or `step` and the time of windows, or a row for each "
    "job "
    "with `duration_s` and `end_step`, or `step_s`";
constexpr std::size_t fewest_windows = 5;  // after the first fifth
constexpr std::size_t windows_of_updates = 40;
constexpr std::size_t fewest_updates = 200;
constexpr double median_error = 1.2533;  // of a median over that of a mean
constexpr double least_pause_excess = 0.1;
constexpr double pause_spreads = 5.0;
constexpr std::size_t fewest_pauses = 3;  // in windows

struct Window {
  double end = 0.0;  // updates of the job by then
  double updates = 0.0;
  double per_update_s = 0.0;
};

int count_of(const CsvFile& file, const CsvRow& row, std::string_view column) {
  constexpr std::uint64_t most = 100'000;
  if (!file.has(column)) return 1;
  const std::uint64_t count = row.count(column);
  if (count < 1 || count > most)
    row.fail_at(column, fmt::format("`{}` must be from 1 to {}, is {}", column, most, count));
  return static_cast<int>(count);
}

std::string text_of(const CsvFile& file, const CsvRow& row, std::string_view column) {
  return file.has(column) ? row.text(column) : "";
}

// k80x2 is of k80; several kinds are not told by one name.
std::string kind_of(const std::string& gpus) {
  return gpus.find('+') != gpus.npos ? gpus : gpus.substr(0, gpus.rfind('x'));
}

double median_of(const std::vector<Window>& windows) {
  std::vector<double> times;
  for (const Window& window : windows) times.push_back(window.per_update_s);
  return median(std::move(times));
}

double spread_around(double middle, const std::vector<double>& values) {
  std::vector<double> deviations;
  for (const double value : values) deviations.push_back(value / middle - 1.0);
  return robust_scale(deviations);
}

// Rate, its error and what they tell of iterations; false where windows are too few.
bool take_windows(std::vector<Window> windows, LoggedJob& job) {
  windows.erase(windows.begin(), windows.begin() + static_cast<std::ptrdiff_t>(windows.size() / 5));
  if (windows.size() < fewest_windows) return false;
  const double usual = median_of(windows);
  std::vector<double> times;
  std::vector<double> updates;
  for (const Window& window : windows) {
    times.push_back(window.per_update_s);
    updates.push_back(window.updates);
  }
  const double spread = spread_around(usual, times);
  job.rate = 1.0 / usual;
  job.relative_error = median_error * spread / std::sqrt(static_cast<double>(windows.size()));
  if (job.workers > 1) return true;
  job.iteration_variation = spread * std::sqrt(median(updates));
  const double bound = usual * (1.0 + std::max(least_pause_excess, pause_spreads * spread));
  for (const Window& window : windows)
    if (window.per_update_s > bound)
      job.pauses.push_back({(window.per_update_s - usual) * window.updates, window.end});
  // One or two slow windows are anything.
  if (job.pauses.size() < fewest_pauses) job.pauses.clear();
  return true;
}

class JobReader {
 public:
  JobReader(const std::filesystem::path& path, const JobLogOptions& options, JobLogs& logs)
      : file_(path, {}, {.hint = form_hint}), options_(options), logs_(logs) {
    if (file_.rows().empty()) file_.fail("there are no rows");
  }

  void read() {
    if (file_.has("worker"))
      each_job(&JobReader::add_updates);
    else if (file_.has("step") && file_.has(options_.time_column))
      each_job(&JobReader::add_windows);
    else if (file_.has("step_s") || (file_.has("duration_s") && file_.has("end_step")))
      for (const CsvRow& row : file_.rows()) add_row(row);
    else
      file_.fail("this is no log of an asynchronous job");
  }

 private:
  using Rows = std::vector<const CsvRow*>;

  [[nodiscard]] LoggedJob job_of(const CsvRow& row) const {
    LoggedJob job;
    job.place = fmt::format("{}:{}", file_.path().string(), row.line());
    job.campaign = text_of(file_, row, "campaign");
    job.network = file_.has("network") ? row.text("network") : options_.network;
    job.gpu = file_.has("gpu") ? row.text("gpu") : kind_of(text_of(file_, row, "gpus"));
    job.workers = count_of(file_, row, "workers");
    job.servers = count_of(file_, row, "servers");
    if (file_.has("latency_ms")) job.latency_ms = row.number_if_given("latency_ms");
    return job;
  }

  [[nodiscard]] std::string key_of(const CsvRow& row) const {
    std::string key;
    for (const char* column : {"campaign", "network", "gpu", "gpus", "workers", "servers", "latency_ms",
                               "configuration", "run", "replication"})
      key += text_of(file_, row, column) + '\n';
    return key;
  }

  // Both begin anew.
  [[nodiscard]] bool is_restart(const CsvRow& before, const CsvRow& row) const {
    return !file_.has("worker") && row.number("step") <= before.number("step") &&
           row.number(options_.time_column) <= before.number(options_.time_column);
  }

  void each_job(void (JobReader::*add)(const Rows&, LoggedJob)) {
    Rows rows;
    const auto finish = [&] {
      if (rows.empty()) return;
      (this->*add)(rows, job_of(*rows.front()));
      rows.clear();
    };
    for (const CsvRow& row : file_.rows()) {
      if (!rows.empty() && (key_of(*rows.back()) != key_of(row) || is_restart(*rows.back(), row))) finish();
      rows.push_back(&row);
    }
    finish();
  }

  void leave_out(const LoggedJob& job, const std::string& why) {
    logs_.left_out.push_back(fmt::format("{}: {}", job.place, why));
  }

  void keep(LoggedJob job) {
    if (job.gpu.find('+') != job.gpu.npos)
      leave_out(job, fmt::format("workers of several kinds ({})", job.gpu));
    else
      logs_.jobs.push_back(std::move(job));
  }

  void add_windows(const Rows& rows, LoggedJob job) {
    const bool has_rate = file_.has("steps_per_s");
    std::vector<Window> windows;
    for (std::size_t i = 1; i < rows.size(); ++i) {
      const double updates = rows[i]->number("step") - rows[i - 1]->number("step");
      const double seconds =
          rows[i]->number(options_.time_column) - rows[i - 1]->number(options_.time_column);
      if (updates <= 0.0 || seconds <= 0.0)
        rows[i]->fail_at("step",
                         fmt::format("step {} at {} s does not come after the row before",
                                     rows[i]->text("step"), rows[i]->text(options_.time_column)),
                         "another job begins where both begin anew, or a column of the job changes");
      windows.push_back({rows[i]->number("step"), updates,
                         has_rate ? 1.0 / rows[i]->positive("steps_per_s") : seconds / updates});
    }
    job.updates = rows.back()->number("step") - rows.front()->number("step");
    if (take_windows(std::move(windows), job))
      keep(std::move(job));
    else
      leave_out(job, fmt::format("{} rows are too few for a rate", rows.size()));
  }

  void add_updates(const Rows& rows, LoggedJob job) {
    std::map<std::uint64_t, std::vector<double>> times_of;
    std::vector<double> times;
    for (const CsvRow* row : rows) {
      const std::optional<double> time = row->number_if_given(options_.time_column);
      std::vector<double>& own = times_of[row->count("worker")];
      if (!time) continue;
      if (!own.empty() && *time <= own.back())
        row->fail_at(options_.time_column, fmt::format("worker {} at {} s does not come after its row before",
                                                       row->text("worker"), row->text(options_.time_column)));
      own.push_back(*time);
      times.push_back(*time);
    }
    job.workers = static_cast<int>(times_of.size());
    job.updates = static_cast<double>(times.size());
    if (times.size() < fewest_updates)
      return leave_out(job, fmt::format("{} updates are too few for a rate", times.size()));
    std::ranges::sort(times);
    const std::size_t size = times.size() / windows_of_updates;
    std::vector<Window> windows;
    for (std::size_t end = size; end < times.size(); end += size)
      windows.push_back({static_cast<double>(end), static_cast<double>(size),
                         (times[end] - times[end - size]) / static_cast<double>(size)});
    take_windows(std::move(windows), job);
    take_iterations(times_of, times, job);
    keep(std::move(job));
  }

  // Of each worker after the first fifth of all `times`; the first one is the chief.
  static void take_iterations(const std::map<std::uint64_t, std::vector<double>>& times_of,
                              const std::vector<double>& times, LoggedJob& job) {
    job.pauses.clear();
    std::vector<double> relative;
    for (const auto& [worker, own] : times_of) {
      const auto begin = std::ranges::lower_bound(own, times[times.size() / 5]);
      std::vector<double> iterations;
      for (auto at = begin; at != own.end() && at + 1 != own.end(); ++at) iterations.push_back(at[1] - at[0]);
      if (iterations.empty()) continue;
      const double usual = median(iterations);
      for (std::size_t i = 0; i < iterations.size(); ++i)
        if (iterations[i] <= stall_bound * usual)
          relative.push_back(iterations[i] / usual);
        else if (worker == times_of.begin()->first)
          job.pauses.push_back(
              {iterations[i] - usual,
               static_cast<double>(std::ranges::lower_bound(times, begin[static_cast<std::ptrdiff_t>(i)]) -
                                   times.begin())});
    }
    // Waiting at the server adds to the variation of several workers: what one alone varies by is less.
    if (job.workers == 1 && !relative.empty()) job.iteration_variation = spread_around(1.0, relative);
  }

  void add_row(const CsvRow& row) {
    LoggedJob job = job_of(row);
    if (file_.has("complete") && row.count("complete") == 0) return leave_out(job, "the job was cut off");
    if (file_.has("step_s")) {
      job.rate = 1.0 / row.positive("step_s");
    } else {
      job.updates = row.positive("end_step");
      double seconds = row.positive("duration_s");
      if (options_.pauses)
        seconds -= options_.pauses->seconds * job.updates / options_.pauses->every_updates / job.workers;
      if (seconds <= 0.0) row.fail("the pauses that were given take longer than the job");
      job.rate = job.updates / seconds;
    }
    keep(std::move(job));
  }

  CsvFile file_;
  const JobLogOptions& options_;
  JobLogs& logs_;
};

}  // namespace

JobLogs read_job_logs(const std::vector<std::filesystem::path>& files, const JobLogOptions& options) {
  JobLogs logs;
  UserErrors errors;
  for (const std::filesystem::path& file : files)
    errors.attempt([&] { JobReader(file, options, logs).read(); });
  errors.throw_if_any();
  return logs;
}

}  // namespace paceline::calibrate
