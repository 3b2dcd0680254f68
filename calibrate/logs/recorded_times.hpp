// Recorded step times, from any CSV that says when which step was reached, and what recorded switches cost.
//
// Models:      records (time, step) of one phase of one run. Between two records the job made steps at its
//              usual rate, or paused as well (checkpoint, evaluation, start-up). A table of phases in which
//              the time between the end of one and the start of the next was recorded, a fixed sleep of the
//              driver included.
// Equation:    seconds per step of the i-th interval r_i = Δt_i / Δstep_i. Pauses only lengthen intervals:
//              where the sorted r_i have a gap of 3 % with at least a tenth of them (and 3) below, those
//              above it hold a pause. r = mean of the shortest half of the others (right as long as fewer
//              than half of them still hold a pause); an interval holds a pause where r_i > r · (1 + max(2 %,
//              4 σ)), σ half the relative width of that half; step seconds = Σ Δt / Σ Δstep over the other
//              intervals; pause = Δt − Δstep · step seconds. Cost of a switch = median gap − sleep.
// Units:       seconds, steps.
// Assumptions: steps ascend (a restart begins another log); pauses are longer than 2 % of an interval. The
//              sleep is known and the same everywhere.
// Not modelled: rates that drift within a run; start-up inside a recorded phase.
// Source:      recorded runs of Sync-Switch, ICDCS 2021 (checkpoints every 250 steps); Andrews et al. 1972
//              (shortest half).
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace paceline::calibrate {

struct StepRecord {
  double time_s = 0.0;
  double step = 0.0;
};

// Throws UserError naming file and line for a missing column, a ragged line, a number that is none, or steps
// or times that do not ascend.
[[nodiscard]] std::vector<StepRecord> read_step_log(const std::filesystem::path& path,
                                                    const std::string& time_column,
                                                    const std::string& step_column);

struct StepTimes {
  double step_s = 0.0;       // between pauses
  double relative_sd = 0.0;  // of the intervals without a pause
  int intervals = 0;
  std::vector<double> pauses_s = {};
  double steps = 0.0;  // in the whole log

  [[nodiscard]] double mean_step_s() const;  // pauses included
};

// At least 4 records.
[[nodiscard]] StepTimes step_times(std::span<const StepRecord> records);

struct SwitchGaps {
  std::vector<double> gaps_s;  // in the order of the file; may be empty
  double sleep_s = 0.0;

  [[nodiscard]] double cost_s() const;  // at least one gap
};

// The gaps of one setup. Throws UserError for another layout, and when the sleep is longer than a gap.
[[nodiscard]] SwitchGaps read_switch_gaps(const std::filesystem::path& phases, const std::string& setup,
                                          double sleep_s);

}  // namespace paceline::calibrate
