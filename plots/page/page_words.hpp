// A page as a user describes it: words of the command line become page options.
#pragma once

#include <string>

#include "plots/page/page.hpp"

namespace paceline::plots {

// Each may be empty: what the style says, or one column of a paper.
struct PageWords {
  std::string style = {};   // acm or ieee: a column of their papers, without footer
  std::string width = {};   // "3.33in", "85mm", "8.5cm", "241pt"
  std::string size = {};    // of text: "8pt"
  std::string font = {};    // a family that fontconfig knows
  std::string format = {};  // "pdf,svg,png,tex"
  std::string title = {};
  bool no_footer = false;
  bool anonymous = false;
};

// Throws UserError that names every word at fault.
[[nodiscard]] PageOptions page_options(const PageWords& words);

}  // namespace paceline::plots
