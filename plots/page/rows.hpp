// A panel of named rows, one below the other, each with a place for a bar below its name.
#pragma once

#include <string>
#include <vector>

#include "plots/page/figure.hpp"
#include "plots/page/page.hpp"

namespace paceline::plots {

struct NamedRow {
  std::string name;
  std::string value = {};  // stands at the right
};

struct StackedRows {
  Panel panel;                  // its y axis counts inches downwards
  std::vector<double> middles;  // of the bars, along that axis
};

[[nodiscard]] StackedRows stacked_rows(const std::vector<NamedRow>& rows, double bar_in,
                                       std::size_t name_lines_max, const PageOptions& options);

}  // namespace paceline::plots
