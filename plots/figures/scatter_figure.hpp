// A figure of points, predicted against recorded or residuals against progress, as PDF and PNG.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace paceline::plots {

struct ScatterBar {
  double low = 0.0;
  double high = 0.0;
};

struct ScatterPoint {
  double x = 0.0;
  double y = 0.0;
  std::optional<ScatterBar> bar{};  // upright
};

struct ScatterSeries {
  std::string name;
  std::vector<ScatterPoint> points;
};

struct ScatterFigure {
  std::string name;  // a plain file name without extension
  std::string x_label;
  std::string y_label;
  bool diagonal = false;  // the line y = x; else y = 0
  std::vector<ScatterSeries> series{};
  std::string note;
};

// Writes NAME.pdf, NAME.png and NAME.gp into `folder`, which exists. Throws UserError when gnuplot is missing
// or fails.
void draw_scatter(const ScatterFigure& figure, const std::filesystem::path& folder,
                  const std::string& command);

}  // namespace paceline::plots
