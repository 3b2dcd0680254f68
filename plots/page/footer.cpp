#include <algorithm>

#include "plots/page/canvas.hpp"
#include "plots/page/text.hpp"

namespace paceline::plots {
namespace {

constexpr std::size_t legend_columns_max = 4;
constexpr std::size_t name_lines_max = 3;
// At 8 points.
constexpr double legend_gap_in = 0.05;
constexpr double sample_gap_in = 0.06;
constexpr double column_gap_in = 0.12;
constexpr double note_line_in = 0.11;
constexpr double command_gap_in = 0.03;
constexpr auto command_colour = "#909090";

}  // namespace

Footer::Footer(const Figure& figure, std::string_view command, const PageOptions& options)
    : options_(options), sample_(figure.sample) {
  if (!figure.legend.empty()) add_legend(figure.legend);
  if (options_.has_footer) {
    add_lines(figure.note, 5, note_colour);
    height_in_ += options_.scaled(command_gap_in);
    add_lines(command, 2, command_colour);
  }
  height_in_ += options_.margin_in() / 2.0;
}

double Footer::sample_in() const {
  return options_.scaled(sample_ == Sample::box ? 0.12 : 0.30);
}

// Down the first column, then the next. A name wraps where there is one column only.
void Footer::add_legend(const std::vector<LegendEntry>& legend) {
  double widest_in = 0.0;
  for (const LegendEntry& entry : legend)
    widest_in = std::max(widest_in, text_width_in(entry.name, options_.text_pt));
  const double before_text_in = sample_in() + options_.scaled(sample_gap_in);
  const double gap_in = options_.scaled(column_gap_in);
  const auto fitting =
      static_cast<std::size_t>((options_.usable_in() + gap_in) / (widest_in + before_text_in + gap_in));
  std::size_t columns = std::clamp<std::size_t>(fitting, 1, std::min(legend_columns_max, legend.size()));
  // A single entry left over for the last row looks torn.
  if (legend.size() == 4 && columns == 3) columns = 2;
  const std::size_t rows = (legend.size() + columns - 1) / columns;
  const double column_in = (options_.usable_in() + gap_in) / static_cast<double>(columns);
  double y_in = 0.0;
  for (std::size_t i = 0; i < legend.size(); ++i) {
    if (i % rows == 0) y_in = options_.line_in() / 2.0;
    const double x_in = options_.margin_in() + column_in * static_cast<double>(i / rows);
    Item& sample = items_.emplace_back();
    sample.x_in = x_in;
    sample.y_in = y_in;
    sample.sample = legend[i].ink;
    for (const std::string& line :
         wrapped(legend[i].name, options_.text_pt, options_.usable_in() - before_text_in, name_lines_max)) {
      items_.push_back({x_in + before_text_in, y_in, line});
      y_in += options_.line_in();
    }
    height_in_ = std::max(height_in_, y_in - options_.line_in() / 2.0);
  }
  height_in_ += options_.scaled(legend_gap_in);
}

void Footer::add_lines(std::string_view text, std::size_t lines_max, const char* colour) {
  if (text.empty()) return;
  const TextStyle style{.size = TextSize::small, .colour = colour};
  for (const std::string& line :
       wrapped(text, options_.points(style.size), options_.usable_in(), lines_max)) {
    items_.push_back({options_.margin_in(), height_in_ + options_.scaled(note_line_in) / 2.0, line, style});
    height_in_ += options_.scaled(note_line_in);
  }
}

void Footer::place(Canvas& canvas, double top_in) const {
  for (const Item& item : items_) {
    if (item.sample) {
      place_sample(canvas, *item.sample, item.x_in, top_in + item.y_in);
    } else {
      canvas.text(item.text, item.x_in, top_in + item.y_in, item.style);
    }
  }
}

void Footer::place_sample(Canvas& canvas, const Ink& ink, double x_in, double y_in) const {
  const double end_in = x_in + sample_in();
  if (sample_ == Sample::box || sample_ == Sample::line_marker_band) {
    const bool is_box = sample_ == Sample::box;
    const double half_in = options_.scaled(is_box ? 0.04 : 0.045);
    canvas.draw("set object rectangle from screen {} to screen {} fillcolor rgb \"{}\" fillstyle {}",
                canvas.at(x_in, y_in + half_in), canvas.at(end_in, y_in - half_in), ink.colour,
                is_box ? "solid 1.0 border linecolor rgb \"#A0A0A0\" front"
                       : "transparent solid 0.18 noborder behind");
    if (is_box) return;
  }
  if (sample_ != Sample::line)
    canvas.draw("set label \"\" at screen {} point pointtype {} linecolor rgb \"{}\" front",
                canvas.at((x_in + end_in) / 2.0, y_in), ink.marker, ink.colour);
  if (sample_ == Sample::marker) return;
  canvas.draw(
      "set arrow from screen {} to screen {} nohead linewidth 1.6 linecolor rgb \"{}\" dashtype {} front",
      canvas.at(x_in, y_in), canvas.at(end_in, y_in), ink.colour, ink.dash);
}

}  // namespace paceline::plots
