// What stands below the panels: samples with names, in as many columns as fit, and what a figure says about
// itself.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plots/page/figure.hpp"
#include "plots/page/page.hpp"

namespace paceline::plots {

class Legend {
 public:
  Legend(const Figure& figure, const PageOptions& options);
  [[nodiscard]] double height_in() const;
  void place(Page& page, double top_in) const;

 private:
  struct Entry {
    std::vector<std::string> lines;
    Ink ink;
  };
  void place_sample(Page& page, const Ink& ink, double x_in, double y_in) const;
  [[nodiscard]] double sample_in() const;

  const PageOptions& options_;
  Sample sample_;
  std::vector<Entry> entries_;
  std::size_t columns_ = 1;
};

// A note, and the command that made the figure.
class Footer {
 public:
  Footer(std::string_view note, std::string_view command, const PageOptions& options);
  [[nodiscard]] double height_in() const;
  void place(Page& page, double top_in) const;

 private:
  const PageOptions& options_;
  std::vector<std::string> note_;
  std::vector<std::string> command_;
};

}  // namespace paceline::plots
