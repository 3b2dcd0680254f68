// Figures of a whole study: time against cost, two varied names as a map, what the time depends on.
#include <cmath>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "plots/data/combinations.hpp"
#include "plots/data/results.hpp"
#include "plots/figures/figures.hpp"
#include "plots/page/text.hpp"

namespace paceline::plots {
namespace {

constexpr std::size_t panels_max = 12;
constexpr std::size_t labels_max = 24;        // of a map's axis
constexpr std::size_t legend_names_max = 16;  // of a legend

using ColumnNumbers = std::vector<std::size_t>;

std::string time_words(const Combinations& study) {
  return study.has_target ? "time to the target" : "time of the job";
}

// What one name of a figure stands for; it says so where no recorded runs stand behind the accuracies.
std::string name_of(const std::string& name, const std::vector<Combination>& members) {
  return std::ranges::any_of(members, &Combination::has_assumed_learner) ? with_assumed_learner(name) : name;
}

double longest_time_s(const Combinations& study) {
  double longest_s = 0.0;
  for (const Combination& one : study.all) longest_s = std::max(longest_s, one.time_s.value_or(0.0));
  return longest_s;
}

std::size_t number_of(const std::vector<std::string>& labels, const std::string& label) {
  return static_cast<std::size_t>(std::ranges::find(labels, label) - labels.begin());
}

// Combinations by what these columns say, in the order of the study.
std::vector<std::pair<std::string, std::vector<Combination>>> grouped(const Combinations& study,
                                                                      const ColumnNumbers& by) {
  std::vector<std::pair<std::string, std::vector<Combination>>> groups;
  for (const Combination& one : study.all) {
    const std::string name = study.text_of(one, by);
    auto group = std::ranges::find(groups, name, [](const auto& each) { return each.first; });
    if (group == groups.end()) group = groups.insert(groups.end(), {name, {}});
    group->second.push_back(one);
  }
  return groups;
}

std::string runs_note(const Combinations& study) {
  return fmt::format("medians over the runs of {} combinations", study.all.size());
}

// From light to dark, so that it is read in grey too.
// Source: viridis of matplotlib, van der Walt and Smith 2015.
std::uint32_t map_colour(double share) {
  constexpr std::array<std::array<double, 3>, 5> stops{
      {{253, 231, 37}, {94, 201, 98}, {33, 145, 140}, {59, 82, 139}, {68, 1, 84}}};
  const double place = std::clamp(share, 0.0, 1.0) * static_cast<double>(stops.size() - 1);
  const auto below = std::min(static_cast<std::size_t>(place), stops.size() - 2);
  std::uint32_t colour = 0;
  for (std::size_t channel = 0; channel < 3; ++channel) {
    const double value =
        std::lerp(stops[below][channel], stops[below + 1][channel], place - static_cast<double>(below));
    colour = colour << 8U | static_cast<std::uint32_t>(std::lround(value));
  }
  return colour;
}

}  // namespace

std::optional<Figure> pareto_figure(const std::filesystem::path& folder) {
  const std::optional<Combinations> study = read_combinations(folder);
  if (!study || study->all.size() < 3) return std::nullopt;
  Extent times;
  Extent costs;
  for (const Combination& one : study->all)
    if (one.time_s && one.cost) {
      times.include(*one.time_s);
      costs.include(*one.cost);
    }
  if (times.is_empty() || times.length() <= 0.0) return std::nullopt;
  const TimeUnit unit = time_unit_for(times.high);
  const ColumnNumbers chosen = study->varied_columns(false);
  const auto cases = grouped(*study, study->varied_columns(true));
  const auto choices = grouped(*study, chosen);
  if (choices.size() < 2) return std::nullopt;
  Figure figure{.name = "pareto",
                .columns = cases.size() > 1 ? 2U : 1U,
                .sample = Sample::marker,
                .note = fmt::format("{}; stairs: nothing is both sooner and cheaper", runs_note(*study))};
  const bool has_names = choices.size() <= legend_names_max;
  if (!has_names) figure.note += fmt::format("; black: on the stairs");
  InkPlaces places(*study);
  std::map<std::string, Ink> inks;
  for (const auto& [choice, members] : choices) {
    inks[choice] = series_ink(places.of(members.front().labels[places.column()], choice));
    if (has_names) figure.legend.push_back({name_of(choice, members), inks[choice]});
  }
  for (const auto& [name, members] : cases) {
    if (figure.panels.size() == panels_max) break;
    Panel panel{
        .title = has_names ? name : name_of(name, members),
        .height_in = cases.size() > 1 ? 1.1 : 2.0,
        .x = {.title = fmt::format("{} ({})", time_words(*study), unit.symbol),
              .from = 0.0,
              .to = 1.06 * times.high / unit.seconds},
        .y = {.title = study->has_price ? "cost" : "core-hours", .from = 0.0, .to = 1.08 * costs.high}};
    Table stairs{fmt::format("stairs_{}", figure.panels.size() + 1), {"time", "cost"}};
    Table all{fmt::format("all_{}", figure.panels.size() + 1), {"time", "cost"}};
    std::vector<Layer> points;
    for (const Combination& one : members) {
      if (!one.time_s || !one.cost) continue;
      const std::vector<std::optional<double>> at{*one.time_s / unit.seconds, *one.cost};
      if (one.is_on_front) stairs.rows.push_back(at);
      if (!has_names) {
        all.rows.push_back(at);
        continue;
      }
      const std::string choice = study->text_of(one, chosen);
      const Table table{
          fmt::format("point_{}_{}", figure.panels.size() + 1, points.size() + 1), {"time", "cost"}, {at}};
      points.push_back({Shape::marks, table, table.columns, inks.at(choice)});
    }
    std::ranges::sort(stairs.rows);
    if (!all.rows.empty()) panel.layers.push_back({Shape::points, all, all.columns, {.colour = "#56B4E9"}});
    if (!stairs.rows.empty()) {
      panel.layers.push_back({Shape::steps, stairs, stairs.columns, {.colour = note_colour}});
      panel.layers.back().line_width = 1.0;
      if (!has_names) panel.layers.push_back({Shape::points, stairs, stairs.columns});
    }
    panel.layers.insert(panel.layers.end(), points.begin(), points.end());
    if (panel.layers.empty()) continue;
    figure.panels.push_back(std::move(panel));
  }
  return figure;
}

std::optional<Figure> time_map_figure(const std::filesystem::path& folder) {
  const std::optional<Combinations> study = read_combinations(folder);
  if (!study) return std::nullopt;
  ColumnNumbers varied = study->varied_columns();
  if (varied.size() < 2) return std::nullopt;
  // The two with the most labels span the map; the variants stand apart where there is something else.
  const std::size_t across = varied.back();
  varied.pop_back();
  const std::size_t up = varied.back();
  varied.pop_back();
  const std::vector<std::string> columns = study->labels_of(across);
  const std::vector<std::string> rows = study->labels_of(up);
  if (columns.size() > labels_max || rows.size() > labels_max) return std::nullopt;
  Extent times;
  for (const Combination& one : study->all)
    if (one.time_s) times.include(*one.time_s);
  if (times.is_empty()) return std::nullopt;
  const TimeUnit unit = time_unit_for(times.high);
  const auto maps = grouped(*study, varied);
  Figure figure{.name = "time-map", .columns = maps.size() > 1 ? 2U : 1U, .sample = Sample::box};
  figure.note = fmt::format("{} ({}), {}; crossed: most runs diverged, empty: the median never gets there",
                            time_words(*study), unit.symbol, runs_note(*study));
  const double step = times.length() / 4.0;
  for (int i = 0; i <= (step > 0.0 ? 4 : 0); ++i)
    figure.legend.push_back(
        {time_text(times.low + step * i, unit), {.colour = fmt::format("#{:06X}", map_colour(i / 4.0))}});
  const bool has_numbers = columns.size() <= (maps.size() > 1 ? 4U : 8U);
  for (const auto& [name, members] : maps) {
    if (figure.panels.size() == panels_max) break;
    const std::string number = fmt::format("{}", figure.panels.size() + 1);
    Panel panel{.title = name_of(name, members),
                .height_in = std::max(0.16 * static_cast<double>(rows.size()) + 0.1, 0.5)};
    const auto axis_of = [&](std::size_t column, const std::vector<std::string>& labels) {
      Axis axis{
          .title = study->columns[column], .from = -0.5, .to = static_cast<double>(labels.size()) - 0.5};
      std::ranges::replace(axis.title, '_', ' ');
      for (const std::string& label : labels)
        axis.tics.push_back({label, static_cast<double>(axis.tics.size())});
      return axis;
    };
    panel.x = axis_of(across, columns);
    panel.y = axis_of(up, rows);
    Table cells{"cells_" + number, {"x", "y", "colour", "time"}};
    Table crosses{"diverged_" + number, {"x", "y"}};
    for (const Combination& one : members) {
      const auto x = static_cast<double>(number_of(columns, one.labels[across]));
      const auto y = static_cast<double>(number_of(rows, one.labels[up]));
      if (2 * one.diverged > one.runs) {
        crosses.rows.push_back({x, y});
      } else if (one.time_s) {
        const double share = times.length() > 0.0 ? (*one.time_s - times.low) / times.length() : 0.0;
        cells.rows.push_back({x, y, map_colour(share), *one.time_s / unit.seconds});
        if (has_numbers)
          panel.texts.push_back({.content = fmt::format("{:.3g}", *one.time_s / unit.seconds),
                                 .across = (x + 0.5) / static_cast<double>(columns.size()),
                                 .y = y,
                                 .style = {.size = TextSize::small,
                                           .align = Align::center,
                                           .colour = share > 0.45 ? "#FFFFFF" : "#000000"}});
      }
    }
    panel.layers.push_back({Shape::cells, cells, {"x", "y", "colour"}});
    if (!crosses.rows.empty())
      panel.layers.push_back(
          {Shape::marks, crosses, crosses.columns, {.colour = note_colour, .marker = cross_marker}});
    figure.panels.push_back(std::move(panel));
  }
  return figure;
}

std::optional<Figure> tornado_figure(const std::filesystem::path& folder, const PageOptions& page) {
  const std::optional<Combinations> study = read_combinations(folder);
  if (!study || study->all.empty() || !study->all.front().time_s) return std::nullopt;
  const Combination& reference = study->all.front();
  struct Swing {
    std::string column;
    const Combination* fastest = nullptr;
    const Combination* slowest = nullptr;
    std::size_t at = 0;
    std::vector<std::string> never = {};  // labels with which the target is not reached
    // "rate: 0.1 to 0.2", "variant: BSP; ASP never"
    [[nodiscard]] std::string text() const {
      std::string text = fmt::format("{}: {}", column, fastest->labels[at]);
      if (slowest != fastest) text += fmt::format(" to {}", slowest->labels[at]);
      return never.empty() ? text : fmt::format("{}; {} never", text, fmt::join(never, ", "));
    }
  };
  std::vector<Swing> swings;
  for (const std::size_t c : study->varied_columns()) {
    Swing swing{.column = study->columns[c], .at = c};
    for (const Combination& one : study->all) {
      const bool differs_here_alone = [&] {
        for (std::size_t other = 0; other < one.labels.size(); ++other)
          if (other != c && one.labels[other] != reference.labels[other]) return false;
        return true;
      }();
      if (!differs_here_alone) continue;
      if (!one.time_s) {
        swing.never.push_back(one.labels[c]);
        continue;
      }
      if (swing.fastest == nullptr || *one.time_s < *swing.fastest->time_s) swing.fastest = &one;
      if (swing.slowest == nullptr || *one.time_s > *swing.slowest->time_s) swing.slowest = &one;
    }
    if (swing.fastest != swing.slowest || !swing.never.empty()) swings.push_back(swing);
  }
  if (swings.size() < 2) return std::nullopt;
  const auto width_of = [](const Swing& swing) { return *swing.slowest->time_s - *swing.fastest->time_s; };
  std::ranges::stable_sort(swings, std::greater{}, width_of);
  Extent times;
  std::vector<NamedRow> rows;
  const TimeUnit unit = time_unit_for(longest_time_s(*study));
  for (const Swing& swing : swings) {
    for (const Combination* end : {swing.fastest, swing.slowest}) times.include(*end->time_s / unit.seconds);
    rows.push_back({swing.text()});
  }
  auto [panel, middles] = stacked_rows(rows, named_bar_in, 2, page);
  panel.x = times.axis(name_of(fmt::format("{} ({})", time_words(*study), unit.symbol), study->all),
                       0.06 * std::max(times.length(), 1e-9));
  Table bars{"swings", {"from", "to", "place"}};
  Table middle{"reference", {"time", "place"}};
  for (std::size_t i = 0; i < swings.size(); ++i) {
    bars.rows.push_back(
        {*swings[i].fastest->time_s / unit.seconds, *swings[i].slowest->time_s / unit.seconds, middles[i]});
    middle.rows.push_back({*reference.time_s / unit.seconds, middles[i]});
  }
  panel.layers.push_back({Shape::bars, bars, bars.columns, series_ink(0)});
  panel.layers.back().thickness = named_bar_in;
  panel.layers.push_back({Shape::marks, middle, middle.columns});
  ColumnNumbers all_columns = study->varied_columns();
  return Figure{.name = "tornado",
                .panels = {panel},
                .note = fmt::format("each name alone varied from `{}` (dot), fastest to slowest; medians",
                                    study->text_of(reference, all_columns))};
}

}  // namespace paceline::plots
