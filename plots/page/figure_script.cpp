#include "plots/page/figure_script.hpp"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "plots/page/gnuplot.hpp"
#include "plots/page/legend.hpp"
#include "plots/page/text.hpp"
#include "sim/base/atomic_file.hpp"
#include "sim/base/check.hpp"
#include "sim/base/diagnostic.hpp"

namespace paceline::plots {
namespace {

// At 8 points.
constexpr double page_top_in = 0.04;
constexpr double untitled_top_in = 0.08;  // half of the uppermost tic's label
constexpr double title_gap_in = 0.03;
constexpr double panel_gap_in = 0.12;
constexpr double left_of_labelled_in = 0.52;
constexpr double left_of_rows_in = 0.10;
constexpr double right_in = 0.14;
constexpr double upright_title_in = 0.10;  // from the left edge
constexpr double tic_labels_in = 0.25;     // from the axis to the middle of its title
constexpr double axis_below_in = 0.37;
constexpr double legend_gap_in = 0.05;
constexpr std::size_t title_lines_max = 3;

struct PlacedPanel {
  const Panel* panel;
  std::vector<std::string> title;
  Box box;
};

struct Layout {
  std::vector<PlacedPanel> panels;
  bool slants_labels = false;
  double bottom_in = 0.0;  // of the lowest panel
  double legend_top_in = 0.0;
};

// Wide labels along an axis stand askew; how far they then reach down.
double slanted_labels_in(const Axis& axis, double width_in, const PageOptions& options) {
  double widest_in = 0.0;
  for (const Tic& tic : axis.tics)
    widest_in = std::max(widest_in, text_width_in(tic.label, options.points(TextSize::small)));
  return widest_in > 0.9 * width_in / static_cast<double>(std::max<std::size_t>(axis.tics.size(), 1))
             ? 0.5 * widest_in
             : 0.0;
}

Layout lay_out(const Figure& figure, const PageOptions& options) {
  Layout layout;
  const bool has_labels =
      std::ranges::any_of(figure.panels, [](const Panel& panel) { return panel.y.has_tics; });
  const double left_in = options.scaled(has_labels ? left_of_labelled_in : left_of_rows_in);
  const double all_in = options.width_in - left_in - options.scaled(right_in);
  const double gap_in = options.scaled(panel_gap_in);
  const auto across = static_cast<double>(figure.is_side_by_side ? figure.panels.size() : 1);
  Box box{.left_in = left_in,
          .top_in = options.scaled(page_top_in),
          .width_in = (all_in - (across - 1.0) * gap_in) / across};
  for (const Panel& panel : figure.panels) {
    PlacedPanel placed{&panel, {}, box};
    if (!panel.title.empty()) {
      placed.title = wrapped(panel.title, options.text_pt, box.width_in, title_lines_max);
      placed.box.top_in +=
          options.line_in() * static_cast<double>(placed.title.size()) + options.scaled(title_gap_in);
    } else if (panel.y.has_tics) {
      placed.box.top_in += options.scaled(untitled_top_in);
    }
    placed.box.height_in = panel.height_in;
    layout.bottom_in = std::max(layout.bottom_in, placed.box.bottom_in());
    if (figure.is_side_by_side) {
      box.left_in += box.width_in + gap_in;
    } else {
      box.top_in = placed.box.bottom_in() + gap_in;
    }
    layout.panels.push_back(std::move(placed));
  }
  const double slanted_in = slanted_labels_in(figure.panels.back().x, box.width_in, options);
  layout.slants_labels = slanted_in > 0.0;
  layout.bottom_in += slanted_in;
  layout.legend_top_in = layout.bottom_in + options.scaled(axis_below_in);
  return layout;
}

std::string data_block(const Table& table) {
  std::string block = fmt::format("${} << END_OF_DATA\n# {}", table.name, fmt::join(table.columns, " "));
  for (const auto& row : table.rows) {
    check(row.size() == table.columns.size(), "a row has a cell for each column");
    for (std::size_t i = 0; i < row.size(); ++i) {
      block += i == 0 ? '\n' : ' ';
      block += row[i] ? fmt::format("{:.9g}", *row[i]) : "?";
    }
  }
  return block + "\nEND_OF_DATA";
}

void define_tables(Page& page, const Figure& figure) {
  std::set<std::string> defined;
  for (const Panel& panel : figure.panels)
    for (const Layer& layer : panel.layers)
      if (defined.insert(layer.table.name).second) page.set(data_block(layer.table));
}

// gnuplot's way to draw a shape: {0} is the number of the first column, {t} half of a bar's thickness.
struct Drawing {
  Shape shape;
  const char* columns;
  const char* style;
  double line_width = 1.0;
  double opacity = 1.0;
};

constexpr auto lying = "{0}:{2}:(${1}-${0}):(0)";
constexpr std::array<Drawing, 13> drawings{{
    {Shape::line, "{0}:{1}", "lines {stroke}", 1.6},
    {Shape::steps, "{0}:{1}", "steps {stroke}", 1.6},
    {Shape::points, "{0}:{1}", "points {marker}"},
    {Shape::marks, "{0}:{1}", "points {marker} pointsize 0.75", 1.3},
    {Shape::band, "{0}:{1}:{2}", "filledcurves {fill} noborder", 1.0, 0.16},
    {Shape::error_bars, "{0}:{1}:{2}:{3}", "yerrorbars {marker}", 0.8},
    {Shape::upright, "{0}:{1}:(0):(${2}-${1})", "vectors nohead {stroke}", 0.8},
    {Shape::columns, "{0}:{1}", "boxes {fill} border rgb \"{colour}\"", 1.0, 0.55},
    {Shape::bars, "{0}:{2}:{0}:{1}:(${2}-{t}):(${2}+{t})", "boxxyerror {fill} noborder", 1.0, 0.55},
    {Shape::segment, lying, "vectors nohead {stroke}", 1.4},
    {Shape::whisker, lying, "vectors heads size screen 0.012,90 {stroke}", 1.4},
    {Shape::cap, lying, "vectors backhead size screen 0.012,90 {stroke}", 1.4},
    {Shape::arrow, lying, "vectors head empty size screen 0.025,22 {stroke}", 1.4},
}};

// An item of gnuplot's plot command.
std::string layer_text(const Layer& layer) {
  const Drawing& drawing = *std::ranges::find(drawings, layer.shape, &Drawing::shape);
  std::array<std::ptrdiff_t, 4> number{};  // of each column in the table, from 1
  for (std::size_t i = 0; i < layer.columns.size(); ++i) {
    const auto found = std::ranges::find(layer.table.columns, layer.columns[i]);
    check(found != layer.table.columns.end(), "a layer is drawn from columns of its table");
    number.at(i) = found - layer.table.columns.begin() + 1;
  }
  const std::string colour = fmt::format("rgb \"{}\"", layer.ink.colour);
  const double width = layer.line_width.value_or(drawing.line_width);
  const std::string line = fmt::format("linewidth {} linecolor {}", width, colour);
  const double opacity = layer.opacity.value_or(drawing.opacity);
  return fmt::format("${}{} using {} with {}", layer.table.name,
                     layer.row ? fmt::format(" every ::{0}::{0}", *layer.row) : "",
                     fmt::format(fmt::runtime(drawing.columns), number[0], number[1], number[2], number[3],
                                 fmt::arg("t", layer.thickness / 2.0)),
                     fmt::format(fmt::runtime(drawing.style), fmt::arg("colour", layer.ink.colour),
                                 fmt::arg("stroke", fmt::format("{} dashtype {}", line, layer.ink.dash)),
                                 fmt::arg("marker", fmt::format("{} pointtype {}", line, layer.ink.marker)),
                                 fmt::arg("fill", fmt::format("fillcolor {} fillstyle transparent solid {}",
                                                              colour, opacity))));
}

void draw_axis(Page& page, const Axis& axis, char name, bool has_numbers, bool slants_labels) {
  const auto end = [](const std::optional<double>& value) {
    return value ? fmt::format("{:.9g}", *value) : "*";
  };
  page.draw(axis.log_base > 0 ? fmt::format("set logscale {} {}", name, axis.log_base)
                              : fmt::format("unset logscale {}", name));
  // After the scale: gnuplot would cut a range at 0 while the panel above is logarithmic.
  page.draw(fmt::format("set {}range [{}:{}]", name, end(axis.from), end(axis.to)));
  page.draw(fmt::format("set format {} \"{}\"", name, !has_numbers ? "" : axis.log_base > 0 ? "%g" : "% h"));
  std::string labels;
  for (const Tic& tic : axis.tics)
    labels += fmt::format("{}{} {}", labels.empty() ? "" : ", ", gnuplot_string(tic.label), tic.at);
  if (!axis.has_tics) {
    page.draw(fmt::format("unset {}tics", name));
  } else if (!labels.empty()) {
    page.draw(fmt::format("set {}tics ({}){}", name, labels, slants_labels ? " rotate by 30 right" : ""));
  } else {
    page.draw(fmt::format("set {}tics {}", name, axis.step ? fmt::format("{:.9g}", *axis.step) : "autofreq"));
  }
}

void draw_panel(Page& page, const Figure& figure, const PlacedPanel& placed, bool has_numbers_below,
                bool slants_labels) {
  const Panel& panel = *placed.panel;
  page.frame(placed.box);
  // A long name of a row may reach into the panel beside.
  page.draw(fmt::format("set border {} linewidth 0.6", figure.is_side_by_side ? 1 : 3));
  draw_axis(page, panel.x, 'x', has_numbers_below, slants_labels);
  draw_axis(page, panel.y, 'y', true, false);
  page.draw(panel.y.has_tics
                ? "set grid ytics linetype 1 dashtype solid linewidth 0.4 linecolor rgb \"#E4E4E4\""
                : "unset grid");
  for (const double rule : panel.rules)
    page.draw(
        fmt::format("set arrow from graph 0, first {0} to graph 1, first {0} nohead back linewidth 0.8 "
                    "linecolor rgb \"{1}\"",
                    rule, note_colour));
  for (const PanelText& text : panel.texts)
    page.draw(fmt::format("set label {} at graph {}, first {:.6g} {}{}", gnuplot_string(text.content),
                          text.across, text.y, page.label_style(text.style),
                          text.is_above ? " offset 0,0.42" : ""));
  for (std::size_t i = 0; i < panel.layers.size(); ++i)
    page.draw(fmt::format("{}{}{}", i == 0 ? "plot " : "     ", layer_text(panel.layers[i]),
                          i + 1 == panel.layers.size() ? "" : ", \\"));
}

void place_titles(Page& page, const Figure& figure, const Layout& layout) {
  const PageOptions& options = page.options();
  const std::vector<PlacedPanel>& panels = layout.panels;
  for (const PlacedPanel& placed : panels) {
    double y_in = placed.box.top_in - options.scaled(title_gap_in) -
                  options.line_in() * (static_cast<double>(placed.title.size()) - 0.5);
    for (const std::string& line : placed.title) {
      page.text(line, placed.box.left_in, y_in);
      y_in += options.line_in();
    }
    if (figure.is_side_by_side || &placed == &panels.back())
      page.text(placed.panel->x.title, placed.box.center_in(),
                layout.bottom_in + options.scaled(tic_labels_in), {.align = Align::center});
  }
  // Panels of one quantity share its title.
  for (std::size_t first = 0; first < panels.size();) {
    const std::string& title = panels[first].panel->y.title;
    std::size_t last = first;
    while (last + 1 < panels.size() && panels[last + 1].panel->y.title == title) ++last;
    if (!title.empty())
      page.text(title, options.scaled(upright_title_in),
                (panels[first].box.top_in + panels[last].box.bottom_in()) / 2.0,
                {.align = Align::center, .upright = true});
    first = last + 1;
  }
}

}  // namespace

std::string gnuplot_script(const Figure& figure, std::string_view command, const PageOptions& options) {
  check(!figure.panels.empty(), "a figure has a panel");
  const Layout layout = lay_out(figure, options);
  const Legend legend(figure, options);
  const Footer footer(figure.note, command, options);
  const double footer_top_in =
      layout.legend_top_in +
      (figure.legend.empty() ? 0.0 : legend.height_in() + options.scaled(legend_gap_in));

  Page page(options, footer_top_in + footer.height_in());
  define_tables(page, figure);
  place_titles(page, figure, layout);
  legend.place(page, layout.legend_top_in);
  footer.place(page, footer_top_in);
  if (layout.panels.size() > 1) page.draw("set multiplot");
  for (const PlacedPanel& placed : layout.panels) {
    const bool has_numbers = figure.is_side_by_side || &placed == &layout.panels.back();
    draw_panel(page, figure, placed, has_numbers, layout.slants_labels);
    // What stands on the page or in this panel is not drawn again with the next.
    if (&placed != &layout.panels.back()) page.draw("unset label; unset arrow; unset object");
  }
  if (layout.panels.size() > 1) page.draw("unset multiplot");
  return page.script(figure.name, command);
}

void draw_figure(const Figure& figure, const std::filesystem::path& folder, std::string_view command,
                 const PageOptions& options) {
  write_file_atomically(folder / (figure.name + ".gp"), gnuplot_script(figure, command, options));
  run_gnuplot(folder, figure.name + ".gp");
  for (const Format format : options.formats) {
    const std::filesystem::path file = folder / fmt::format("{}.{}", figure.name, extension_of(format));
    // gnuplot can end without an error and without having drawn, e.g. on a full disk.
    if (!std::filesystem::exists(file) || !is_in_format(read_file(file), format))
      throw UserError(fmt::format("gnuplot did not draw {}", file.filename().string()),
                      "check that the disk has space left");
  }
}

}  // namespace paceline::plots
