#include "plots/page/page.hpp"

#include <cmath>
#include <cstdlib>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "plots/page/text.hpp"
#include "sim/base/atomic_file.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/base/process.hpp"

namespace paceline::plots {
namespace {

struct FormatFacts {
  std::string_view word;
  std::string_view ending;       // of its files, after the name
  std::string_view first_bytes;  // of its files
};
// TeX text stands over lines in a PDF, which needs another name than the figure's own.
constexpr std::array<FormatFacts, 4> format_facts{{{"pdf", ".pdf", "%PDF-"},
                                                   {"svg", ".svg", "<?xml"},
                                                   {"png", ".png", "\x89PNG\r\n\x1a\n"},
                                                   {"tex", "-tex.tex", "% GNUPLOT"}}};
constexpr auto tex_lines_ending = "-tex.pdf";

const FormatFacts& facts_of(Format format) {
  return format_facts.at(static_cast<std::size_t>(format));
}

// What gnuplot and the font library need to find their files. GNUPLOT_* and locales would change figures.
std::vector<std::string> gnuplot_environment() {
  std::vector<std::string> variables{"LC_ALL=C.UTF-8"};
  for (const char* name : {"PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH", "FONTCONFIG_FILE", "FONTCONFIG_PATH",
                           "XDG_CACHE_HOME", "XDG_DATA_HOME"})
    if (const char* value = std::getenv(name)) variables.push_back(fmt::format("{}={}", name, value));
  return variables;
}

}  // namespace

std::optional<Format> format_called(std::string_view word) {
  for (std::size_t i = 0; i < format_facts.size(); ++i)
    if (format_facts.at(i).word == word) return static_cast<Format>(i);
  return std::nullopt;
}

double PageOptions::points(TextSize size) const {
  constexpr double least_pt = 7.0;
  if (size == TextSize::normal) return text_pt;
  return std::min(text_pt, std::max(least_pt, 0.875 * text_pt));
}

double PageOptions::panel_height_in(double in_one_column_in) const {
  constexpr double column_in = 3.33;
  return in_one_column_in * std::sqrt(std::max(width_in, column_in) / column_in);
}

std::string terminal_of(Format format, const PageOptions& page, double height_in) {
  constexpr double cairo_point = 0.75;  // gnuplot's cairo devices take a point as 1/96 in
  constexpr double line = 0.55;         // what the PDF device takes as line width 1, in points
  const auto pixels = [&](double dots_per_inch) {
    return fmt::format("size {:.0f},{:.0f}", page.width_in * dots_per_inch, height_in * dots_per_inch);
  };
  const std::string inches = fmt::format("size {}in,{:.4f}in", page.width_in, height_in);
  switch (format) {
    case Format::pdf:
      return fmt::format("pdfcairo noenhanced {} font \"{},{}\" fontscale {}", inches, page.font,
                         page.text_pt, cairo_point);
    case Format::svg: {
      constexpr double dots_per_inch = 96.0;  // of CSS
      constexpr double scale = dots_per_inch / 72.0;
      return fmt::format(
          "svg noenhanced fixed {} font \"{},{}\" fontscale {:.5f} linewidth {:.5f} background \"#FFFFFF\"",
          pixels(dots_per_inch), page.font, page.text_pt, scale, line * scale);
    }
    case Format::png: {
      constexpr double dots_per_inch = 300.0;
      constexpr double scale = dots_per_inch / 72.0;
      constexpr double marker = 0.75;  // PNG markers are larger than PDF markers by this factor
      return fmt::format(
          "pngcairo noenhanced {} font \"{},{}\" fontscale {} linewidth {:.5f} pointscale {:.5f}",
          pixels(dots_per_inch), page.font, page.text_pt, cairo_point * scale, line * scale, marker * scale);
    }
    case Format::tex: {
      constexpr double as_in_pdf = 2.0;  // lines are half as thick without
      return fmt::format(
          "cairolatex pdf input {} header \"\\\\fontsize{{{}}}{{{}}}\\\\selectfont\" linewidth {} font "
          "\",{}\"",
          inches, page.text_pt, 1.2 * page.text_pt, as_in_pdf, page.text_pt);
    }
  }
  throw std::logic_error("a format has a terminal");
}

std::string_view word_of(Format format) {
  return facts_of(format).word;
}

std::string ending_of(Format format) {
  return std::string(facts_of(format).ending);
}

std::vector<std::string> files_of(const std::string& figure, const PageOptions& page) {
  std::vector<std::string> files;
  for (const Format format : page.formats) {
    files.push_back(figure + ending_of(format));
    if (format == Format::tex) files.push_back(figure + tex_lines_ending);
  }
  files.push_back(figure + ".gp");
  return files;
}

void run_gnuplot(const std::filesystem::path& folder, const std::string& script) {
  const ProcessResult result = run_process({.words = {"gnuplot", "--default-settings", script},
                                            .folder = folder,
                                            .environment = gnuplot_environment(),
                                            .inherits_environment = false});
  if (result.status == status_not_started)
    throw UserError(fmt::format("cannot start gnuplot: {}", result.errors),
                    "install the Debian package gnuplot-nox");
  if (result.status != 0)
    throw UserError(fmt::format("gnuplot failed on {}:\n{}", (folder / script).string(), result.errors),
                    "figures need gnuplot 5.4 or newer with pdfcairo and pngcairo");
}

std::string caption_of(const Figure& figure, std::string_view command, const PageOptions& page) {
  std::string caption = page.title.empty() ? "" : printable(page.title) + "\n";
  std::string before;
  for (const Panel& panel : figure.panels) {
    const std::string over = figure.is_side_by_side ? panel.x.title : figure.panels.back().x.title;
    const std::string what = panel.y.title.empty() ? over : fmt::format("{} over {}", panel.y.title, over);
    if (what != before) caption += printable(what) + "\n";
    before = what;
  }
  std::vector<std::string> names;
  for (const Panel& panel : figure.panels)
    if (!panel.title.empty()) names.push_back(printable(panel.title));
  if (!names.empty()) caption += fmt::format("panels: {}\n", fmt::join(names, "; "));
  names.clear();
  for (const LegendEntry& entry : figure.legend) names.push_back(printable(entry.name));
  if (!names.empty()) caption += fmt::format("series: {}\n", fmt::join(names, "; "));
  if (!figure.note.empty()) caption += printable(figure.note) + "\n";
  if (!command.empty() && !page.is_anonymous)
    caption += fmt::format("made by: {}\n", printable(without_absolute_paths(command)));
  return caption;
}

void draw_figure(const Figure& figure, const std::filesystem::path& folder, std::string_view command,
                 const PageOptions& page) {
  write_file_atomically(folder / (figure.name + ".gp"), gnuplot_script(figure, command, page));
  run_gnuplot(folder, figure.name + ".gp");
  for (const Format format : page.formats) {
    const std::filesystem::path file = folder / (figure.name + ending_of(format));
    // gnuplot can end without an error and without having drawn, e.g. on a full disk.
    if (!std::filesystem::exists(file) || !read_file(file).starts_with(facts_of(format).first_bytes))
      throw UserError(fmt::format("gnuplot did not draw {}", file.filename().string()),
                      "check that the disk has space left");
  }
}

}  // namespace paceline::plots
