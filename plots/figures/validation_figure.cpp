#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "plots/figures/figures.hpp"
#include "sim/base/csv.hpp"
#include "sim/base/diagnostic.hpp"

namespace paceline::plots {
namespace {

// "resnet32: bsp" is of the campaign resnet32.
std::string campaign_of(const CsvFile& table, const CsvRow& row) {
  if (!table.has("fold")) return "predicted";
  const std::string& fold = row.text("fold");
  return fold.substr(0, fold.find(": "));
}

std::string words_of(std::string quantity) {
  for (char& c : quantity)
    if (c == '_') c = ' ';
  return quantity;
}

}  // namespace

Figure learner_figure(const std::filesystem::path& path, const nlohmann::json& learner) {
  Scatter scatter{.name = "predicted-against-recorded",
                  .x_title = "recorded final accuracy",
                  .y_title = "predicted final accuracy",
                  .note = "each point: the mean of a group of runs, from a fit without them; line: equal",
                  .is_diagonal = true};
  try {
    ScatterSeries series{learner.value("name", "learner")};
    for (const nlohmann::json& group : learner.value("left_out", nlohmann::json::array()))
      series.points.push_back({group.at("recorded_final_accuracy"), group.at("predicted_final_accuracy")});
    if (!series.points.empty()) scatter.series.push_back(std::move(series));
  } catch (const nlohmann::json::exception&) {
    scatter.series.clear();
  }
  if (scatter.series.empty())
    throw UserError(fmt::format("{} says of no recorded runs how they are predicted", path.string()),
                    "`paceline fit` leaves each group of runs out once");
  return scatter_figure(scatter);
}

std::vector<Figure> validation_figures(const std::filesystem::path& path) {
  const CsvFile table(path, {"quantity", "predicted", "recorded"},
                      {.hint = "name a validation.csv of `paceline validate recorded`"});
  const bool has_long_names = table.has("predicted_low");
  std::vector<Scatter> scatters;
  for (const CsvRow& row : table.rows()) {
    const std::optional<double> predicted = row.number_if_given("predicted");
    const std::optional<double> recorded = row.number_if_given("recorded");
    if (!predicted || !recorded) continue;
    const std::string quantity = words_of(row.text("quantity"));
    auto scatter = std::ranges::find(scatters, "recorded " + quantity, &Scatter::x_title);
    if (scatter == scatters.end())
      scatter = scatters.insert(
          scatters.end(),
          Scatter{.name = fmt::format("predicted-{}", row.text("quantity")),
                  .x_title = "recorded " + quantity,
                  .y_title = "predicted " + quantity,
                  .note = "each point: predicted without what is recorded there; bars: 90 % intervals of the "
                          "prediction; line: equal",
                  .is_diagonal = true});
    const std::string campaign = campaign_of(table, row);
    auto series = std::ranges::find(scatter->series, campaign, &ScatterSeries::name);
    if (series == scatter->series.end()) series = scatter->series.insert(series, {campaign});
    series->points.push_back({*recorded, *predicted,
                              row.number_if_given(has_long_names ? "predicted_low" : "low"),
                              row.number_if_given(has_long_names ? "predicted_high" : "high")});
  }
  std::vector<Figure> figures;
  for (Scatter& scatter : scatters) {
    for (char& c : scatter.name)
      if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))) c = '-';
    figures.push_back(scatter_figure(scatter));
  }
  return figures;
}

}  // namespace paceline::plots
