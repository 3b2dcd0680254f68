// The plot command: results folders in, figures out, by gnuplot 5.4 or newer.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "plots/page/page.hpp"

namespace paceline::plots {

// Messages for people at a terminal.
void print_to_stderr(std::string_view message);

struct PlotRequest {
  std::vector<std::filesystem::path> folders;  // results or study folders (all variants), or one profile
  std::filesystem::path output;                // a folder, created when it does not exist
  bool force = false;                          // replace figures that exist
  std::string command = {};                    // the line that asked for them; printed in each figure
  // Told about figures that have nothing to show.
  std::function<void(std::string_view)> tell = print_to_stderr;
  std::vector<std::string> only = {};   // names of figures; empty: all. `study`: what a study's file asks for
  std::string missing = {};             // of the results, as every figure says it; empty: nothing
  std::filesystem::path recorded = {};  // CSV of recorded outcomes (figures/figures.hpp); empty: none
  PageOptions page = {};
};

// Writes every figure that has something to show, as NAME.gp, in each format, and NAME.txt with its caption,
// and returns the paths.
// With `force`, an older figure that has nothing to show any more is removed.
// Throws UserError, and writes nothing, for broken results, existing files without `force`, or when gnuplot
// is missing or fails.
std::vector<std::filesystem::path> draw_figures(const PlotRequest& request);

// The same figures as SVG, for a page: nothing is left behind. Empty when there is nothing to draw.
struct SvgFigure {
  std::string name;
  std::string caption;
  std::string svg;
};
[[nodiscard]] std::vector<SvgFigure> figures_as_svg(PlotRequest request);

}  // namespace paceline::plots
