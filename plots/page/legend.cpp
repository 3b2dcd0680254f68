#include "plots/page/legend.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "plots/page/text.hpp"

namespace paceline::plots {
namespace {

constexpr std::size_t columns_max = 4;
// At 8 points.
constexpr double sample_gap_in = 0.06;
constexpr double column_gap_in = 0.12;
constexpr double note_line_in = 0.11;
constexpr double command_line_in = 0.075;
constexpr double footer_gap_in = 0.03;
constexpr auto command_colour = "#909090";

}  // namespace

Legend::Legend(const Figure& figure, const PageOptions& options) : options_(options), sample_(figure.sample) {
  if (figure.legend.empty()) return;
  double widest_in = 0.0;
  for (const LegendEntry& entry : figure.legend)
    widest_in = std::max(widest_in, text_width_in(entry.name, options.text_pt));
  const double before_text_in = sample_in() + options.scaled(sample_gap_in);
  const double gap_in = options.scaled(column_gap_in);
  const auto fitting =
      static_cast<std::size_t>((options.usable_in() + gap_in) / (widest_in + before_text_in + gap_in));
  columns_ = std::clamp<std::size_t>(fitting, 1, std::min(columns_max, figure.legend.size()));
  // A single entry left over for the last row looks torn.
  if (figure.legend.size() == 4 && columns_ == 3) columns_ = 2;
  for (const LegendEntry& entry : figure.legend)
    entries_.push_back(
        {wrapped(entry.name, options.text_pt, options.usable_in() - before_text_in, 3), entry.ink});
}

double Legend::sample_in() const {
  return options_.scaled(sample_ == Sample::box ? 0.12 : 0.30);
}

double Legend::height_in() const {
  std::size_t lines = 0;
  for (const Entry& entry : entries_) lines += entry.lines.size();
  if (columns_ > 1) lines = (entries_.size() + columns_ - 1) / columns_;
  return options_.line_in() * static_cast<double>(lines);
}

void Legend::place(Page& page, double top_in) const {
  const double line_in = options_.line_in();
  const std::size_t rows = (entries_.size() + columns_ - 1) / columns_;
  const double column_in =
      (options_.usable_in() + options_.scaled(column_gap_in)) / static_cast<double>(columns_);
  double y_in = 0.0;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (i % rows == 0) y_in = top_in + line_in / 2.0;
    const double x_in = options_.margin_in() + column_in * static_cast<double>(i / rows);
    place_sample(page, entries_[i].ink, x_in, y_in);
    for (const std::string& line : entries_[i].lines) {
      page.text(line, x_in + sample_in() + options_.scaled(sample_gap_in), y_in);
      y_in += line_in;
    }
  }
}

void Legend::place_sample(Page& page, const Ink& ink, double x_in, double y_in) const {
  if (sample_ == Sample::box || sample_ == Sample::line_marker_band) {
    const bool is_box = sample_ == Sample::box;
    const double half_in = options_.scaled(is_box ? 0.04 : 0.045);
    page.draw(
        fmt::format("set object rectangle from screen {} to screen {} fillcolor rgb \"{}\" fillstyle {}",
                    page.at(x_in, y_in + half_in), page.at(x_in + sample_in(), y_in - half_in), ink.colour,
                    is_box ? "solid 1.0 border linecolor rgb \"#A0A0A0\" front"
                           : "transparent solid 0.18 noborder behind"));
    if (is_box) return;
  }
  if (sample_ != Sample::line)
    page.draw(fmt::format("set label \"\" at screen {} point pointtype {} linecolor rgb \"{}\" front",
                          page.at(x_in + sample_in() / 2.0, y_in), ink.marker, ink.colour));
  if (sample_ == Sample::marker) return;
  page.draw(fmt::format(
      "set arrow from screen {} to screen {} nohead linewidth 1.6 linecolor rgb \"{}\" dashtype {} front",
      page.at(x_in, y_in), page.at(x_in + sample_in(), y_in), ink.colour, ink.dash));
}

Footer::Footer(std::string_view note, std::string_view command, const PageOptions& options)
    : options_(options),
      note_(wrapped(note, options.points(TextSize::note), options.usable_in(), 3)),
      command_(wrapped(command, options.points(TextSize::tiny), options.usable_in(), 2)) {}

double Footer::height_in() const {
  return options_.scaled(note_line_in * static_cast<double>(note_.size()) + footer_gap_in +
                         command_line_in * static_cast<double>(command_.size())) +
         options_.margin_in() / 2.0;
}

void Footer::place(Page& page, double top_in) const {
  double y_in = top_in;
  const auto place_lines = [&](const std::vector<std::string>& lines, double line_in,
                               const TextStyle& style) {
    for (const std::string& line : lines) {
      page.text(line, options_.margin_in(), y_in + options_.scaled(line_in) / 2.0, style);
      y_in += options_.scaled(line_in);
    }
  };
  place_lines(note_, note_line_in, {.size = TextSize::note, .colour = note_colour});
  y_in += options_.scaled(footer_gap_in);
  place_lines(command_, command_line_in, {.size = TextSize::tiny, .colour = command_colour});
}

}  // namespace paceline::plots
