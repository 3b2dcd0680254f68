// The page a figure stands on, and the gnuplot script around it. Lengths in inches from the left and from the
// top edge.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plots/page/figure.hpp"

namespace paceline::plots {

enum class Format { pdf, png };
[[nodiscard]] std::string_view extension_of(Format format);
// Whether a file's content is in that format.
[[nodiscard]] bool is_in_format(std::string_view content, Format format);

// How figures are drawn, whatever they show: one column of a paper, unless told otherwise.
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

struct Box {
  double left_in = 0.0;
  double top_in = 0.0;
  double width_in = 0.0;
  double height_in = 0.0;
  [[nodiscard]] double center_in() const { return left_in + width_in / 2.0; }
  [[nodiscard]] double bottom_in() const { return top_in + height_in; }
};

class Page {
 public:
  Page(const PageOptions& options, double height_in) : options_(options), height_in_(height_in) {}

  [[nodiscard]] const PageOptions& options() const { return options_; }
  // Screen coordinates as gnuplot writes them: "x,y" in fractions of the page.
  [[nodiscard]] std::string at(double x_in, double from_top_in) const;
  // What follows the text of a label and its place.
  [[nodiscard]] std::string label_style(const TextStyle& style) const;

  // A line of the script, run once, before drawing.
  void set(std::string_view line);
  // A line of the script, run for each format.
  void draw(std::string_view line);
  // One line of text, at its vertical middle.
  void text(std::string_view content, double x_in, double from_top_in, const TextStyle& style = {});
  // The box between the axes of the next plot.
  void frame(const Box& box);

  [[nodiscard]] std::string script(std::string_view name, std::string_view command) const;

 private:
  PageOptions options_;
  double height_in_;
  std::string settings_;
  std::string drawing_;
};

}  // namespace paceline::plots
