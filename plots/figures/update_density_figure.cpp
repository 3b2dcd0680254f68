#include <fmt/format.h>

#include "plots/figures/figures.hpp"

namespace paceline::plots {

namespace {

constexpr int panel_tics_max = 3;  // of a low panel
constexpr std::size_t names_max = 12;

}  // namespace

std::optional<Figure> update_density_figure(const ShownRuns& shown) {
  const auto runs = shown.those_with([](const PlottedRun& run) {
    return std::ranges::any_of(run.workers, [&](const WorkerUpdates& worker) {
      return worker.gradients != run.workers.front().gradients;
    });
  });
  if (runs.empty()) return std::nullopt;
  double highest = 0.0;
  std::size_t workers = 0;
  for (const PlottedRun& run : runs) {
    workers = std::max(workers, run.workers.size());
    for (const WorkerUpdates& worker : run.workers) highest = std::max(highest, worker.gradients_per_s);
  }
  Figure figure{.columns = runs.size() > 3 ? 2U : 1U,
                .note = "gradients applied, over the run's time (replication 0)"};
  for (std::size_t i = 0; i < runs.size(); ++i) {
    Table table{fmt::format("updates_{}", i + 1), {"worker", "per_second"}};
    for (const WorkerUpdates& worker : runs[i].workers)
      table.rows.push_back({static_cast<double>(worker.worker), worker.gradients_per_s});
    Axis x{.title = "worker",
           .from = -0.7,
           .to = static_cast<double>(workers) - 0.3,
           .step = workers > 16 ? 4.0 : 1.0};
    if (workers <= names_max && !runs[i].worker_names.empty())
      for (const WorkerUpdates& worker : runs[i].workers)
        x.tics.push_back({worker_name(runs[i], worker.worker), static_cast<double>(worker.worker)});
    figure.panels.push_back({.title = runs[i].name,
                             .height_in = runs.size() == 1 ? 1.2 : 0.62,
                             .x = x,
                             .y = {.title = "updates per second",
                                   .from = 0.0,
                                   .to = 1.1 * highest,
                                   .step = tic_step(1.1 * highest, panel_tics_max)},
                             .layers = {{Shape::columns, table, table.columns, series_ink(runs[i].series)}}});
  }
  return figure;
}

}  // namespace paceline::plots
