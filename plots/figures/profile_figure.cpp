#include <cmath>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "plots/figures/figures.hpp"
#include "sim/base/atomic_file.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/base/order_statistics.hpp"
#include "sim/cost/compute_law.hpp"

namespace paceline::plots {
namespace {

constexpr int curve_points = 60;
constexpr double band_tail = 0.025;
constexpr double smallest_residual = 0.05;  // the axis of residuals reaches at least so far
constexpr double beside = 2.0;              // factor of the batch beyond what was fitted, either side
constexpr double beside_one_batch = 4.0;    // where one batch alone is known
constexpr auto extrapolated_dash = "(4,3)";

struct MeasuredPoint {
  double batch = 1.0;
  double seconds = 0.0;
};

struct MeasuredPoints {
  std::map<int, std::vector<MeasuredPoint>> by_cores = {};
  int set_aside = 0;
};

MeasuredPoints points_of(const std::filesystem::path& path) {
  MeasuredPoints points;
  const auto document = nlohmann::json::parse(read_file(path));
  if (!document.contains("samples")) return points;
  try {
    for (const auto& sample : document.at("samples")) {
      if (sample.at("operation") != "forward_backward") continue;
      if (sample.value("set_aside", false)) {
        ++points.set_aside;
        continue;
      }
      const auto seconds = sample.at("seconds").get<std::vector<double>>();
      if (seconds.empty()) continue;
      points.by_cores[sample.at("cores").get<int>()].push_back(
          {sample.at("batch").get<double>(), mean_without_stalls(seconds)});
    }
  } catch (const nlohmann::json::exception&) {
    throw UserError(fmt::format("{}: its samples cannot be read", path.string()),
                    "a profile is made by `paceline calibrate NETWORK -o FILE`");
  }
  return points;
}

bool is_known_at_one_batch(const ComputeFit& fit) {
  return fit.batch_min_samples == fit.batch_max_samples;
}

// What was fitted, and how far beyond it the line goes on.
Extent fitted_batches(const ComputeFit& fit) {
  return {static_cast<double>(fit.batch_min_samples), static_cast<double>(fit.batch_max_samples)};
}
Extent batches_of(const ComputeFit& fit) {
  const double factor = is_known_at_one_batch(fit) ? beside_one_batch : beside;
  const Extent fitted = fitted_batches(fit);
  return {std::max(1.0, fitted.low / factor), fitted.high * factor};
}

// In equal steps of the logarithm; the band is as thin as the law without an ensemble.
Table law_table(const std::string& name, const Profile& profile, std::size_t index, const Extent& batches) {
  const ComputeFit& fit = profile.compute[index];
  Table table{fmt::format("{}_{}", name, fit.cores), {"batch", "seconds", "low", "high"}};
  const double low = std::log(batches.low);
  const double high = std::log(batches.high);
  for (int i = 0; i <= curve_points; ++i) {
    const double batch = std::exp(low + (high - low) * i / curve_points);
    const double law = law_seconds(fit, batch).value();
    std::vector<double> drawn;
    for (const ProfileDraw& draw : profile.ensemble)
      drawn.push_back(law_seconds(draw.compute[index], batch).value());
    if (drawn.empty()) drawn = {law};
    table.rows.push_back({batch, law, quantile(drawn, band_tail), quantile(drawn, 1.0 - band_tail)});
  }
  return table;
}

Table points_table(const ComputeFit& fit, const std::vector<MeasuredPoint>& points, double& largest) {
  Table table{fmt::format("points_{}", fit.cores), {"batch", "seconds", "residual_percent"}};
  for (const MeasuredPoint& point : points) {
    const double residual = point.seconds / law_seconds(fit, point.batch).value() - 1.0;
    largest = std::max(largest, std::abs(residual));
    table.rows.push_back({point.batch, point.seconds, 100.0 * residual});
  }
  return table;
}

std::string note_about(const Profile& profile, int set_aside) {
  if (profile.is_derived)
    return std::ranges::any_of(profile.compute, is_known_at_one_batch)
               ? "derived from publications: one batch is known (point); dashed: extrapolated"
               : "derived from publications: no measurements; dashed: extrapolated";
  return fmt::format(
      "points: one for each of {} processes{}; lines: fitted, dashed: extrapolated; bands: 95 %{}",
      profile.jitter.processes,
      set_aside > 0 ? fmt::format(" ({} set aside: cores elsewhere)", set_aside) : "",
      profile.ensemble.empty() ? " (not known)" : "");
}

}  // namespace

Figure profile_figure(const std::filesystem::path& path, const PageOptions& page) {
  const Profile profile = read_profile(path);
  const MeasuredPoints measured = points_of(path);
  Extent batches;
  for (const ComputeFit& fit : profile.compute)
    for (const double end : {batches_of(fit).low, batches_of(fit).high}) batches.include(end);
  const Axis x = batches.log_axis("batch (samples)", 2, 1.0);
  Panel laws{.title = page.is_anonymous ? profile.network
                                        : fmt::format("{} on {}", profile.network, profile.cpu_model),
             .height_in = 1.7,
             .x = x,
             .y = {.title = "seconds / iteration", .log_base = 10}};
  Panel residuals{.height_in = 0.8, .x = x, .y = {.title = "residual (%)"}, .rules = {0.0}};
  Figure figure{
      .name = "profile", .sample = Sample::line_marker_band, .note = note_about(profile, measured.set_aside)};
  double largest = smallest_residual;
  for (std::size_t i = 0; i < profile.compute.size(); ++i) {
    const ComputeFit& fit = profile.compute[i];
    const Ink ink = series_ink(i);
    figure.legend.push_back({fmt::format("{} core{}", fit.cores, fit.cores == 1 ? "" : "s"),
                             {.colour = ink.colour, .marker = ink.marker}});
    const Extent fitted = fitted_batches(fit);
    const Extent all = batches_of(fit);
    if (!is_known_at_one_batch(fit)) {
      const Table law = law_table("law", profile, i, fitted);
      laws.layers.push_back({Shape::band, law, {"batch", "low", "high"}, ink});
      laws.layers.push_back({Shape::line, law, {"batch", "seconds"}, {.colour = ink.colour}});
    }
    for (const auto& [name, part] : {std::pair{"below", Extent{all.low, fitted.low}},
                                     std::pair{"beyond", Extent{fitted.high, all.high}}}) {
      if (part.length() <= 0.0) continue;
      const Table law = law_table(name, profile, i, part);
      laws.layers.push_back(
          {Shape::line, law, {"batch", "seconds"}, {.colour = ink.colour, .dash = extrapolated_dash}});
      laws.layers.back().line_width = 0.9;
    }
    if (is_known_at_one_batch(fit)) {
      const auto batch = static_cast<double>(fit.batch_min_samples);
      const Table known{fmt::format("known_{}", fit.cores),
                        {"batch", "seconds"},
                        {{batch, law_seconds(fit, batch).value()}}};
      laws.layers.push_back({Shape::points, known, known.columns, ink});
    }
    const auto points = measured.by_cores.find(fit.cores);
    if (points == measured.by_cores.end()) continue;
    const Table table = points_table(fit, points->second, largest);
    laws.layers.push_back({Shape::points, table, {"batch", "seconds"}, ink});
    residuals.layers.push_back({Shape::points, table, {"batch", "residual_percent"}, ink});
  }
  residuals.y.from = -110.0 * largest;
  residuals.y.to = 110.0 * largest;
  figure.panels.push_back(laws);
  if (!residuals.layers.empty()) figure.panels.push_back(residuals);
  return figure;
}

}  // namespace paceline::plots
