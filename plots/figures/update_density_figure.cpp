#include <algorithm>

#include <fmt/format.h>

#include "plots/figures.hpp"
#include "plots/page/page.hpp"
#include "plots/page/text.hpp"

namespace paceline::plots {
namespace {

constexpr double plot_left_in = 0.46;
constexpr double plot_width_in = page_width_in - plot_left_in - 0.12;
constexpr double page_top_in = 0.04;
constexpr double line_in = 0.135;
constexpr double panel_gap_in = 0.10;
constexpr double axis_below_in = 0.36;

struct Panel {
  std::vector<std::string> title;
  std::vector<WorkerUpdates> workers;
  double top_in = 0.0;  // of the box below the title
};

bool differ(const std::vector<WorkerUpdates>& workers) {
  return std::ranges::any_of(
      workers, [&](const WorkerUpdates& worker) { return worker.gradients != workers.front().gradients; });
}

std::vector<Panel> panels_of(const std::vector<PlottedRun>& runs) {
  std::vector<Panel> panels;
  for (const PlottedRun& run : runs)
    if (differ(run.workers)) panels.push_back({wrapped(run.name, text_pt, plot_width_in, 2), run.workers});
  return panels;
}

}  // namespace

std::optional<Figure> update_density_figure(const std::vector<PlottedRun>& runs, std::string_view command) {
  std::vector<Panel> panels = panels_of(runs);
  if (panels.empty()) return std::nullopt;
  const double panel_in = panels.size() == 1 ? 1.2 : 0.62;
  double highest = 0.0;
  std::size_t workers = 0;
  double next_in = page_top_in;
  for (Panel& panel : panels) {
    panel.top_in = next_in + line_in * static_cast<double>(panel.title.size()) + 0.03;
    next_in = panel.top_in + panel_in + panel_gap_in;
    workers = std::max(workers, panel.workers.size());
    for (const WorkerUpdates& worker : panel.workers) highest = std::max(highest, worker.gradients_per_s);
  }
  const double bottom_in = next_in - panel_gap_in;
  const Footer footer("gradients applied, over the run's time (replication 0)", command);
  Page page(bottom_in + axis_below_in + footer.height_in());
  page.set(fmt::format("set xrange [-0.7:{}]", static_cast<double>(workers) - 0.3));
  page.set(fmt::format("set yrange [0:{}]", 1.1 * highest));
  page.set("set ytics autofreq");
  page.set("set boxwidth 0.7");
  page.set(fmt::format("set xtics {}", workers > 16 ? 4 : 1));
  page.text("updates per second", 0.10, (page_top_in + bottom_in) / 2.0,
            {.align = Align::center, .upright = true});
  page.text("worker", plot_left_in + plot_width_in / 2.0, bottom_in + 0.24, {.align = Align::center});
  footer.place(page, bottom_in + axis_below_in);
  for (const Panel& panel : panels) {
    double y_in = panel.top_in - 0.03 - line_in * (static_cast<double>(panel.title.size()) - 0.5);
    for (const std::string& line : panel.title) {
      page.text(line, plot_left_in, y_in, {});
      y_in += line_in;
    }
  }
  page.draw("set multiplot");
  for (std::size_t i = 0; i < panels.size(); ++i) {
    std::string rows;
    for (const WorkerUpdates& worker : panels[i].workers)
      rows += fmt::format("{} {}\n", worker.worker, worker.gradients_per_s);
    page.set(fmt::format("$updates_{} << END_OF_DATA\n{}END_OF_DATA", i, rows));
    page.frame(plot_left_in, panels[i].top_in, plot_width_in, panel_in);
    page.draw(i + 1 == panels.size() ? "set format x \"%.0f\"" : "set format x \"\"");
    page.draw(
        fmt::format("plot $updates_{} using 1:2 with boxes fillcolor rgb \"{}\" fillstyle solid 0.55 "
                    "border rgb \"{}\"",
                    i, series_style(i).colour, series_style(i).colour));
    // Text stands at places on the page: drawn with the first panel, and not again with the others.
    if (i == 0) page.draw("unset label");
  }
  page.draw("unset multiplot");
  return Figure{std::string(update_density_figure_name), page.script(update_density_figure_name, command)};
}

}  // namespace paceline::plots
