#include <map>

#include <fmt/format.h>

#include "plots/figures/figures.hpp"

namespace paceline::plots {
namespace {

constexpr std::size_t workers_named_max = 16;
constexpr std::size_t panels_below_each_other = 4;

using Trajectory = std::vector<BatchChange>;  // of a worker

struct ShownBatches {
  const PlottedRun& run;
  std::map<std::uint64_t, Trajectory> by_worker = {};
  double end_s = 0.0;  // of the run, to which the last batch holds
};

bool changes(const Trajectory& trajectory) {
  return std::ranges::any_of(trajectory, [&](const BatchChange& change) {
    return change.batch_samples != trajectory.front().batch_samples;
  });
}

std::vector<ShownBatches> shown_batches(const std::vector<PlottedRun>& runs) {
  std::vector<ShownBatches> shown;
  for (const PlottedRun& run : runs) {
    ShownBatches batches{run};
    for (const BatchChange& change : run.batches) batches.by_worker[change.worker].push_back(change);
    if (std::ranges::none_of(batches.by_worker, [](const auto& entry) { return changes(entry.second); }))
      continue;
    batches.end_s = run.batches.back().time_s;
    if (!run.end_times_s.empty()) batches.end_s = std::max(batches.end_s, run.end_times_s.front());
    shown.push_back(std::move(batches));
  }
  return shown;
}

// Its name where all runs have the same for it, else its number.
std::string worker_text(const std::vector<ShownBatches>& shown, std::uint64_t worker) {
  const std::string name = worker_name(shown.front().run, worker);
  const bool is_name = std::ranges::all_of(shown, [&](const ShownBatches& batches) {
    return batches.run.worker_names.contains(worker) && worker_name(batches.run, worker) == name;
  });
  return is_name ? name : fmt::format("worker {}", worker);
}

Table table_of(const std::string& name, const Trajectory& trajectory, double end_s, const TimeUnit& unit) {
  Table table{name, {"time", "batch"}};
  for (const BatchChange& change : trajectory)
    table.rows.push_back({change.time_s / unit.seconds, change.batch_samples});
  table.rows.push_back({end_s / unit.seconds, trajectory.back().batch_samples});
  return table;
}

}  // namespace

std::optional<Figure> batch_figure(const ShownRuns& input) {
  const std::vector<ShownBatches> shown = shown_batches(input.runs);
  if (shown.empty()) return std::nullopt;
  double end_s = 0.0;
  double largest = 1.0;
  std::map<std::uint64_t, std::size_t> series;  // of each worker
  for (const ShownBatches& batches : shown) {
    end_s = std::max(end_s, batches.end_s);
    for (const auto& [worker, trajectory] : batches.by_worker) {
      series.emplace(worker, 0);
      for (const BatchChange& change : trajectory) largest = std::max(largest, change.batch_samples);
    }
  }
  // More workers than colours can tell apart: the spread is what remains to be seen.
  const bool is_crowded = series.size() > workers_named_max;
  Figure figure{.columns = shown.size() > panels_below_each_other ? 2U : 1U,
                .note = "one run (replication 0)"};
  if (is_crowded) {
    figure.note += fmt::format("; one line for each of {} workers", series.size());
  } else {
    for (auto& [worker, index] : series) {
      index = figure.legend.size();
      figure.legend.push_back({worker_text(shown, worker), series_ink(index)});
    }
  }
  const TimeUnit unit = time_unit_for(end_s);
  for (const ShownBatches& batches : shown) {
    Panel panel{.title = batches.run.name,
                .height_in = shown.size() == 1                        ? 1.5
                             : shown.size() > panels_below_each_other ? 0.8
                                                                      : 1.0,
                .x = time_axis("time", end_s, unit),
                .y = {.title = "batch (samples)", .from = 0.0, .to = 1.08 * largest}};
    for (const auto& [worker, trajectory] : batches.by_worker) {
      const Table table = table_of(fmt::format("batches_{}_{}", figure.panels.size() + 1, worker), trajectory,
                                   batches.end_s, unit);
      panel.layers.push_back({Shape::steps, table, table.columns, series_ink(series.at(worker))});
      if (is_crowded) panel.layers.back().line_width = 0.6;
    }
    figure.panels.push_back(std::move(panel));
  }
  return figure;
}

}  // namespace paceline::plots
