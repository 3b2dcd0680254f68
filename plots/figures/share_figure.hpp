// Final accuracy against the share of synchronous training, with the share a search chose.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "plots/figures.hpp"

namespace paceline::plots {

inline constexpr std::string_view share_figure_name = "accuracy-against-share";

struct ShareAccuracy {
  double share = 0.0;     // 0-1, above 0
  double accuracy = 0.0;  // 0-1, mean
  double deviation = 0.0;
};

struct ShareResults {
  std::vector<ShareAccuracy> tried;
  double target = 0.0;
  double tolerance = 0.0;
  double chosen = 1.0;
  bool has_assumed_learner = false;
  std::vector<ShareAccuracy> recorded;  // deviations are not used
};

// From a CSV file with the columns share_percent, final_accuracy.
[[nodiscard]] std::vector<ShareAccuracy> read_recorded_shares(const std::filesystem::path& path);
[[nodiscard]] Figure share_figure(const ShareResults& results, std::string_view command);

}  // namespace paceline::plots
