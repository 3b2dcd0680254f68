// A page to read in a browser: one file that needs no other, runs no script, and prints.
//
// All text given to it comes out as text. Figures are SVG as gnuplot writes it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/report/output/paper_table.hpp"

namespace paceline {

struct HtmlFigure {
  std::string svg;
  std::string description;  // where it is not seen
  std::string caption;      // below it
};

class HtmlPage {
 public:
  explicit HtmlPage(std::string title) : title_(std::move(title)) {}

  void question(std::string_view text);
  // What follows belongs to it. `id` is a word of ASCII letters.
  void section(std::string_view id, std::string_view title);
  void subtitle(std::string_view text);
  // What the reader came for.
  void answer(std::string_view text);
  void paragraph(std::string_view text);
  void list(const std::vector<std::string>& items);
  void code(std::string_view text);
  // The first row is the head; what it shows is said to those who cannot see it.
  void table(const TextRows& rows, std::string_view what);
  // Many short rows below a title for each group: on paper in two columns.
  void table(const PaperTable& table, std::string_view what);
  void figures(const std::vector<HtmlFigure>& figures);

  [[nodiscard]] std::string text() const;

 private:
  std::string title_;
  std::string links_;
  std::string body_;
  bool is_in_section_ = false;
  int drawn_ = 0;
};

}  // namespace paceline
