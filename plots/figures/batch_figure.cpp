#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "plots/figures/figures.hpp"

namespace paceline::plots {
namespace {

constexpr std::size_t workers_named_max = 16;

using Trajectories = std::map<std::uint64_t, std::vector<BatchChange>>;  // by worker

struct ShownBatches {
  std::string name;
  Trajectories by_worker;
  double end_s = 0.0;
};

Trajectories by_worker(const PlottedRun& run) {
  Trajectories trajectories;
  for (const BatchChange& change : run.batches) trajectories[change.worker].push_back(change);
  return trajectories;
}

bool any_changes(const Trajectories& trajectories) {
  return std::ranges::any_of(trajectories, [](const auto& entry) {
    return std::ranges::any_of(entry.second, [&](const BatchChange& change) {
      return change.batch_samples != entry.second.front().batch_samples;
    });
  });
}

std::vector<ShownBatches> shown_batches(const std::vector<PlottedRun>& runs) {
  std::vector<ShownBatches> shown;
  for (const PlottedRun& run : runs) {
    ShownBatches batches{run.name, by_worker(run)};
    if (!any_changes(batches.by_worker)) continue;
    batches.end_s = run.batches.back().time_s;
    if (!run.end_times_s.empty()) batches.end_s = std::max(batches.end_s, run.end_times_s.front());
    shown.push_back(std::move(batches));
  }
  return shown;
}

// The last batch holds until the end of the run.
Table table_of(const std::string& name, const std::vector<BatchChange>& trajectory, double end_s,
               const TimeUnit& unit) {
  Table table{name, {"time", "batch"}};
  for (const BatchChange& change : trajectory)
    table.rows.push_back({change.time_s / unit.seconds, static_cast<double>(change.batch_samples)});
  table.rows.push_back({end_s / unit.seconds, static_cast<double>(trajectory.back().batch_samples)});
  return table;
}

}  // namespace

std::optional<Figure> batch_figure(const ShownRuns& input) {
  const std::vector<ShownBatches> shown = shown_batches(input.runs);
  if (shown.empty()) return std::nullopt;
  double end_s = 0.0;
  std::uint64_t largest = 1;
  std::map<std::uint64_t, std::size_t> series;  // of each worker
  for (const ShownBatches& batches : shown) {
    end_s = std::max(end_s, batches.end_s);
    for (const auto& [worker, trajectory] : batches.by_worker) {
      series.emplace(worker, 0);
      for (const BatchChange& change : trajectory) largest = std::max(largest, change.batch_samples);
    }
  }
  std::size_t next = 0;
  for (auto& [worker, index] : series) index = next++;
  // More workers than colours can tell apart: the spread is what remains to be seen.
  const bool is_crowded = series.size() > workers_named_max;
  const TimeUnit unit = time_unit_for(end_s);
  Figure figure{.note = "one run (replication 0)"};
  if (is_crowded) figure.note += fmt::format("; one line for each of {} workers", series.size());
  for (const ShownBatches& batches : shown) {
    Panel panel{.title = batches.name,
                .height_in = shown.size() == 1 ? 1.5 : 1.0,
                .x = time_axis("time", end_s, unit),
                .y = {.title = "batch (samples)", .from = 0.0, .to = 1.08 * static_cast<double>(largest)}};
    for (const auto& [worker, trajectory] : batches.by_worker) {
      const Table table = table_of(fmt::format("batches_{}_{}", figure.panels.size() + 1, worker), trajectory,
                                   batches.end_s, unit);
      panel.layers.push_back(
          {Shape::steps, table, table.columns, series_ink(is_crowded ? 0 : series.at(worker))});
      if (is_crowded) panel.layers.back().line_width = 0.6;
    }
    figure.panels.push_back(std::move(panel));
  }
  if (!is_crowded)
    for (const auto& [worker, index] : series)
      figure.legend.push_back({fmt::format("worker {}", worker), series_ink(index)});
  return figure;
}

}  // namespace paceline::plots
