// The figures: each a pure function from results to a gnuplot script, or nothing when there is nothing to
// show.
//
// Models:      accuracy over time with bands, time-to-accuracy with intervals, batch sizes over time, what workers do, how
//              long they compute and how often they update.
// Equation:    see curve_band.hpp for the bands; times and intervals are those of the results.
// Units:       time axes in s, min, h or d; accuracy in %; batches in samples.
// Assumptions: every run comes from results.hpp, so it is checked. Series follow the order of the runs.
// Not modelled: anything the results do not hold.
// Source:      none.
#pragma once

#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plots/data/results.hpp"

namespace paceline::plots {

struct Figure {
  std::string name;  // file name without extension
  std::string script;
};

inline constexpr std::string_view accuracy_figure_name = "accuracy-over-time";
inline constexpr std::string_view time_figure_name = "time-to-accuracy";
inline constexpr std::string_view batch_figure_name = "batches-over-time";
inline constexpr std::string_view timeline_figure_name = "worker-timeline";
inline constexpr std::string_view outcome_figure_name = "outcomes";
inline constexpr std::string_view compute_time_figure_name = "compute-times";
inline constexpr std::string_view update_density_figure_name = "updates-per-worker";
inline constexpr std::array figure_names{
    accuracy_figure_name, time_figure_name,         batch_figure_name,         timeline_figure_name,
    outcome_figure_name,  compute_time_figure_name, update_density_figure_name};

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

// Nothing when no run kept its iterations.
[[nodiscard]] std::optional<Figure> compute_time_figure(const std::vector<PlottedRun>& runs,
                                                        std::string_view command);

// Nothing when every worker of every run contributed the same number of gradients.
[[nodiscard]] std::optional<Figure> update_density_figure(const std::vector<PlottedRun>& runs,
                                                          std::string_view command);

// Nothing when no run was traced.
[[nodiscard]] std::optional<Figure> timeline_figure(const std::vector<PlottedRun>& runs,
                                                    std::string_view command);

// What somebody recorded of a policy, to be marked beside what was simulated.
struct RecordedOutcome {
  std::optional<double> final_accuracy;  // 0-1
  std::optional<double> relative_time;   // over that of the first policy
};
using RecordedOutcomes = std::map<std::string, RecordedOutcome>;  // by the policy's name
// From a CSV file with the columns variant, final_accuracy, relative_time; cells may be empty.
[[nodiscard]] RecordedOutcomes read_recorded_outcomes(const std::filesystem::path& path);

// Final accuracy and relative time of several policies. Nothing for one, nor for jobs that end at a target (whose time
// is the other figure's) unless something recorded stands beside them.
[[nodiscard]] std::optional<Figure> outcome_figure(const std::vector<PlottedRun>& runs,
                                                   const RecordedOutcomes& recorded,
                                                   std::string_view command);

}  // namespace paceline::plots
