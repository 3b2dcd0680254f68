#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "plots/figures.hpp"
#include "plots/page/page.hpp"
#include "plots/page/text.hpp"
#include "plots/page/time_unit.hpp"

namespace paceline::plots {
namespace {

constexpr double plot_left_in = 0.46;
constexpr double plot_width_in = page_width_in - plot_left_in - 0.12;
constexpr double page_top_in = 0.04;
constexpr double line_in = 0.135;
constexpr double panel_gap_in = 0.10;
constexpr double axis_below_in = 0.32;
constexpr std::size_t workers_named_max = 16;

using Trajectory = std::vector<BatchChange>;

struct Panel {
  std::vector<std::string> title;
  std::map<std::uint64_t, Trajectory> by_worker;
  double end_s = 0.0;
};

double title_in(const Panel& panel) {
  return line_in * static_cast<double>(panel.title.size()) + 0.03;
}

std::map<std::uint64_t, Trajectory> by_worker(const PlottedRun& run) {
  std::map<std::uint64_t, Trajectory> trajectories;
  for (const BatchChange& change : run.batches) trajectories[change.worker].push_back(change);
  return trajectories;
}

bool changes(const Trajectory& trajectory) {
  return std::ranges::any_of(trajectory, [&](const BatchChange& change) {
    return change.batch_samples != trajectory.front().batch_samples;
  });
}

std::vector<Panel> panels_of(const std::vector<PlottedRun>& runs) {
  std::vector<Panel> panels;
  for (const PlottedRun& run : runs) {
    Panel panel{wrapped(run.name, text_pt, plot_width_in, 3), by_worker(run), 0.0};
    const bool any =
        std::ranges::any_of(panel.by_worker, [](const auto& entry) { return changes(entry.second); });
    if (!any) continue;
    panel.end_s = run.batches.back().time_s;
    if (!run.end_times_s.empty()) panel.end_s = std::max(panel.end_s, run.end_times_s.front());
    panels.push_back(std::move(panel));
  }
  return panels;
}

std::string data_rows(const Trajectory& trajectory, double end_s) {
  std::string rows = "# time_s batch_samples\n";
  for (const BatchChange& change : trajectory)
    rows += fmt::format("{} {}\n", change.time_s, change.batch_samples);
  // The last batch holds until the end of the run.
  rows += fmt::format("{} {}\n", end_s, trajectory.back().batch_samples);
  return rows;
}

void draw_panel(Page& page, const Panel& panel, std::size_t index,
                const std::map<std::uint64_t, std::size_t>& series, const TimeUnit& unit) {
  std::size_t drawn = 0;
  for (const auto& [worker, trajectory] : panel.by_worker) {
    // More workers than colours can tell apart: the spread is what remains to be seen.
    const bool crowded = series.size() > workers_named_max;
    const SeriesStyle style = series_style(crowded ? 0 : series.at(worker));
    page.set(fmt::format("$batches_{}_{} << END_OF_DATA\n{}END_OF_DATA", index + 1, worker,
                         data_rows(trajectory, panel.end_s)));
    page.draw(
        fmt::format("{}$batches_{}_{} using ($1/{}):2 with steps linewidth {} linecolor rgb \"{}\" "
                    "dashtype {}{}",
                    drawn == 0 ? "plot " : "     ", index + 1, worker, unit.seconds, crowded ? 0.6 : 1.6,
                    style.colour, style.dash, drawn + 1 == panel.by_worker.size() ? "" : ", \\"));
    ++drawn;
  }
}

struct Scale {
  TimeUnit unit{"s", 1.0};
  double time_max = 1.0;  // in that unit
  std::uint64_t batch_max = 1;
  std::map<std::uint64_t, std::size_t> series;  // of each worker
};

Scale scale_of(const std::vector<Panel>& panels) {
  Scale scale;
  double end_s = 0.0;
  for (const Panel& panel : panels) {
    end_s = std::max(end_s, panel.end_s);
    for (const auto& [worker, trajectory] : panel.by_worker) {
      scale.series.emplace(worker, 0);
      for (const BatchChange& change : trajectory)
        scale.batch_max = std::max(scale.batch_max, change.batch_samples);
    }
  }
  std::size_t next = 0;
  for (auto& [worker, series] : scale.series) series = next++;
  scale.unit = time_unit_for(end_s);
  if (end_s > 0.0) scale.time_max = end_s / scale.unit.seconds;
  return scale;
}

}  // namespace

std::optional<Figure> batch_figure(const std::vector<PlottedRun>& runs, std::string_view command) {
  const std::vector<Panel> panels = panels_of(runs);
  if (panels.empty()) return std::nullopt;
  const Scale scale = scale_of(panels);

  std::vector<std::string> names;
  for (const auto& [worker, series] : scale.series) names.push_back(fmt::format("worker {}", worker));
  const bool named = names.size() <= workers_named_max;
  const Legend legend(named ? names : std::vector<std::string>{}, Legend::Sample::line);
  const Footer footer(
      named ? "one run (replication 0)"
            : fmt::format("one run (replication 0); one line for each of {} workers", names.size()),
      command);
  const double panel_in = panels.size() == 1 ? 1.5 : 1.0;
  double height_in = page_top_in;
  for (const Panel& panel : panels) height_in += title_in(panel) + panel_in + panel_gap_in;
  const double panels_bottom_in = height_in - panel_gap_in;
  const double legend_top_in = panels_bottom_in + axis_below_in + 0.05;
  const double footer_top_in = legend_top_in + legend.height_in() + 0.05;

  Page page(footer_top_in + footer.height_in());
  page.set(fmt::format("set xrange [0:{}]", scale.time_max));
  page.set(fmt::format("set yrange [0:{}]", 1.08 * static_cast<double>(scale.batch_max)));
  page.set("set grid ytics linetype 1 dashtype solid linewidth 0.4 linecolor rgb \"#E4E4E4\"");
  page.text("batch (samples)", 0.10, panels_bottom_in / 2.0, {.align = Align::center, .upright = true});
  page.text(fmt::format("time ({})", scale.unit.symbol), plot_left_in + plot_width_in / 2.0,
            panels_bottom_in + 0.24, {.align = Align::center});
  legend.place(page, legend_top_in);
  footer.place(page, footer_top_in);

  std::vector<double> tops_in;
  double top_in = page_top_in;
  for (const Panel& panel : panels) {
    for (std::size_t i = 0; i < panel.title.size(); ++i)
      page.text(panel.title[i], plot_left_in, top_in + line_in * (static_cast<double>(i) + 0.5), {});
    tops_in.push_back(top_in + title_in(panel));
    top_in = tops_in.back() + panel_in + panel_gap_in;
  }
  page.draw("set multiplot");
  for (std::size_t i = 0; i < panels.size(); ++i) {
    page.frame(plot_left_in, tops_in[i], plot_width_in, panel_in);
    page.draw(i + 1 == panels.size() ? "set format x \"% h\"" : "set format x \"\"");
    draw_panel(page, panels[i], i, scale.series, scale.unit);
    // Text stands at places on the page: drawn with the first panel, and not again with the others.
    if (i == 0) page.draw("unset label; unset arrow");
  }
  page.draw("unset multiplot");
  return Figure{std::string(batch_figure_name), page.script(batch_figure_name, command)};
}

}  // namespace paceline::plots
