// A figure of points, predicted against recorded or residuals against progress, as PDF and PNG.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace paceline {

struct ScatterSeries {
  std::string name;
  std::vector<std::pair<double, double>> points;
};

struct ScatterFigure {
  std::string name;  // a plain file name without extension
  std::string x_label;
  std::string y_label;
  bool diagonal = false;  // the line y = x; else y = 0
  std::vector<ScatterSeries> series;
  std::string note;
};

// Writes NAME.pdf, NAME.png and NAME.gp into `folder`, which exists. Throws UserError when gnuplot is missing or fails.
void draw_scatter(const ScatterFigure& figure, const std::filesystem::path& folder,
                  const std::string& command);

}  // namespace paceline
