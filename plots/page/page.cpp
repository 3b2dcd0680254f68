#include "plots/page/page.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "plots/page/text.hpp"
#include "sim/base/check.hpp"

namespace paceline::plots {
namespace {

constexpr double dots_per_inch = 300.0;
constexpr double points_per_inch = 72.0;
constexpr double cairo_point = 0.75;  // gnuplot's cairo devices take a point as 1/96 in
constexpr double cairo_line = 0.55;   // what its PDF device takes as line width 1, in points
constexpr double marker_size = 0.4;
constexpr double cairo_marker = 0.75;  // its PNG markers are larger than its PDF markers by this factor
constexpr auto font = "Liberation Sans";
constexpr double line_in = 0.135;  // from one line of text_pt to the next
constexpr double sample_in = 0.30;
constexpr double sample_gap_in = 0.06;
constexpr double column_gap_in = 0.12;
constexpr double note_line_in = 0.11;
constexpr double command_pt = 4.5;
constexpr double command_line_in = 0.075;
constexpr double usable_in = page_width_in - 2.0 * page_margin_in;

const char* keyword(Align align) {
  return align == Align::left ? "left" : align == Align::center ? "center" : "right";
}

}  // namespace

SeriesStyle series_style(std::size_t index) {
  constexpr std::array<const char*, 8> colours{"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                               "#E69F00", "#56B4E9", "#000000", "#808080"};
  constexpr std::array<const char*, 8> dashes{"solid",  "(12,4)", "(4,3)",         "(12,3,2,3)",
                                              "(18,4)", "(2,2)",  "(9,3,2,3,2,3)", "(18,3,5,3)"};
  constexpr std::array<int, 8> markers{7, 5, 9, 13, 11, 6, 4, 8};
  // Beyond eight series the same colour returns with another dash and marker.
  const std::size_t round = index / colours.size();
  return {colours[index % 8], dashes[(index + round) % 8], markers[(index + round) % 8]};
}

std::string Page::at(double x_in, double from_top_in) const {
  return fmt::format("{:.5f},{:.5f}", x_in / page_width_in, 1.0 - from_top_in / height_in_);
}

void Page::set(std::string_view line) {
  settings_ += fmt::format("{}\n", line);
}

void Page::draw(std::string_view line) {
  drawing_ += fmt::format("  {}\n", line);
}

void Page::text(std::string_view content, double x_in, double from_top_in, const TextStyle& style) {
  draw(fmt::format("set label {} at screen {} {}{} font \",{}\" textcolor rgb \"{}\" front",
                   gnuplot_string(content), at(x_in, from_top_in), keyword(style.align),
                   style.upright ? " rotate by 90" : "", style.size_pt, style.colour));
}

void Page::frame(double left_in, double top_in, double width_in, double height_in) {
  draw(fmt::format("set lmargin at screen {:.5f}", left_in / page_width_in));
  draw(fmt::format("set rmargin at screen {:.5f}", (left_in + width_in) / page_width_in));
  draw(fmt::format("set tmargin at screen {:.5f}", 1.0 - top_in / height_in_));
  draw(fmt::format("set bmargin at screen {:.5f}", 1.0 - (top_in + height_in) / height_in_));
}

std::string Page::script(std::string_view name, std::string_view command) const {
  constexpr double scale = dots_per_inch / points_per_inch;
  std::string text = fmt::format(
      "# {0}.pdf and {0}.png; draw them again with: gnuplot {0}.gp\n"
      "# made by: {1}\n"
      "set encoding utf8\n"
      "set border 3 linewidth 0.6\n"
      "set tics nomirror out scale 0.5 font \",{2}\"\n"
      "set xtics offset -0.2,0.35\n"
      "unset key\n",
      name, gnuplot_string(command), tick_pt);
  text += settings_;
  text += fmt::format(
      "do for [device in \"pdf png\"] {{\n"
      "  if (device eq \"pdf\") {{\n"
      "    set terminal pdfcairo noenhanced size {}in,{:.4f}in font \"{},{}\" fontscale {}\n"
      "  }} else {{\n",
      page_width_in, height_in_, font, text_pt, cairo_point);
  text += fmt::format(
      "    set terminal pngcairo noenhanced size {:.0f},{:.0f} font \"{},{}\" fontscale {} linewidth {:.5f} "
      "pointscale {:.5f}\n"
      "  }}\n"
      "  set output \"{}.\".device\n"
      "  set pointsize {}\n"
      "  unset label; unset arrow; unset object\n",
      page_width_in * dots_per_inch, height_in_ * dots_per_inch, font, text_pt, cairo_point * scale,
      cairo_line * scale, cairo_marker * scale, name, marker_size);
  return text + drawing_ + "  unset output\n}\n";
}

double tic_step(double span, int tics_max) {
  check(span > 0.0 && tics_max > 0, "an axis has a length, and tics");
  const double exact = span / static_cast<double>(tics_max);
  const double power = std::pow(10.0, std::floor(std::log10(exact)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= exact) return factor * power;
  return 10.0 * power;
}

Legend::Legend(const std::vector<std::string>& names, Sample sample) : sample_(sample) {
  if (names.empty()) return;
  double widest_in = 0.0;
  for (const std::string& name : names) widest_in = std::max(widest_in, text_width_in(name, text_pt));
  const double around_text_in = sample_in + sample_gap_in + column_gap_in;
  const auto fitting = static_cast<std::size_t>((usable_in + column_gap_in) / (widest_in + around_text_in));
  columns_ = std::clamp<std::size_t>(fitting, 1, std::min<std::size_t>(4, names.size()));
  // A single entry left over for the last row looks torn.
  if (names.size() == 4 && columns_ == 3) columns_ = 2;
  for (const std::string& name : names)
    names_.push_back(wrapped(name, text_pt, usable_in - sample_in - sample_gap_in, 3));
}

double Legend::height_in() const {
  if (columns_ > 1) return line_in * static_cast<double>((names_.size() + columns_ - 1) / columns_);
  double height = 0.0;
  for (const auto& lines : names_) height += line_in * static_cast<double>(lines.size());
  return height;
}

void Legend::place(Page& page, double top_in) const {
  const std::size_t rows = (names_.size() + columns_ - 1) / columns_;
  const double column_in = (usable_in + column_gap_in) / static_cast<double>(columns_);
  double y_in = top_in + line_in / 2.0;
  for (std::size_t i = 0; i < names_.size(); ++i) {
    if (i % rows == 0) y_in = top_in + line_in / 2.0;
    const double x_in = page_margin_in + column_in * static_cast<double>(i / rows);
    place_sample(page, i, x_in, y_in);
    for (const std::string& line : names_[i]) {
      page.text(line, x_in + sample_in + sample_gap_in, y_in, {});
      y_in += line_in;
    }
  }
}

void Legend::place_sample(Page& page, std::size_t index, double x_in, double y_in) const {
  const SeriesStyle style = series_style(index);
  if (sample_ == Sample::line_marker_band) {
    page.draw(fmt::format(
        "set object rectangle from screen {} to screen {} fillcolor rgb \"{}\" fillstyle transparent solid "
        "0.18 noborder behind",
        page.at(x_in, y_in + 0.045), page.at(x_in + sample_in, y_in - 0.045), style.colour));
  }
  if (sample_ != Sample::line) {
    page.draw(fmt::format("set label \"\" at screen {} point pointtype {} linecolor rgb \"{}\" front",
                          page.at(x_in + sample_in / 2.0, y_in), style.marker, style.colour));
  }
  if (sample_ == Sample::marker) return;
  page.draw(fmt::format(
      "set arrow from screen {} to screen {} nohead linewidth 1.6 linecolor rgb \"{}\" dashtype {} front",
      page.at(x_in, y_in), page.at(x_in + sample_in, y_in), style.colour, style.dash));
}

Footer::Footer(std::string_view note, std::string_view command)
    : note_(wrapped(note, note_pt, usable_in, 3)), command_(wrapped(command, command_pt, usable_in, 2)) {}

double Footer::height_in() const {
  return note_line_in * static_cast<double>(note_.size()) + 0.03 +
         command_line_in * static_cast<double>(command_.size()) + page_margin_in / 2.0;
}

void Footer::place(Page& page, double top_in) const {
  double y_in = top_in + note_line_in / 2.0;
  for (const std::string& line : note_) {
    page.text(line, page_margin_in, y_in, {.size_pt = note_pt, .colour = note_colour});
    y_in += note_line_in;
  }
  y_in += 0.03 + (command_line_in - note_line_in) / 2.0;
  for (const std::string& line : command_) {
    page.text(line, page_margin_in, y_in, {.size_pt = command_pt, .colour = "#909090"});
    y_in += command_line_in;
  }
}

}  // namespace paceline::plots
