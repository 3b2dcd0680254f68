#include "plots/figures/share_figure.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "plots/data/results.hpp"
#include "plots/page/page.hpp"
#include "sim/base/csv.hpp"

namespace paceline::plots {
namespace {

constexpr double left_in = 0.46;
constexpr double top_in = 0.14;
constexpr double width_in = page_width_in - left_in - 0.14;
constexpr double height_in = 1.7;
constexpr double axis_below_in = 0.34;

std::string rows_of(const std::vector<ShareAccuracy>& points) {
  std::string rows = "# share_percent accuracy_percent deviation_percent\n";
  for (const ShareAccuracy& point : points)
    rows += fmt::format("{:.6g} {:.6g} {:.6g}\n", 100.0 * point.share, 100.0 * point.accuracy,
                        100.0 * point.deviation);
  return rows;
}

std::string note_of(const ShareResults& results) {
  std::string note =
      fmt::format("points: mean ± standard deviation; filled: chosen, {:.4g} %; band: {:.4g} ± {:.2g} %",
                  100.0 * results.chosen, 100.0 * results.target, 100.0 * results.tolerance);
  if (!results.recorded.empty()) note += "; circles: recorded";
  if (results.has_assumed_learner) note = fmt::format("{}; {}", with_assumed_learner(""), note);
  return note;
}

}  // namespace

std::vector<ShareAccuracy> read_recorded_shares(const std::filesystem::path& path) {
  const CsvFile table(path, {"share_percent", "final_accuracy"});
  std::vector<ShareAccuracy> shares;
  for (const CsvRow& row : table.rows()) {
    shares.push_back({row.number("share_percent") / 100.0, row.number("final_accuracy")});
    if (shares.back().share <= 0.0 || shares.back().share > 1.0)
      row.fail("a share lies above 0 and up to 100 %");
  }
  return shares;
}

Figure share_figure(const ShareResults& results, std::string_view command) {
  std::vector<ShareAccuracy> chosen;
  double smallest = 1.0;
  for (const ShareAccuracy& point : results.tried) {
    if (point.share == results.chosen) chosen.push_back(point);
    smallest = std::min(smallest, point.share);
  }
  for (const ShareAccuracy& point : results.recorded) smallest = std::min(smallest, point.share);
  const Footer footer(note_of(results), command);
  const double footer_top_in = top_in + height_in + axis_below_in;
  Page page(footer_top_in + footer.height_in());
  page.set(fmt::format("$tried << END_OF_DATA\n{}END_OF_DATA", rows_of(results.tried)));
  page.set(fmt::format("$chosen << END_OF_DATA\n{}END_OF_DATA", rows_of(chosen)));
  page.set(fmt::format("$recorded << END_OF_DATA\n{}END_OF_DATA", rows_of(results.recorded)));
  page.set("set logscale x 2");
  page.set("set format x \"%g\"");
  page.set(fmt::format("set xrange [{:.6g}:115]", 100.0 * smallest / 1.15));
  page.set("set grid ytics linetype 1 dashtype solid linewidth 0.4 linecolor rgb \"#E4E4E4\"");
  page.frame(left_in, top_in, width_in, height_in);
  page.text("final accuracy (%)", 0.10, top_in + height_in / 2.0, {.align = Align::center, .upright = true});
  page.text("synchronous share (%)", left_in + width_in / 2.0, top_in + height_in + 0.25,
            {.align = Align::center});
  footer.place(page, footer_top_in);
  const SeriesStyle style = series_style(0);
  std::string layers = fmt::format(
      "plot '+' using 1:({:.6g}):({:.6g}) with filledcurves fillcolor rgb \"#009E73\" fillstyle transparent "
      "solid 0.15 "
      "noborder, \\\n     "
      "$tried using 1:2:3 with yerrorbars pointtype 6 linewidth 1.2 linecolor rgb \"{}\", \\\n     "
      "$chosen using 1:2 with points pointtype 7 pointsize 0.7 linecolor rgb \"{}\"",
      100.0 * (results.target - results.tolerance), 100.0 * (results.target + results.tolerance),
      style.colour, style.colour);
  if (!results.recorded.empty())
    layers +=
        ", \\\n     $recorded using 1:2 with points pointtype 6 pointsize 0.7 linewidth 1.4 linecolor rgb "
        "\"#000000\"";
  page.draw(layers);
  return {std::string(share_figure_name), page.script(share_figure_name, command)};
}

}  // namespace paceline::plots
