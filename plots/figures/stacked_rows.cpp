#include "plots/figures/figures.hpp"
#include "plots/page/text.hpp"

namespace paceline::plots {
namespace {

// At 8 points.
constexpr double left_and_right_in = 0.24;
constexpr double before_value_in = 0.15;
constexpr double below_name_in = 0.025;  // space for the descenders of the name above
constexpr double below_bar_in = 0.085;
constexpr double name_across = 0.012;

}  // namespace

StackedRows stacked_rows(const std::vector<NamedRow>& rows, double bar_in, std::size_t name_lines_max,
                         const PageOptions& page) {
  StackedRows stacked;
  double top_in = 0.0;
  for (const NamedRow& row : rows) {
    const double value_in = text_width_in(row.value, page.points(TextSize::small));
    const double name_in = page.width_in - page.scaled(left_and_right_in + before_value_in) - value_in;
    double y_in = top_in + page.line_in() / 2.0;
    if (!row.value.empty())
      stacked.panel.texts.push_back(
          {row.value, 1.0, y_in, {.size = TextSize::small, .align = Align::right, .colour = note_colour}});
    for (const std::string& line : wrapped(row.name, page.text_pt, name_in, name_lines_max)) {
      stacked.panel.texts.push_back({line, name_across, y_in});
      y_in += page.line_in();
    }
    stacked.middles.push_back(y_in - page.line_in() / 2.0 + page.scaled(below_name_in) + bar_in / 2.0);
    top_in = stacked.middles.back() + bar_in / 2.0 + page.scaled(below_bar_in);
  }
  stacked.panel.height_in = top_in;
  stacked.panel.y = {.from = top_in, .to = 0.0, .has_tics = false};
  return stacked;
}

}  // namespace paceline::plots
