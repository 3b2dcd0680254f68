// A figure laid out on its page and written down for gnuplot.
#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/ranges.h>

#include "plots/page/canvas.hpp"
#include "plots/page/text.hpp"
#include "sim/base/check.hpp"

namespace paceline::plots {
namespace {

// At 8 points.
constexpr double page_top_in = 0.04;
constexpr double untitled_top_in = 0.08;  // half of the uppermost tic's label
constexpr double title_gap_in = 0.03;
constexpr double panel_gap_in = 0.12;
constexpr double left_of_labelled_in = 0.52;
constexpr double before_labels_in = 0.26;  // the upright title, and what keeps it apart
constexpr double left_of_rows_in = 0.10;
constexpr double right_in = 0.14;
constexpr double upright_title_in = 0.10;  // from the left edge
constexpr double tic_labels_in = 0.25;     // from the axis to the middle of its title
constexpr double axis_below_in = 0.37;
constexpr std::size_t title_lines_max = 3;
constexpr double column_width = 0.7;  // of the distance to the next

struct PlacedPanel {
  const Panel& panel;
  std::vector<std::string> title;
  Box box;
  bool has_x_labels = true;
  bool has_y_labels = true;
};

struct Layout {
  std::vector<PlacedPanel> panels;
  double slanted_in = 0.0;  // how far labels that stand askew reach down; 0: none do
  double bottom_in = 0.0;   // of the lowest panel, with these
};

// Wide labels along an axis stand askew; how far they then reach down.
double slanted_labels_in(const Axis& axis, double width_in, const PageOptions& options) {
  double widest_in = 0.0;
  for (const Tic& tic : axis.tics)
    widest_in = std::max(widest_in, text_width_in(tic.label, options.points(TextSize::small)));
  const auto tics = static_cast<double>(std::max<std::size_t>(axis.tics.size(), 1));
  return widest_in > 0.9 * width_in / tics ? 0.5 * widest_in : 0.0;
}

// Of panels with numbers or names at their left.
double left_of_labels_in(const Figure& figure, const PageOptions& options) {
  constexpr double share_max = 0.4;  // of the page
  double widest_in = 0.0;
  for (const Panel& panel : figure.panels)
    for (const Tic& tic : panel.y.tics)
      widest_in = std::max(widest_in, text_width_in(tic.label, options.points(TextSize::small)));
  return std::clamp(widest_in + options.scaled(before_labels_in), options.scaled(left_of_labelled_in),
                    std::max(share_max * options.width_in, options.scaled(left_of_labelled_in)));
}

std::vector<std::string> page_title(const PageOptions& options) {
  if (options.title.empty()) return {};
  return wrapped(options.title, options.text_pt, options.usable_in(), title_lines_max);
}

// Panels beside each other begin at one height.
std::size_t title_lines_of_row(const Figure& figure, std::size_t panel, double width_in,
                               const PageOptions& options) {
  const std::size_t columns = figure.is_side_by_side ? 1 : figure.columns;
  const std::size_t first = panel - panel % columns;
  std::size_t lines = 1;
  for (std::size_t i = first; i < std::min(first + columns, figure.panels.size()); ++i)
    lines =
        std::max(lines, wrapped(figure.panels[i].title, options.text_pt, width_in, title_lines_max).size());
  return lines;
}

Layout lay_out(const Figure& figure, const PageOptions& options) {
  Layout layout;
  const bool has_labels =
      std::ranges::any_of(figure.panels, [](const Panel& panel) { return panel.y.has_tics; });
  const double left_in = has_labels ? left_of_labels_in(figure, options) : options.scaled(left_of_rows_in);
  const double all_in = options.width_in - left_in - options.scaled(right_in);
  const double gap_in = options.scaled(panel_gap_in);
  const std::size_t columns = figure.is_side_by_side ? figure.panels.size() : figure.columns;
  const auto across = static_cast<double>(columns);
  const double first_left_in = left_in;
  const double top_in = options.scaled(page_top_in) +
                        options.line_in() * static_cast<double>(page_title(options).size()) +
                        (options.title.empty() ? 0.0 : options.scaled(title_gap_in));
  Box next{.left_in = left_in, .top_in = top_in, .width_in = (all_in - (across - 1.0) * gap_in) / across};
  layout.slanted_in = slanted_labels_in(figure.panels.back().x, next.width_in, options);
  for (std::size_t i = 0; i < figure.panels.size(); ++i) {
    const Panel& panel = figure.panels[i];
    Box box = next;
    std::vector<std::string> title;
    if (!panel.title.empty()) {
      title = wrapped(panel.title, options.text_pt, box.width_in, title_lines_max);
      box.top_in += options.scaled(title_gap_in) + options.line_in() * static_cast<double>(title_lines_of_row(
                                                                           figure, i, box.width_in, options));
    } else if (panel.y.has_tics) {
      box.top_in += options.scaled(untitled_top_in);
    }
    // Rows stand as close as their text allows; other panels grow with the page.
    box.height_in = panel.y.has_tics ? options.panel_height_in(panel.height_in) : panel.height_in;
    layout.bottom_in = std::max(layout.bottom_in, box.bottom_in());
    const bool is_last_across = (i + 1) % columns == 0;
    const bool is_last_row = i / columns == (figure.panels.size() - 1) / columns;
    if (is_last_across) {
      next.left_in = first_left_in;
      next.top_in = box.bottom_in() + gap_in;
    } else {
      next.left_in += box.width_in + gap_in;
    }
    layout.panels.push_back(
        {.panel = panel,
         .title = std::move(title),
         .box = box,
         .has_x_labels = is_last_row || (i + columns >= figure.panels.size() && layout.slanted_in == 0.0),
         .has_y_labels = figure.is_side_by_side || i % columns == 0});
  }
  layout.bottom_in += layout.slanted_in;
  return layout;
}

// Layers may share a table.
void define_tables(Canvas& canvas, const Figure& figure) {
  std::set<std::string> defined;
  for (const Panel& panel : figure.panels)
    for (const Layer& layer : panel.layers) {
      const Table& table = layer.table;
      if (!defined.insert(table.name).second) continue;
      std::string block =
          fmt::format("${} << END_OF_DATA\n# {}\n", table.name, fmt::join(table.columns, " "));
      for (const auto& cells : table.rows) {
        check(cells.size() == table.columns.size(), "a row has a cell for each column");
        std::vector<std::string> texts;
        for (const auto& cell : cells) texts.push_back(cell ? fmt::format("{:.9g}", *cell) : "?");
        block += fmt::format("{}\n", fmt::join(texts, " "));
      }
      canvas.define(block + "END_OF_DATA");
    }
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
constexpr std::array<Drawing, 14> drawings{{
    {Shape::line, "{0}:{1}", "lines {stroke}", 1.6},
    {Shape::steps, "{0}:{1}", "steps {stroke}", 1.6},
    {Shape::points, "{0}:{1}", "points {marker}"},
    {Shape::marks, "{0}:{1}", "points {marker} pointsize 0.75", 1.3},
    {Shape::band, "{0}:{1}:{2}", "filledcurves {fill} noborder", 1.0, 0.16},
    {Shape::error_bars, "{0}:{1}:{2}:{3}", "yerrorbars {marker}", 0.8},
    {Shape::upright, "{0}:{1}:(0):(${2}-${1})", "vectors nohead {stroke}", 0.8},
    {Shape::cells, "{0}:{1}:(${0}-0.5):(${0}+0.5):(${1}-0.5):(${1}+0.5):{2}",
     "boxxyerror fillcolor rgb variable fillstyle solid 1.0 border linecolor rgb \"#FFFFFF\""},
    {Shape::columns, "{0}:{1}:({w})", "boxes {fill} border rgb \"{colour}\"", 1.0, 0.55},
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
  const std::string line =
      fmt::format("linewidth {} linecolor {}", layer.line_width.value_or(drawing.line_width), colour);
  const std::string fill = fmt::format("fillcolor {} fillstyle transparent solid {}", colour,
                                       layer.opacity.value_or(drawing.opacity));
  return fmt::format("${}{} using {} with {}", layer.table.name,
                     layer.row ? fmt::format(" every ::{0}::{0}", *layer.row) : "",
                     fmt::format(fmt::runtime(drawing.columns), number[0], number[1], number[2], number[3],
                                 fmt::arg("t", layer.thickness / 2.0),
                                 fmt::arg("w", layer.thickness > 0.0 ? layer.thickness : column_width)),
                     fmt::format(fmt::runtime(drawing.style), fmt::arg("colour", layer.ink.colour),
                                 fmt::arg("stroke", fmt::format("{} dashtype {}", line, layer.ink.dash)),
                                 fmt::arg("marker", fmt::format("{} pointtype {}", line, layer.ink.marker)),
                                 fmt::arg("fill", fill)));
}

// gnuplot takes the label of a tic for a format, in which a percent sign stands twice.
std::string tic_label(const Canvas& canvas, const std::string& label) {
  constexpr std::string_view percent = "\\045";
  std::string quoted = canvas.quoted(label);
  for (std::size_t at = quoted.find(percent); at != quoted.npos;
       at = quoted.find(percent, at + 2 * percent.size()))
    quoted.insert(at, percent);
  return quoted;
}

// Numbers along an axis of this width that do not touch each other.
double fitting_step(double from, double to, double width_in, const PageOptions& options) {
  constexpr int most = 8;
  constexpr double with_gap = 1.5;
  double step = to - from;
  for (int tics = most; tics > 1; --tics) {
    step = tic_step(to - from, tics);
    double widest_in = 0.0;
    for (const double outermost : {std::ceil(from / step) * step, std::floor(to / step) * step})
      widest_in = std::max(widest_in,
                           text_width_in(fmt::format("{:.6g}", outermost), options.points(TextSize::small)));
    if ((to - from) / step * with_gap * widest_in <= width_in) break;
  }
  return step;
}

void draw_axis(Canvas& canvas, const Axis& axis, char name, bool has_numbers, bool slants_labels) {
  const auto end = [](const std::optional<double>& value) {
    return value ? fmt::format("{:.9g}", *value) : "*";
  };
  if (axis.log_base > 0) {
    canvas.draw("set logscale {} {}", name, axis.log_base);
  } else {
    canvas.draw("unset logscale {}", name);
  }
  // After the scale: gnuplot would cut a range at 0 while the panel above is logarithmic.
  canvas.draw("set {}range [{}:{}]", name, end(axis.from), end(axis.to));
  canvas.draw("set format {} \"{}\"", name, !has_numbers ? "" : axis.log_base > 0 ? "%g" : "% h");
  std::vector<std::string> labels;
  for (const Tic& tic : axis.tics)
    labels.push_back(fmt::format("{} {}", has_numbers ? tic_label(canvas, tic.label) : "\"\"", tic.at));
  if (!axis.has_tics) {
    canvas.draw("unset {}tics", name);
  } else if (!labels.empty()) {
    canvas.draw("set {}tics ({}){}", name, fmt::join(labels, ", "),
                slants_labels ? " rotate by 30 right" : "");
  } else {
    canvas.draw("set {}tics {}", name, axis.step ? fmt::format("{:.9g}", *axis.step) : "autofreq");
  }
}

void draw_panel(Canvas& canvas, const Figure& figure, const PlacedPanel& placed, bool slants_labels) {
  const Panel& panel = placed.panel;
  canvas.frame(placed.box);
  // A long name of a row may reach into the panel beside.
  canvas.draw("set border {} linewidth 0.6", figure.is_side_by_side ? 1 : 3);
  Axis x = panel.x;
  if (x.log_base == 0 && !x.step && x.tics.empty() && x.from && x.to && *x.from < *x.to)
    x.step = fitting_step(*x.from, *x.to, placed.box.width_in, canvas.options());
  draw_axis(canvas, x, 'x', placed.has_x_labels, slants_labels);
  draw_axis(canvas, panel.y, 'y', placed.has_y_labels, false);
  canvas.draw("{}", panel.y.has_tics
                        ? "set grid ytics linetype 1 dashtype solid linewidth 0.4 linecolor rgb \"#E4E4E4\""
                        : "unset grid");
  for (const double rule : panel.rules)
    canvas.draw(
        "set arrow from graph 0, first {0} to graph 1, first {0} nohead back linewidth 0.8 linecolor rgb "
        "\"{1}\"",
        rule, note_colour);
  for (const PanelText& text : panel.texts)
    canvas.draw("set label {} at graph {}, first {:.6g} {}{}", canvas.quoted(text.content, text.style.size),
                text.across, text.y, canvas.label_style(text.style), text.is_above ? " offset 0,0.42" : "");
  for (std::size_t i = 0; i < panel.layers.size(); ++i)
    canvas.draw("{}{}{}", i == 0 ? "plot " : "     ", layer_text(panel.layers[i]),
                i + 1 == panel.layers.size() ? "" : ", \\");
}

void place_titles(Canvas& canvas, const Layout& layout) {
  const PageOptions& options = canvas.options();
  double title_in = options.scaled(page_top_in) + options.line_in() / 2.0;
  for (const std::string& line : page_title(options)) {
    canvas.text(line, options.width_in / 2.0, title_in, {.align = Align::center});
    title_in += options.line_in();
  }
  for (const auto& [panel, title, box, has_x_labels, has_y_labels] : layout.panels) {
    double y_in = box.top_in - options.scaled(title_gap_in) -
                  options.line_in() * (static_cast<double>(title.size()) - 0.5);
    for (const std::string& line : title) {
      canvas.text(line, box.left_in, y_in);
      y_in += options.line_in();
    }
    if (has_x_labels)
      canvas.text(panel.x.title, box.center_in(),
                  box.bottom_in() + layout.slanted_in + options.scaled(tic_labels_in),
                  {.align = Align::center});
  }
  // Panels of one quantity share its title.
  for (auto first = layout.panels.begin(); first != layout.panels.end();) {
    const std::string& title = first->panel.y.title;
    const auto next = std::find_if(first, layout.panels.end(),
                                   [&](const PlacedPanel& placed) { return placed.panel.y.title != title; });
    if (!title.empty())
      canvas.text(title, options.scaled(upright_title_in),
                  (first->box.top_in + std::prev(next)->box.bottom_in()) / 2.0,
                  {.align = Align::center, .upright = true});
    first = next;
  }
}

}  // namespace

std::string gnuplot_script(const Figure& figure, std::string_view given_command, const PageOptions& page) {
  const std::string command = page.is_anonymous ? "" : without_absolute_paths(given_command);
  check(!figure.panels.empty(), "a figure has a panel");
  const Layout layout = lay_out(figure, page);
  const Footer footer(figure, command, page);
  const double footer_top_in = layout.bottom_in + page.scaled(axis_below_in);
  Canvas canvas(page, footer_top_in + footer.height_in());
  define_tables(canvas, figure);
  place_titles(canvas, layout);
  footer.place(canvas, footer_top_in);
  const bool has_several = layout.panels.size() > 1;
  if (has_several) canvas.draw("set multiplot");
  for (const PlacedPanel& placed : layout.panels) {
    draw_panel(canvas, figure, placed, layout.slanted_in > 0.0);
    // What stands on the page or in this panel is not drawn again with the next.
    if (&placed != &layout.panels.back()) canvas.draw("unset label; unset arrow; unset object");
  }
  if (has_several) canvas.draw("unset multiplot");
  return canvas.script(figure.name, command);
}

}  // namespace paceline::plots
