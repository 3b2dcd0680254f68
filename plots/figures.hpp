// The figures: each a pure function from results to a gnuplot script, or nothing when there is nothing to
// show.
//
// Models:      accuracy over time with bands, time-to-accuracy with intervals, batch sizes over time, what workers do.
// Equation:    see curve_band.hpp for the bands; times and intervals are those of the results.
// Units:       time axes in s, min, h or d; accuracy in %; batches in samples.
// Assumptions: every run comes from results.hpp, so it is checked. Series follow the order of the runs.
// Not modelled: anything the results do not hold.
// Source:      none.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plots/results.hpp"

namespace paceline::plots {

struct Figure {
  std::string name;  // file name without extension
  std::string script;
};

inline constexpr std::string_view accuracy_figure_name = "accuracy-over-time";
inline constexpr std::string_view time_figure_name = "time-to-accuracy";
inline constexpr std::string_view batch_figure_name = "batches-over-time";
inline constexpr std::string_view timeline_figure_name = "worker-timeline";
inline constexpr std::array figure_names{accuracy_figure_name, time_figure_name, batch_figure_name,
                                         timeline_figure_name};

// None of these has an opinion on which policy is best; they draw in the order given.
// Nothing when no run has a learning curve.
[[nodiscard]] std::optional<Figure> accuracy_figure(const std::vector<PlottedRun>& runs,
                                                    std::string_view command);

// Nothing when no run has a target accuracy.
[[nodiscard]] std::optional<Figure> time_to_accuracy_figure(const std::vector<PlottedRun>& runs,
                                                            std::string_view command);

// Nothing when no batch ever changes.
[[nodiscard]] std::optional<Figure> batch_figure(const std::vector<PlottedRun>& runs,
                                                 std::string_view command);

// Nothing when no run was traced.
[[nodiscard]] std::optional<Figure> timeline_figure(const std::vector<PlottedRun>& runs,
                                                    std::string_view command);

}  // namespace paceline::plots
