#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "plots/figures.hpp"
#include "plots/page/page.hpp"
#include "plots/page/text.hpp"
#include "plots/page/time_unit.hpp"

namespace paceline::plots {
namespace {

constexpr double plot_left_in = 0.62;
constexpr double plot_width_in = page_width_in - plot_left_in - 0.12;
constexpr double page_top_in = 0.04;
constexpr double line_in = 0.135;
constexpr double row_in = 0.15;
constexpr double panel_gap_in = 0.12;
constexpr double axis_below_in = 0.32;
constexpr std::size_t iterations_shown = 20;
constexpr std::size_t workers_shown_max = 32;

struct ActivityColour {
  const char* name;
  const char* colour;
};
// Waiting is left light: what stands out is what a worker did.
constexpr std::array<ActivityColour, 11> colours{{{"compute", "#0072B2"},
                                                  {"transfer", "#E69F00"},
                                                  {"server", "#D55E00"},
                                                  {"coordination", "#CC79A7"},
                                                  {"checkpoint", "#56B4E9"},
                                                  {"switch", "#000000"},
                                                  {"start_up", "#808080"},
                                                  {"evaluation", "#009E73"},
                                                  {"adjustment", "#F0E442"},
                                                  {"away", "#FFFFFF"},
                                                  {"wait", "#E8E8E8"}}};

std::size_t place_of(const std::string& activity) {
  const auto found = std::ranges::find(colours, activity, &ActivityColour::name);
  return static_cast<std::size_t>(found - colours.begin());
}

// Until the first worker has done its 20th iteration; longer runs would be a grey band. An optimizer step and the
// iteration that follows it at once count as one.
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

struct TimelinePanel {
  std::vector<std::string> title;
  std::vector<WorkerActivity> blocks;  // cut at the window's end
  std::uint64_t workers = 0;
  std::uint64_t workers_of_run = 0;
  double end_s = 0.0;
};

std::vector<TimelinePanel> panels_of(const std::vector<PlottedRun>& runs) {
  // One window for all, so that they can be compared.
  double window_s = 0.0;
  for (const PlottedRun& run : runs) window_s = std::max(window_s, window_end_s(run.activities));
  std::vector<TimelinePanel> panels;
  for (const PlottedRun& run : runs) {
    if (run.activities.empty()) continue;
    TimelinePanel panel{.title = wrapped(run.name, text_pt, plot_width_in, 3), .blocks = {}};
    panel.end_s = window_s;
    for (WorkerActivity block : run.activities) {
      panel.workers_of_run = std::max(panel.workers_of_run, block.worker + 1);
      if (block.worker >= workers_shown_max || block.begin_s >= panel.end_s) continue;
      block.end_s = std::min(block.end_s, panel.end_s);
      panel.workers = std::max(panel.workers, block.worker + 1);
      panel.blocks.push_back(std::move(block));
    }
    panels.push_back(std::move(panel));
  }
  return panels;
}

double height_of(const TimelinePanel& panel) {
  return row_in * static_cast<double>(panel.workers);
}

// One colour's blocks of one panel are one layer; the layers that have none are left out.
void draw_panel(Page& page, const TimelinePanel& panel, std::size_t index, const TimeUnit& unit) {
  std::vector<std::string> layers;
  for (std::size_t c = 0; c < colours.size(); ++c) {
    std::string rows;
    for (const WorkerActivity& block : panel.blocks)
      if (place_of(block.activity) == c)
        rows += fmt::format("{} {} {}\n", block.worker, block.begin_s, block.end_s);
    if (rows.empty()) continue;
    const std::string data = fmt::format("$timeline_{}_{}", index + 1, c);
    page.set(fmt::format("{} << END_OF_DATA\n# worker begin_s end_s\n{}END_OF_DATA", data, rows));
    layers.push_back(fmt::format(
        "{} using ($2/{}):1:($2/{}):($3/{}):($1-0.38):($1+0.38) with boxxyerror fillcolor rgb \"{}\" "
        "fillstyle solid 1.0 noborder",
        data, unit.seconds, unit.seconds, unit.seconds, colours[c].colour));
  }
  page.draw(fmt::format("set yrange [{}:-0.5]", static_cast<double>(panel.workers) - 0.5));
  for (std::size_t i = 0; i < layers.size(); ++i)
    page.draw(
        fmt::format("{}{}{}", i == 0 ? "plot " : "     ", layers[i], i + 1 == layers.size() ? "" : ", \\"));
}

std::vector<std::size_t> colours_used(const std::vector<TimelinePanel>& panels) {
  std::vector<std::size_t> used;
  for (std::size_t c = 0; c < colours.size(); ++c)
    for (const TimelinePanel& panel : panels)
      if (std::ranges::any_of(panel.blocks,
                              [&](const WorkerActivity& b) { return place_of(b.activity) == c; })) {
        used.push_back(c);
        break;
      }
  return used;
}

// As text, not as a column of a file.
std::string words_of(std::string_view activity) {
  std::string words(activity);
  std::ranges::replace(words, '_', '-');
  return words;
}

constexpr std::size_t legend_columns = 4;

void place_legend(Page& page, const std::vector<std::size_t>& used, double top_in) {
  const double column_in = (page_width_in - 2.0 * page_margin_in) / static_cast<double>(legend_columns);
  for (std::size_t i = 0; i < used.size(); ++i) {
    const double x_in = page_margin_in + column_in * static_cast<double>(i % legend_columns);
    const double y_in = top_in + line_in * (static_cast<double>(i / legend_columns) + 0.5);
    page.draw(
        fmt::format("set object rectangle from screen {} to screen {} fillcolor rgb \"{}\" fillstyle solid "
                    "1.0 border linecolor rgb \"#A0A0A0\" front",
                    page.at(x_in, y_in + 0.04), page.at(x_in + 0.12, y_in - 0.04), colours[used[i]].colour));
    page.text(words_of(colours[used[i]].name), x_in + 0.17, y_in, {});
  }
}

std::string note_about(const std::vector<TimelinePanel>& panels) {
  std::string note =
      fmt::format("one run (replication 0), until each policy has done {} iterations", iterations_shown);
  const bool cut =
      std::ranges::any_of(panels, [](const TimelinePanel& p) { return p.workers < p.workers_of_run; });
  if (cut) note += fmt::format("; only workers 0 to {}", workers_shown_max - 1);
  return note;
}

}  // namespace

std::optional<Figure> timeline_figure(const std::vector<PlottedRun>& runs, std::string_view command) {
  const std::vector<TimelinePanel> panels = panels_of(runs);
  if (panels.empty()) return std::nullopt;
  double end_s = 0.0;
  for (const TimelinePanel& panel : panels) end_s = std::max(end_s, panel.end_s);
  const TimeUnit unit = time_unit_for(end_s);
  const std::vector<std::size_t> used = colours_used(panels);
  const Footer footer(note_about(panels), command);

  std::vector<double> tops_in;
  double top_in = page_top_in;
  for (const TimelinePanel& panel : panels) {
    tops_in.push_back(top_in + line_in * static_cast<double>(panel.title.size()) + 0.03);
    top_in = tops_in.back() + height_of(panel) + panel_gap_in;
  }
  const double bottom_in = top_in - panel_gap_in;
  const double legend_top_in = bottom_in + axis_below_in + 0.05;
  const double legend_in = line_in * static_cast<double>((used.size() + legend_columns - 1) / legend_columns);
  const double footer_top_in = legend_top_in + legend_in + 0.05;

  Page page(footer_top_in + footer.height_in());
  page.set(fmt::format("set xrange [0:{}]", end_s > 0.0 ? end_s / unit.seconds : 1.0));
  page.set("set ytics 1");
  page.text("worker", 0.16, bottom_in / 2.0, {.align = Align::center, .upright = true});
  page.text(fmt::format("time ({})", unit.symbol), plot_left_in + plot_width_in / 2.0, bottom_in + 0.24,
            {.align = Align::center});
  place_legend(page, used, legend_top_in);
  footer.place(page, footer_top_in);
  for (std::size_t i = 0; i < panels.size(); ++i)
    for (std::size_t l = 0; l < panels[i].title.size(); ++l)
      page.text(panels[i].title[l], plot_left_in,
                tops_in[i] - 0.03 - line_in * (static_cast<double>(panels[i].title.size() - l) - 0.5), {});
  page.draw("set multiplot");
  for (std::size_t i = 0; i < panels.size(); ++i) {
    page.frame(plot_left_in, tops_in[i], plot_width_in, height_of(panels[i]));
    page.draw(i + 1 == panels.size() ? "set format x \"% h\"" : "set format x \"\"");
    draw_panel(page, panels[i], i, unit);
    if (i == 0) page.draw("unset label; unset arrow; unset object");
  }
  page.draw("unset multiplot");
  return Figure{std::string(timeline_figure_name), page.script(timeline_figure_name, command)};
}

}  // namespace paceline::plots
