#include "plots/page/page.hpp"

#include <cstdlib>

#include <fmt/format.h>

#include "sim/base/atomic_file.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/base/process.hpp"

namespace paceline::plots {
namespace {

struct FormatFacts {
  std::string_view extension;
  std::string_view first_bytes;  // of its files
};
constexpr std::array<FormatFacts, 2> format_facts{{{"pdf", "%PDF-"}, {"png", "\x89PNG\r\n\x1a\n"}}};

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

std::string_view extension_of(Format format) {
  return facts_of(format).extension;
}

double PageOptions::points(TextSize size) const {
  constexpr std::array of_eight{8.0, 7.0, 6.5, 4.5};
  return of_eight.at(static_cast<std::size_t>(size)) * text_pt / 8.0;
}

std::string terminal_of(Format format, const PageOptions& page, double height_in) {
  constexpr double cairo_point = 0.75;  // gnuplot's cairo devices take a point as 1/96 in
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

void draw_figure(const Figure& figure, const std::filesystem::path& folder, std::string_view command,
                 const PageOptions& page) {
  write_file_atomically(folder / (figure.name + ".gp"), gnuplot_script(figure, command, page));
  run_gnuplot(folder, figure.name + ".gp");
  for (const Format format : page.formats) {
    const std::filesystem::path file = folder / fmt::format("{}.{}", figure.name, extension_of(format));
    // gnuplot can end without an error and without having drawn, e.g. on a full disk.
    if (!std::filesystem::exists(file) || !read_file(file).starts_with(facts_of(format).first_bytes))
      throw UserError(fmt::format("gnuplot did not draw {}", file.filename().string()),
                      "check that the disk has space left");
  }
}

}  // namespace paceline::plots
