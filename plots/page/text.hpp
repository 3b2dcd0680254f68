// Text on a figure: made harmless, measured, wrapped.
//
// Models:      the width of a line of Liberation Sans (metrics of Helvetica).
// Equation:    width = size · sum of advance widths / 1000.
// Units:       inches; font size in points (1/72 in).
// Assumptions: no kerning. Characters beyond ASCII count as 0.6 em below U+0600, 1 em above.
// Not modelled: combining marks, right-to-left scripts.
// Source:      Adobe Helvetica font metrics (AFM).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace paceline::plots {

// The same text as one printable line of valid UTF-8: line breaks show as \n, other control characters as
// \xNN, broken UTF-8 as U+FFFD.
[[nodiscard]] std::string printable(std::string_view text);

// A gnuplot double-quoted string that evaluates to `printable(text)`. All but harmless ASCII and UTF-8 is
// written as octal escapes: gnuplot would run `backquoted` text as a shell command even inside a string.
[[nodiscard]] std::string gnuplot_string(std::string_view text);

// The command with only the last part of absolute paths: figures do not tell where their maker keeps files.
[[nodiscard]] std::string without_absolute_paths(std::string_view command);

[[nodiscard]] double text_width_in(std::string_view text, double font_size_pt);

// Breaks at spaces; inside a word that is too long by itself, after its punctuation where possible. Text
// beyond `lines_max` ends in "…".
[[nodiscard]] std::vector<std::string> wrapped(std::string_view text, double font_size_pt, double width_in,
                                               std::size_t lines_max);

}  // namespace paceline::plots
