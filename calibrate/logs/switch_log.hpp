// What a switch between two phases cost, from recorded phases.
//
// Models:      a table of phases (columns setup, gap_before_s) in which the time between the end of one phase
//              and the start of the next was recorded, a fixed sleep of the driver included.
// Equation:    cost of a switch = median gap − sleep.
// Units:       seconds.
// Assumptions: the sleep is known (it cannot be seen in the gaps) and the same everywhere. Gaps of one worker
//              count do not tell how much of them is per worker.
// Not modelled: phases whose start-up lies inside the recorded phase.
// Source:      recorded runs of Sync-Switch, ICDCS 2021 (column gap_before_s).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace paceline::calibrate {

struct SwitchGaps {
  std::vector<double> gaps_s;  // in the order of the file; may be empty
  double sleep_s = 0.0;

  [[nodiscard]] double cost_s() const;  // at least one gap
};

// The gaps of one setup. Throws UserError for another layout, and when the sleep is longer than a gap.
[[nodiscard]] SwitchGaps read_switch_gaps(const std::filesystem::path& phases, const std::string& setup,
                                          double sleep_s);

}  // namespace paceline::calibrate
