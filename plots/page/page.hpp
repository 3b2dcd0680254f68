// One figure as a gnuplot script: a column wide, laid out in inches, with its data inside.
//
// Models:      a page one paper column wide (3.33 in), drawn as PDF and as PNG at 300 dots per inch.
// Units:       inches from the left and from the top edge; font sizes in points.
// Assumptions: text is Liberation Sans, so that its width can be computed (text.hpp).
// Not modelled: page breaks; a figure grows downwards with what it shows.
// Source:      palette of Okabe and Ito, "Color universal design", 2008, without yellow (too light for
// lines).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace paceline::plots {

constexpr double page_width_in = 3.33;
constexpr double page_margin_in = 0.06;
constexpr double text_pt = 8.0;
constexpr double tick_pt = 7.0;
constexpr double note_pt = 6.5;
constexpr auto note_colour = "#606060";

// Told apart by colour, dash and marker, each enough by itself for the first eight.
struct SeriesStyle {
  const char* colour;
  const char* dash;
  int marker;
};
[[nodiscard]] SeriesStyle series_style(std::size_t index);

enum class Align { left, center, right };

struct TextStyle {
  double size_pt = text_pt;
  Align align = Align::left;
  bool upright = false;  // reads from bottom to top
  const char* colour = "#000000";
};

class Page {
 public:
  explicit Page(double height_in) : height_in_(height_in) {}

  // Screen coordinates as gnuplot writes them: "x,y" in fractions of the page.
  [[nodiscard]] std::string at(double x_in, double from_top_in) const;

  // One line of the script, run once, before drawing.
  void set(std::string_view line);
  // One line of the script, run for each output device.
  void draw(std::string_view line);
  // Text at a place on the page; vertical place is the middle of the line.
  void text(std::string_view content, double x_in, double from_top_in, const TextStyle& style);
  // The box between the axes of the next plot.
  void frame(double left_in, double top_in, double width_in, double height_in);

  // The whole script. `name` is a plain file name without extension, chosen by paceline.
  [[nodiscard]] std::string script(std::string_view name, std::string_view command) const;

 private:
  double height_in_;
  std::string settings_;
  std::string drawing_;
};

// From one tic to the next: 1, 2 or 5 times a power of ten, the smallest that leaves at most `tics_max` of them beyond
// the first within `span` > 0.
[[nodiscard]] double tic_step(double span, int tics_max);

// The samples and names below a plot, in as many columns as fit.
class Legend {
 public:
  enum class Sample { line, marker, line_marker, line_marker_band };

  Legend(const std::vector<std::string>& names, Sample sample);
  [[nodiscard]] double height_in() const;
  void place(Page& page, double top_in) const;

 private:
  void place_sample(Page& page, std::size_t index, double x_in, double y_in) const;

  std::vector<std::vector<std::string>> names_;  // each wrapped into lines
  Sample sample_;
  std::size_t columns_ = 1;
};

// What a figure says about itself below everything else: a note, and the command that made it.
class Footer {
 public:
  Footer(std::string_view note, std::string_view command);
  [[nodiscard]] double height_in() const;
  void place(Page& page, double top_in) const;

 private:
  std::vector<std::string> note_;
  std::vector<std::string> command_;
};

}  // namespace paceline::plots
