#include <fmt/format.h>

#include "plots/figures/figures.hpp"
#include "sim/base/csv.hpp"

namespace paceline::plots {
namespace {

Table table_of(const std::string& name, const std::vector<ShareAccuracy>& points) {
  Table table{name, {"share", "accuracy", "low", "high"}};
  for (const ShareAccuracy& point : points)
    table.rows.push_back({100.0 * point.share, 100.0 * point.accuracy,
                          100.0 * (point.accuracy - point.deviation),
                          100.0 * (point.accuracy + point.deviation)});
  return table;
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
      row.fail_at("share_percent", "a share lies above 0 and up to 100 %");
  }
  return shares;
}

Figure share_figure(const ShareResults& results) {
  Extent percent{100.0, 100.0};
  for (const ShareAccuracy& point : results.tried) percent.include(100.0 * point.share);
  for (const ShareAccuracy& point : results.recorded) percent.include(100.0 * point.share);
  std::vector<ShareAccuracy> chosen;
  std::ranges::copy_if(results.tried, std::back_inserter(chosen),
                       [&](const ShareAccuracy& point) { return point.share == results.chosen; });
  Panel panel{.height_in = 1.7,
              .x = percent.log_axis("synchronous share (%)", 2, 1.15),
              .y = {.title = "final accuracy (%)"}};
  const double low = 100.0 * (results.target - results.tolerance);
  const double high = 100.0 * (results.target + results.tolerance);
  const Table band{"band", {"share", "low", "high"}, {{panel.x.from, low, high}, {panel.x.to, low, high}}};
  const Table tried = table_of("tried", results.tried);
  panel.layers = {{Shape::band, band, band.columns, series_ink(2)},
                  {Shape::error_bars, tried, tried.columns, hollow(series_ink(0))},
                  {Shape::marks, table_of("chosen", chosen), {"share", "accuracy"}, series_ink(0)}};
  if (!results.recorded.empty())
    panel.layers.push_back(
        {Shape::marks, table_of("recorded", results.recorded), {"share", "accuracy"}, hollow()});
  return {.name = "accuracy-against-share", .panels = {panel}, .note = note_of(results)};
}

}  // namespace paceline::plots
