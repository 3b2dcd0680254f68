// The page a figure stands on: size, font and formats, whatever it shows, and the terminals gnuplot draws
// them with. Lengths in inches.
#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "plots/page/figure.hpp"

namespace paceline::plots {

enum class Format { pdf, png };
[[nodiscard]] std::string_view extension_of(Format format);

// One column of a paper, unless told otherwise.
struct PageOptions {
  double width_in = 3.33;
  double text_pt = 8.0;
  std::string font = "Liberation Sans";  // text.hpp knows its widths
  std::vector<Format> formats = {Format::pdf, Format::png};

  [[nodiscard]] double points(TextSize size) const;
  // A length that grows with the text, given for text of 8 points.
  [[nodiscard]] double scaled(double length_in) const { return length_in * text_pt / 8.0; }
  [[nodiscard]] double line_in() const { return scaled(0.135); }  // from a line of normal text to the next
  [[nodiscard]] double margin_in() const { return scaled(0.06); }
  [[nodiscard]] double usable_in() const { return width_in - 2.0 * margin_in(); }
};

// gnuplot's word for the device, and what it needs to draw the same as the others.
[[nodiscard]] std::string terminal_of(Format format, const PageOptions& page, double height_in);

// The whole script: `gnuplot NAME.gp` draws the figure again. `command` is printed below it.
[[nodiscard]] std::string gnuplot_script(const Figure& figure, std::string_view command,
                                         const PageOptions& page = {});

// `gnuplot script` inside `folder`; start-up files of the user are not read, so that figures are equal
// everywhere. Throws UserError with what gnuplot printed when it is missing or fails.
void run_gnuplot(const std::filesystem::path& folder, const std::string& script);

// Writes NAME.gp and the figure in every format into `folder`, which exists. Throws as run_gnuplot does.
void draw_figure(const Figure& figure, const std::filesystem::path& folder, std::string_view command,
                 const PageOptions& page = {});

}  // namespace paceline::plots
