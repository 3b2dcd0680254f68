#include "plots/figures/profile_figure.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "plots/data/curve_band.hpp"
#include "plots/page/page.hpp"
#include "plots/page/text.hpp"
#include "sim/base/atomic_file.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/base/order_statistics.hpp"
#include "sim/cost/compute_law.hpp"

namespace paceline::plots {
namespace {

constexpr double plot_left_in = 0.52;
constexpr double plot_width_in = page_width_in - plot_left_in - 0.12;
constexpr double laws_top_in = 0.22;
constexpr double laws_height_in = 1.7;
constexpr double residuals_top_in = laws_top_in + laws_height_in + 0.12;
constexpr double residuals_height_in = 0.8;
constexpr double axis_below_in = 0.34;
constexpr int curve_points = 60;
constexpr double stall_bound = 3.0;  // as in the fit
constexpr double band_tail = 0.025;
constexpr double smallest_residual_axis = 0.05;
constexpr double beside_one_batch = 4.0;  // factor of the batch, either side

struct MeasuredPoint {
  std::int64_t batch = 1;
  double seconds = 0.0;
};

double mean_without_stalls(const std::vector<double>& seconds) {
  const double bound = stall_bound * median(seconds);
  double sum = 0.0;
  double count = 0.0;
  for (const double value : seconds) {
    if (value > bound) continue;
    sum += value;
    count += 1.0;
  }
  return sum / count;
}

struct MeasuredPoints {
  std::map<int, std::vector<MeasuredPoint>> by_cores;
  int set_aside = 0;
};

MeasuredPoints points_of(const std::filesystem::path& path) {
  MeasuredPoints points;
  const auto json = nlohmann::json::parse(read_file(path));
  if (!json.contains("samples")) return points;
  try {
    for (const auto& sample : json.at("samples")) {
      if (sample.at("operation") != "forward_backward") continue;
      if (sample.value("set_aside", false)) {
        ++points.set_aside;
        continue;
      }
      const auto seconds = sample.at("seconds").get<std::vector<double>>();
      if (seconds.empty()) continue;
      points.by_cores[sample.at("cores").get<int>()].push_back(
          {sample.at("batch").get<std::int64_t>(), mean_without_stalls(seconds)});
    }
  } catch (const nlohmann::json::exception&) {
    throw UserError(fmt::format("{}: its samples cannot be read", path.string()),
                    "a profile is made by `paceline calibrate NETWORK -o FILE`");
  }
  return points;
}

struct BatchRange {
  double low = 1.0;
  double high = 1.0;
};

bool is_known_at_one_batch(const ComputeFit& fit) {
  return fit.batch_min_samples == fit.batch_max_samples;
}

// Of the law's line; around a single batch that is known.
BatchRange range_of(const ComputeFit& fit) {
  const auto low = static_cast<double>(fit.batch_min_samples);
  const auto high = static_cast<double>(fit.batch_max_samples);
  if (!is_known_at_one_batch(fit)) return {low, high};
  return {low / beside_one_batch, high * beside_one_batch};
}

BatchRange range_of(const Profile& profile) {
  BatchRange widest = range_of(profile.compute.front());
  for (const ComputeFit& fit : profile.compute) {
    const BatchRange range = range_of(fit);
    widest = {std::min(widest.low, range.low), std::max(widest.high, range.high)};
  }
  return widest;
}

// Equal steps of the logarithm.
std::vector<double> grid_of(const ComputeFit& fit) {
  std::vector<double> batches;
  const BatchRange range = range_of(fit);
  const double low = std::log(range.low);
  const double high = std::log(range.high);
  for (int i = 0; i <= curve_points; ++i) batches.push_back(std::exp(low + (high - low) * i / curve_points));
  return batches;
}

// batch, law, low and high end of the band: equal to the law without an ensemble.
std::string curve_rows(const Profile& profile, std::size_t index) {
  const ComputeFit& fit = profile.compute[index];
  std::string rows = "# batch seconds low high\n";
  for (const double batch : grid_of(fit)) {
    const double law = law_seconds(fit, batch).value();
    double low = law;
    double high = law;
    if (!profile.ensemble.empty()) {
      std::vector<double> drawn;
      for (const ProfileDraw& draw : profile.ensemble)
        drawn.push_back(law_seconds(draw.compute[index], batch).value());
      low = quantile(drawn, band_tail);
      high = quantile(drawn, 1.0 - band_tail);
    }
    rows += fmt::format("{:.6g} {:.6g} {:.6g} {:.6g}\n", batch, law, low, high);
  }
  return rows;
}

std::string point_rows(const ComputeFit& fit, const std::vector<MeasuredPoint>& points, double& largest) {
  std::string rows = "# batch seconds relative_residual\n";
  for (const MeasuredPoint& point : points) {
    const double residual = point.seconds / law_seconds(fit, static_cast<double>(point.batch)).value() - 1.0;
    largest = std::max(largest, std::abs(residual));
    rows += fmt::format("{} {:.6g} {:.6g}\n", point.batch, point.seconds, residual);
  }
  return rows;
}

// gnuplot wants one plot command with its layers on lines of their own.
void draw_layers(Page& page, const std::vector<std::string>& layers) {
  for (std::size_t i = 0; i < layers.size(); ++i)
    page.draw(
        fmt::format("{}{}{}", i == 0 ? "plot " : "     ", layers[i], i + 1 == layers.size() ? "" : ", \\"));
}

std::string note_about(const Profile& profile, int set_aside) {
  if (profile.is_derived)
    return std::ranges::any_of(profile.compute, is_known_at_one_batch)
               ? "derived from publications: one batch is known (point), the line extrapolates"
               : "derived from publications: no measurements";
  return fmt::format("points: one for each of {} processes{}; lines: fitted; bands: 95 %{}",
                     profile.jitter.processes,
                     set_aside > 0 ? fmt::format(" ({} set aside: cores elsewhere)", set_aside) : "",
                     profile.ensemble.empty() ? " (not known)" : "");
}

}  // namespace

Figure profile_figure(const std::filesystem::path& path, std::string_view command) {
  const Profile profile = read_profile(path);
  const MeasuredPoints measured = points_of(path);

  std::vector<std::string> names;
  std::vector<std::string> laws;
  std::vector<std::string> residuals = {"0 with lines linewidth 0.8 linecolor rgb \"#000000\""};
  double largest = smallest_residual_axis;
  std::string data;
  for (std::size_t i = 0; i < profile.compute.size(); ++i) {
    const ComputeFit& fit = profile.compute[i];
    const SeriesStyle style = series_style(i);
    names.push_back(fmt::format("{} core{}", fit.cores, fit.cores == 1 ? "" : "s"));
    data += fmt::format("$law_{} << END_OF_DATA\n{}END_OF_DATA\n", fit.cores, curve_rows(profile, i));
    laws.push_back(fmt::format(
        "$law_{} using 1:3:4 with filledcurves fillcolor rgb \"{}\" fillstyle transparent solid 0.18 "
        "noborder",
        fit.cores, style.colour));
    laws.push_back(fmt::format("$law_{} using 1:2 with lines linewidth 1.6 linecolor rgb \"{}\" dashtype {}",
                               fit.cores, style.colour, style.dash));
    const std::string marks =
        fmt::format("with points pointtype {} linecolor rgb \"{}\"", style.marker, style.colour);
    if (is_known_at_one_batch(fit)) {
      const auto batch = static_cast<double>(fit.batch_min_samples);
      data += fmt::format("$known_{} << END_OF_DATA\n{:.6g} {:.6g}\nEND_OF_DATA\n", fit.cores, batch,
                          law_seconds(fit, batch).value());
      laws.push_back(fmt::format("$known_{} using 1:2 {}", fit.cores, marks));
    }
    const auto points = measured.by_cores.find(fit.cores);
    if (points == measured.by_cores.end()) continue;
    data += fmt::format("$points_{} << END_OF_DATA\n{}END_OF_DATA\n", fit.cores,
                        point_rows(fit, points->second, largest));
    laws.push_back(fmt::format("$points_{} using 1:2 {}", fit.cores, marks));
    residuals.push_back(fmt::format("$points_{} using 1:(100*$3) {}", fit.cores, marks));
  }
  const bool has_points = residuals.size() > 1;
  const Legend legend(names, Legend::Sample::line_marker_band);
  const Footer footer(note_about(profile, measured.set_aside), command);
  const double axis_bottom_in =
      has_points ? residuals_top_in + residuals_height_in : laws_top_in + laws_height_in;
  const double legend_top_in = axis_bottom_in + axis_below_in + 0.05;
  const double footer_top_in = legend_top_in + legend.height_in() + 0.05;

  Page page(footer_top_in + footer.height_in());
  data.pop_back();  // the page ends the line
  page.set(data);
  page.set("set logscale x 2");
  page.set("set grid ytics linetype 1 dashtype solid linewidth 0.4 linecolor rgb \"#E4E4E4\"");
  page.text(
      wrapped(fmt::format("{} on {}", profile.network, profile.cpu_model), text_pt, plot_width_in, 1).front(),
      plot_left_in, 0.11, {});
  page.text("seconds / iteration", 0.10, laws_top_in + laws_height_in / 2.0,
            {.align = Align::center, .upright = true});
  if (has_points)
    page.text("residual (%)", 0.10, residuals_top_in + residuals_height_in / 2.0,
              {.align = Align::center, .upright = true});
  page.text("batch (samples)", plot_left_in + plot_width_in / 2.0, axis_bottom_in + 0.25,
            {.align = Align::center});
  legend.place(page, legend_top_in);
  footer.place(page, footer_top_in);
  const BatchRange range = range_of(profile);
  page.draw(fmt::format("set xrange [{:g}:{:g}]", range.low, range.high));
  page.draw("set multiplot");
  page.draw("set logscale y");
  page.draw("set format y \"%g\"");
  page.draw(fmt::format("set format x \"{}\"", has_points ? "" : "% h"));
  page.draw("set autoscale y");
  page.frame(plot_left_in, laws_top_in, plot_width_in, laws_height_in);
  draw_layers(page, laws);
  if (has_points) {
    // Text stands at places on the page: drawn with the first panel, and not again with the other.
    page.draw("unset label; unset arrow; unset object");
    page.draw("unset logscale y");
    page.draw("set format x \"% h\"");
    page.draw(fmt::format("set yrange [{0}:{1}]", -110.0 * largest, 110.0 * largest));
    page.frame(plot_left_in, residuals_top_in, plot_width_in, residuals_height_in);
    draw_layers(page, residuals);
  }
  page.draw("unset multiplot");
  return {std::string(profile_figure_name), page.script(profile_figure_name, command)};
}

}  // namespace paceline::plots
