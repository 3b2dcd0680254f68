// Recorded step times: any CSV that says when which step was reached.
//
// Models:      records (time, step) of one phase of one run. Between two records the job made steps at its
//              usual rate, or paused as well (checkpoint, evaluation, start-up).
// Equation:    seconds per step of the i-th interval r_i = Δt_i / Δstep_i. Pauses only lengthen intervals:
//              where the sorted r_i have a gap of 3 % with at least a tenth of them (and 3) below, those
//              above it hold a pause. r = mean of the shortest half of the others (the half that lies closest
//              together: right as long as fewer than half of them still hold a pause); an interval holds a
//              pause where r_i > r · (1 + max(2 %, 4 σ)), σ half the relative width of that half;
//              step seconds = Σ Δt / Σ Δstep over the other intervals; pause = Δt − Δstep · step seconds.
// Units:       seconds, steps.
// Assumptions: steps ascend (a restart begins another log); pauses are longer than 2 % of an interval.
// Not modelled: rates that drift within a run.
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

}  // namespace paceline::calibrate
