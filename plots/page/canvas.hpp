// Where things stand on a page, as commands to gnuplot. Lengths in inches from the left and the top edge.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "plots/page/page.hpp"

namespace paceline::plots {

struct Box {
  double left_in = 0.0;
  double top_in = 0.0;
  double width_in = 0.0;
  double height_in = 0.0;
  [[nodiscard]] double center_in() const { return left_in + width_in / 2.0; }
  [[nodiscard]] double bottom_in() const { return top_in + height_in; }
};

class Canvas {
 public:
  Canvas(const PageOptions& options, double height_in) : options_(options), height_in_(height_in) {}

  [[nodiscard]] const PageOptions& options() const { return options_; }
  // Screen coordinates as gnuplot writes them: "x,y" in fractions of the page.
  [[nodiscard]] std::string at(double x_in, double from_top_in) const;
  // A text as the script has it: for TeX, where it is drawn too, as TeX would set it.
  [[nodiscard]] std::string quoted(std::string_view text, TextSize size = TextSize::normal) const;
  // What follows the text of a label and its place.
  [[nodiscard]] std::string label_style(const TextStyle& style) const;

  // Data, written once, before what is drawn.
  void define(std::string_view data) { data_ += fmt::format("{}\n", data); }
  // A line of the script, run for each format.
  template <class... Values>
  void draw(fmt::format_string<Values...> line, Values&&... values) {
    drawing_ += "  " + fmt::format(line, std::forward<Values>(values)...) + "\n";
  }
  // One line of text, at its vertical middle.
  void text(std::string_view content, double x_in, double from_top_in, const TextStyle& style = {});
  // The box between the axes of the next plot.
  void frame(const Box& box);

  [[nodiscard]] std::string script(std::string_view name, std::string_view command) const;

 private:
  const PageOptions& options_;
  double height_in_;
  std::string data_;
  std::string drawing_;
};

// What stands below the panels: samples with names, in as many columns as fit; a note; and the command that
// made the figure.
class Footer {
 public:
  Footer(const Figure& figure, std::string_view command, const PageOptions& options);
  [[nodiscard]] double height_in() const { return height_in_; }
  void place(Canvas& canvas, double top_in) const;

 private:
  struct Item {
    double x_in = 0.0;
    double y_in = 0.0;
    std::string text = {};
    TextStyle style = {};
    std::optional<Ink> sample = {};  // instead of a text
  };
  void add_legend(const std::vector<LegendEntry>& legend);
  void add_lines(std::string_view text, std::size_t lines_max, const char* colour);
  void place_sample(Canvas& canvas, const Ink& ink, double x_in, double y_in) const;
  [[nodiscard]] double sample_in() const;

  const PageOptions& options_;
  Sample sample_;
  std::vector<Item> items_;
  double height_in_ = 0.0;
};

}  // namespace paceline::plots
