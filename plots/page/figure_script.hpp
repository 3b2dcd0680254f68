// Figures laid out on a page and drawn by gnuplot. A script holds its data and text: `gnuplot NAME.gp` draws
// it again, for a last adjustment before print.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "plots/page/figure.hpp"
#include "plots/page/page.hpp"

namespace paceline::plots {

// `command` is printed below the figure.
[[nodiscard]] std::string gnuplot_script(const Figure& figure, std::string_view command,
                                         const PageOptions& options = {});

// Writes NAME.gp and the figure in every format into `folder`, which exists. Throws UserError when gnuplot is
// missing or fails.
void draw_figure(const Figure& figure, const std::filesystem::path& folder, std::string_view command,
                 const PageOptions& options = {});

}  // namespace paceline::plots
