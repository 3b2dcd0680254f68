#include "plots/page/canvas.hpp"

#include "plots/page/text.hpp"
#include "sim/base/markup.hpp"

namespace paceline::plots {

std::string Canvas::at(double x_in, double from_top_in) const {
  return fmt::format("{:.5f},{:.5f}", x_in / options_.width_in, 1.0 - from_top_in / height_in_);
}

std::string Canvas::quoted(std::string_view text, TextSize size) const {
  if (!options_.draws(Format::tex)) return gnuplot_string(text);
  std::string tex = tex_text(printable(text));
  if (size != TextSize::normal) {
    const double points = options_.points(size);
    tex = fmt::format("\\relax{{\\fontsize{{{}}}{{{}}}\\selectfont {}}}", points, 1.2 * points, tex);
  }
  return tex == text ? gnuplot_string(text)
                     : fmt::format("either({}, {})", gnuplot_string(text), gnuplot_string(tex));
}

std::string Canvas::label_style(const TextStyle& style) const {
  constexpr std::array keywords{"left", "center", "right"};
  return fmt::format("{}{} font \",{}\" textcolor rgb \"{}\" front",
                     keywords.at(static_cast<std::size_t>(style.align)), style.upright ? " rotate by 90" : "",
                     options_.points(style.size), style.colour);
}

void Canvas::text(std::string_view content, double x_in, double from_top_in, const TextStyle& style) {
  draw("set label {} at screen {} {}", quoted(content, style.size), at(x_in, from_top_in),
       label_style(style));
}

void Canvas::frame(const Box& box) {
  draw("set lmargin at screen {:.5f}", box.left_in / options_.width_in);
  draw("set rmargin at screen {:.5f}", (box.left_in + box.width_in) / options_.width_in);
  draw("set tmargin at screen {:.5f}", 1.0 - box.top_in / height_in_);
  draw("set bmargin at screen {:.5f}", 1.0 - box.bottom_in() / height_in_);
}

std::string Canvas::script(std::string_view name, std::string_view command) const {
  constexpr double marker_size = 0.4;
  std::string devices;
  std::string terminals;
  for (const Format format : options_.formats) {
    const std::string_view device = word_of(format);
    devices += fmt::format("{}{}", devices.empty() ? "" : " ", device);
    terminals += fmt::format("  if (device eq \"{}\") {{ set terminal {}; set output \"{}{}\" }}\n", device,
                             terminal_of(format, options_, height_in_), name, ending_of(format));
  }
  const std::string words =
      options_.draws(Format::tex) ? "either(plain, tex) = device eq \"tex\" ? tex : plain\n" : "";
  const std::string made_by = command.empty() ? "" : fmt::format("# made by: {}\n", gnuplot_string(command));
  return fmt::format(
      "# Draw {0} again, as {6}: gnuplot {0}.gp\n"
      "{1}"
      "set encoding utf8\n"
      "set datafile missing \"?\"\n"
      "set tics nomirror out scale 0.5 font \",{2}\"\n"
      "set xtics offset -0.2,0.35\n"
      "set pointsize {3}\n"
      "set boxwidth 0.7\n"
      "unset key\n"
      "{8}"
      "{4}"
      "do for [device in \"{6}\"] {{\n"
      "{7}"
      "  unset label; unset arrow; unset object\n"
      "{5}"
      "  unset output\n"
      "}}\n",
      name, made_by, options_.points(TextSize::small), marker_size, data_, drawing_, devices, terminals,
      words);
}

}  // namespace paceline::plots
