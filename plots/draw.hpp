// The plot command: results folders in, figures out.
//
// Models:      nothing; it shows what results folders hold (see results.hpp for what is read).
// Equation:    bands and medians as in curve_band.hpp.
// Units:       files hold seconds; axes show s, min, h or d, whichever keeps the numbers short.
// Assumptions: gnuplot 5.4 or newer on the PATH.
// Not modelled: figures across several studies; each call draws its folders side by side.
// Source:      none.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace paceline::plots {

struct PlotRequest {
  std::vector<std::filesystem::path> folders;  // results or study folders (all variants), or one profile
  std::filesystem::path output;                // a folder, created when it does not exist
  bool force = false;                          // replace figures that exist
  std::string command;                         // the line that asked for them; printed in each figure
  // Told about figures that have nothing to show. Empty: these messages go to stderr.
  std::function<void(std::string_view)> tell;
  std::filesystem::path recorded = {};  // CSV of recorded outcomes (figures.hpp); empty: none
};

// Writes NAME.pdf, NAME.png and NAME.gp for every figure that has something to show and returns the paths.
// With `force`, an older figure that has nothing to show any more is removed.
// Throws UserError, and writes nothing, for broken results, existing files without `force`, or when gnuplot
// is missing or fails.
std::vector<std::filesystem::path> draw_figures(const PlotRequest& request);

}  // namespace paceline::plots
