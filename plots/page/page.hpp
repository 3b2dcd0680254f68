// The page a figure stands on: size, font and formats, whatever it shows, and the terminals gnuplot draws
// them with. Lengths in inches.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plots/page/figure.hpp"

namespace paceline::plots {

enum class Format { pdf, svg, png, tex };
// As people name it; nothing for another word.
[[nodiscard]] std::optional<Format> format_called(std::string_view word);

// One column of a paper, unless told otherwise.
struct PageOptions {
  double width_in = 3.33;
  double text_pt = 8.0;
  std::string font = "Liberation Sans";  // text.hpp knows its widths
  std::vector<Format> formats = {Format::pdf, Format::png};
  std::string title = {};     // above the figure; empty: none
  bool has_footer = true;     // the note and the command, below the legend
  bool is_anonymous = false;  // neither the command nor the machine is named, in no file

  [[nodiscard]] bool draws(Format format) const { return std::ranges::count(formats, format) > 0; }
  // None is below 7 points, unless the text itself is.
  [[nodiscard]] double points(TextSize size) const;
  // A wide page has higher panels, though less so than it is wide.
  [[nodiscard]] double panel_height_in(double in_one_column_in) const;
  // A length that grows with the text, given for text of 8 points.
  [[nodiscard]] double scaled(double length_in) const { return length_in * text_pt / 8.0; }
  [[nodiscard]] double line_in() const { return scaled(0.135); }  // from a line of normal text to the next
  [[nodiscard]] double margin_in() const { return scaled(0.06); }
  [[nodiscard]] double usable_in() const { return width_in - 2.0 * margin_in(); }
};

// Of the files in that format, after the figure's name.
[[nodiscard]] std::string ending_of(Format format);
[[nodiscard]] std::string_view word_of(Format format);

// gnuplot's word for the device, and what it needs to draw the same as the others.
[[nodiscard]] std::string terminal_of(Format format, const PageOptions& page, double height_in);

// The files of a figure: in each format (TeX text stands over a PDF of its own), and the script.
[[nodiscard]] std::vector<std::string> files_of(const std::string& figure, const PageOptions& page);

// The whole script: `gnuplot NAME.gp` draws the figure again. `command` is printed below it.
[[nodiscard]] std::string gnuplot_script(const Figure& figure, std::string_view command,
                                         const PageOptions& page = {});

// `gnuplot script` inside `folder`; start-up files of the user are not read, so that figures are equal
// everywhere. Throws UserError with what gnuplot printed when it is missing or fails.
void run_gnuplot(const std::filesystem::path& folder, const std::string& script);

// What a paper says below a figure: what it shows, its series, its note; and the command that made it.
[[nodiscard]] std::string caption_of(const Figure& figure, std::string_view command,
                                     const PageOptions& page = {});

// Writes NAME.gp and the figure in every format into `folder`, which exists. Throws as run_gnuplot does.
void draw_figure(const Figure& figure, const std::filesystem::path& folder, std::string_view command,
                 const PageOptions& page = {});

}  // namespace paceline::plots
