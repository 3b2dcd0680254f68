// A figure as what it shows: panels of layers over axes, a legend and a note. Nothing here knows gnuplot, nor
// where things stand on the page; figure_script.cpp lays a figure out and writes it down.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace paceline::plots {

// What tells a series from another: each of the three is enough by itself for the first eight.
struct Ink {
  std::string colour = "#000000";
  std::string dash = "solid";
  int marker = 7;  // as gnuplot numbers them: 7 a filled circle, 6 a hollow one
};
// Source: palette of Okabe and Ito, "Color universal design", 2008, without yellow (too light for lines).
[[nodiscard]] Ink series_ink(std::size_t index);
// The same colour once more, with another dash and marker.
[[nodiscard]] Ink series_ink(std::size_t index, std::size_t variation);
// The same with a hollow marker: recorded, not simulated. Without a series: a black circle.
[[nodiscard]] Ink hollow(Ink ink = {});
inline constexpr int cross_marker = 2;     // what diverged
inline constexpr int triangle_marker = 8;  // beyond the axis
inline constexpr auto note_colour = "#606060";

// Numbers in the units of the axes. A cell without a value is not drawn.
struct Table {
  std::string name;
  std::vector<std::string> columns;
  std::vector<std::vector<std::optional<double>>> rows = {};
};

// With the columns each is drawn from.
enum class Shape {
  line,        // x, y
  steps,       // x, y: held until the next x
  points,      // x, y
  marks,       // x, y: larger points
  band,        // x, low, high
  error_bars,  // x, y, low, high
  upright,     // x, low, high: a line
  cells,       // x, y, colour (0xRRGGBB): squares of a map, whose axes count from 0
  columns,     // x, y: upright from 0
  bars,        // from, to, y: lying, as thick as the layer says
  segment,     // from, to, y: a lying line
  whisker,     // the same with both ends capped
  cap,         // only the cap at `from`
  arrow,       // the same with an open head at `to`
};

struct Layer {
  Shape shape = Shape::line;
  Table table = {};                       // layers of a figure may share one, known by its name
  std::vector<std::string> columns = {};  // in the order of the shape
  Ink ink = {};
  std::optional<std::size_t> row = {};  // only this one
  double thickness = 0.0;               // of bars, along y
  // Where the shape's own does not do.
  std::optional<double> line_width = {};
  std::optional<double> opacity = {};
};

struct Tic {
  std::string label;
  double at = 0.0;
};

struct Axis {
  std::string title = {};
  std::optional<double> from = {};  // nothing: where the data begin
  std::optional<double> to = {};
  int log_base = 0;                 // 0: linear
  std::optional<double> step = {};  // from one tic to the next
  std::vector<Tic> tics = {};       // these instead of numbers
  bool has_tics = true;
};

// From the lowest to the highest of what it includes.
struct Extent {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  void include(double value);
  [[nodiscard]] bool is_empty() const { return low > high; }
  [[nodiscard]] double length() const { return high - low; }
  // Beyond it by a margin on either side, or, with a logarithmic scale, by a factor.
  [[nodiscard]] Axis axis(const std::string& title, double margin) const;
  [[nodiscard]] Axis log_axis(const std::string& title, int base, double factor) const;
};

enum class TextSize { normal, small };
enum class Align { left, center, right };

struct TextStyle {
  TextSize size = TextSize::normal;
  Align align = Align::left;
  bool upright = false;  // reads from bottom to top
  std::string colour = "#000000";
};

struct PanelText {
  std::string content;
  double across = 0.0;  // 0 to 1, of the panel's width
  double y = 0.0;       // on its axis
  TextStyle style = {};
  bool is_above = false;  // of y, else beside it
};

struct Panel {
  std::string title = {};
  double height_in = 1.85;
  Axis x = {};
  Axis y = {};
  std::vector<double> rules = {};  // lines across at these y
  std::vector<PanelText> texts = {};
  std::vector<Layer> layers = {};
};

enum class Sample { line, marker, line_marker, line_marker_band, box };

struct LegendEntry {
  std::string name;
  Ink ink;
};

struct Figure {
  std::string name = {};  // of its files, without extension
  std::vector<Panel> panels = {};
  bool is_side_by_side = false;  // else one below the other, over the x axis of the last
  // Of a grid of panels with the same axes, whose numbers stand at its left and below.
  std::size_t columns = 1;
  Sample sample = Sample::line;
  std::vector<LegendEntry> legend = {};
  std::string note = {};
};

// From one tic to the next: 1, 2 or 5 times a power of ten, the smallest that leaves at most `tics_max` of
// them beyond the first within `span` > 0.
[[nodiscard]] double tic_step(double span, int tics_max);

// The unit times are read best in: the largest of s, min, h, d in which the longest is at least 5.
struct TimeUnit {
  const char* symbol;
  double seconds;
};
[[nodiscard]] TimeUnit time_unit_for(double longest_s);
// Three significant digits and the unit, e.g. "12.3 s", "1.20 h".
[[nodiscard]] std::string time_text(double time_s, TimeUnit unit);
// From 0 to `end_s`, or to 1 where nothing takes time; the title ends in the unit.
[[nodiscard]] Axis time_axis(const std::string& title, double end_s, TimeUnit unit);

}  // namespace paceline::plots
