#include "plots/page/page.hpp"

#include <array>

#include <fmt/format.h>

#include "plots/page/text.hpp"

namespace paceline::plots {
namespace {

constexpr double cairo_point = 0.75;  // gnuplot's cairo devices take a point as 1/96 in
constexpr double marker_size = 0.4;

// gnuplot's word for the device, and what it needs to draw the same as the others.
std::string terminal_of(Format format, const PageOptions& page, double height_in) {
  if (format == Format::pdf)
    return fmt::format("pdfcairo noenhanced size {}in,{:.4f}in font \"{},{}\" fontscale {}", page.width_in,
                       height_in, page.font, page.text_pt, cairo_point);
  constexpr double dots_per_inch = 300.0;
  constexpr double scale = dots_per_inch / 72.0;
  constexpr double line = 0.55;    // what the PDF device takes as line width 1, in points
  constexpr double marker = 0.75;  // PNG markers are larger than PDF markers by this factor
  return fmt::format(
      "pngcairo noenhanced size {:.0f},{:.0f} font \"{},{}\" fontscale {} linewidth {:.5f} pointscale {:.5f}",
      page.width_in * dots_per_inch, height_in * dots_per_inch, page.font, page.text_pt, cairo_point * scale,
      line * scale, marker * scale);
}

const char* keyword(Align align) {
  return align == Align::left ? "left" : align == Align::center ? "center" : "right";
}

}  // namespace

std::string_view extension_of(Format format) {
  return format == Format::pdf ? "pdf" : "png";
}

bool is_in_format(std::string_view content, Format format) {
  return content.starts_with(format == Format::pdf ? "%PDF-" : "\x89PNG\r\n\x1a\n");
}

double PageOptions::points(TextSize size) const {
  constexpr std::array of_eight{8.0, 7.0, 6.5, 4.5};
  return of_eight.at(static_cast<std::size_t>(size)) * text_pt / 8.0;
}

std::string Page::at(double x_in, double from_top_in) const {
  return fmt::format("{:.5f},{:.5f}", x_in / options_.width_in, 1.0 - from_top_in / height_in_);
}

std::string Page::label_style(const TextStyle& style) const {
  return fmt::format("{}{} font \",{}\" textcolor rgb \"{}\" front", keyword(style.align),
                     style.upright ? " rotate by 90" : "", options_.points(style.size), style.colour);
}

void Page::set(std::string_view line) {
  settings_ += fmt::format("{}\n", line);
}

void Page::draw(std::string_view line) {
  drawing_ += fmt::format("  {}\n", line);
}

void Page::text(std::string_view content, double x_in, double from_top_in, const TextStyle& style) {
  draw(fmt::format("set label {} at screen {} {}", gnuplot_string(content), at(x_in, from_top_in),
                   label_style(style)));
}

void Page::frame(const Box& box) {
  draw(fmt::format("set lmargin at screen {:.5f}", box.left_in / options_.width_in));
  draw(fmt::format("set rmargin at screen {:.5f}", (box.left_in + box.width_in) / options_.width_in));
  draw(fmt::format("set tmargin at screen {:.5f}", 1.0 - box.top_in / height_in_));
  draw(fmt::format("set bmargin at screen {:.5f}", 1.0 - box.bottom_in() / height_in_));
}

std::string Page::script(std::string_view name, std::string_view command) const {
  std::string devices;
  std::string terminals;
  for (const Format format : options_.formats) {
    const std::string_view extension = extension_of(format);
    devices += fmt::format("{}{}", devices.empty() ? "" : " ", extension);
    terminals += fmt::format("  if (device eq \"{}\") {{ set terminal {} }}\n", extension,
                             terminal_of(format, options_, height_in_));
  }
  return fmt::format(
      "# Draw {0} again, as {6}: gnuplot {0}.gp\n"
      "# made by: {1}\n"
      "set encoding utf8\n"
      "set datafile missing \"?\"\n"
      "set tics nomirror out scale 0.5 font \",{2}\"\n"
      "set xtics offset -0.2,0.35\n"
      "set pointsize {3}\n"
      "set boxwidth 0.7\n"
      "unset key\n"
      "{4}"
      "do for [device in \"{6}\"] {{\n"
      "{7}"
      "  set output \"{0}.\".device\n"
      "  unset label; unset arrow; unset object\n"
      "{5}"
      "  unset output\n"
      "}}\n",
      name, gnuplot_string(command), options_.points(TextSize::small), marker_size, settings_, drawing_,
      devices, terminals);
}

}  // namespace paceline::plots
