#include <map>
#include <set>

#include <fmt/format.h>

#include "plots/figures/activities.hpp"
#include "plots/figures/figures.hpp"

namespace paceline::plots {
namespace {

constexpr double row_in = 0.15;
constexpr std::size_t iterations_shown = 20;
constexpr std::size_t workers_shown_max = 32;

// Until the first worker has done its 20th iteration; longer runs would be a grey band. An optimizer step and
// the iteration that follows it at once count as one.
double window_end_s(const std::vector<WorkerActivity>& activities) {
  struct Computing {
    std::size_t iterations = 0;
    double until_s = -1.0;
  };
  std::map<std::uint64_t, Computing> workers;
  double end_s = 0.0;
  double window_s = 0.0;
  for (const WorkerActivity& block : activities) {
    end_s = std::max(end_s, block.end_s);
    if (block.activity != "compute") continue;
    Computing& worker = workers[block.worker];
    if (block.begin_s > worker.until_s) ++worker.iterations;
    worker.until_s = block.end_s;
    if (worker.iterations == iterations_shown && (window_s == 0.0 || block.end_s < window_s))
      window_s = block.end_s;
  }
  return window_s > 0.0 ? window_s : end_s;
}

std::uint64_t workers_of(const PlottedRun& run) {
  std::uint64_t workers = 0;
  for (const WorkerActivity& block : run.activities) workers = std::max(workers, block.worker + 1);
  return workers;
}

// One activity of one run, cut at the end of the window.
Table activity_table(const std::string& name, const PlottedRun& run, std::string_view activity,
                     double window_s, const TimeUnit& unit) {
  Table table{name, {"begin", "end", "worker"}};
  for (const WorkerActivity& block : run.activities)
    if (block.activity == activity && block.worker < workers_shown_max && block.begin_s < window_s)
      table.rows.push_back({block.begin_s / unit.seconds, std::min(block.end_s, window_s) / unit.seconds,
                            static_cast<double>(block.worker)});
  return table;
}

}  // namespace

std::optional<Figure> timeline_figure(const ShownRuns& shown) {
  const auto runs = shown.those_with([](const PlottedRun& run) { return !run.activities.empty(); });
  if (runs.empty()) return std::nullopt;
  // One window for all, so that they can be compared.
  double window_s = 0.0;
  std::uint64_t most_workers = 0;
  for (const PlottedRun& run : runs) {
    window_s = std::max(window_s, window_end_s(run.activities));
    most_workers = std::max(most_workers, workers_of(run));
  }
  const TimeUnit unit = time_unit_for(window_s);
  Figure figure{.sample = Sample::box,
                .note = fmt::format("one run (replication 0), until each policy has done {} iterations",
                                    iterations_shown)};
  if (most_workers > workers_shown_max)
    figure.note += fmt::format("; only workers 0 to {}", workers_shown_max - 1);
  std::set<std::size_t> used;  // of the colours
  for (const PlottedRun& run : runs) {
    const auto workers = static_cast<double>(std::min<std::uint64_t>(workers_of(run), workers_shown_max));
    Panel panel{.title = run.name,
                .height_in = row_in * workers,
                .x = time_axis("time", window_s, unit),
                .y = {.title = "worker", .from = workers - 0.5, .to = -0.5, .step = 1.0}};
    for (const auto& [worker, name] : run.worker_names)
      if (worker < static_cast<std::uint64_t>(workers))
        panel.y.tics.push_back({name, static_cast<double>(worker)});
    for (std::size_t c = 0; c < activity_colours.size(); ++c) {
      const Table table =
          activity_table(fmt::format("{}_{}", activity_colours[c].activity, figure.panels.size() + 1), run,
                         activity_colours[c].activity, window_s, unit);
      if (table.rows.empty()) continue;
      used.insert(c);
      panel.layers.push_back({Shape::bars, table, table.columns, {.colour = activity_colours[c].colour}});
      panel.layers.back().thickness = 0.76;
      panel.layers.back().opacity = 1.0;
    }
    figure.panels.push_back(std::move(panel));
  }
  for (const std::size_t c : used)
    figure.legend.push_back({activity_colours[c].name, {.colour = activity_colours[c].colour}});
  return figure;
}

}  // namespace paceline::plots
