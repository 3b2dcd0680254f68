// A user's own training loop, timed by what it says of itself.
//
// Models:      lines `step <n> <wall_s> <cpu_s> <samples>` among any others: the number of the step, its
//              wall-clock time, the processor time of the whole process, the samples of its batch.
// Equation:    of each batch size the mean m of the steps after the first `warm_up`, without those of more
//              than three times the median, which are stalls: a job's rate follows from means. Its 95 %
//              interval: ± 1.96 · m · √(s²/(n·m²) + v), s the deviation of n steps, v the variance that
//              spells of the machine leave to a mean over so long (step_variation.hpp).
// Units:       seconds, samples.
// Assumptions: steps come in order, one process says them; each says its own time, not that since the start.
// Not modelled: spells that step_variation.hpp cannot tell, longer than a quarter of the log: they make the
//              interval too narrow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/logs/step_variation.hpp"
#include "sim/base/diagnostic.hpp"

namespace paceline::calibrate {

struct OwnStep {
  std::int64_t step = 0;
  double wall_s = 0.0;
  double processor_s = 0.0;
  std::int64_t samples = 1;
};

// Nothing for a line that does not begin with the word `step`. Throws UserError at the place of what is
// wrong in one that does.
[[nodiscard]] std::optional<OwnStep> parse_own_step(const std::string& line, const std::string& source,
                                                    int line_number);

struct MeasuredMean {
  double seconds = 0.0;
  double half_width_s = 0.0;  // of its 95 % interval
};

struct OwnBatchTime {
  std::int64_t batch = 1;
  std::size_t steps = 0;  // after warm-up
  MeasuredMean wall;
  MeasuredMean processor;
};

inline constexpr std::size_t fewest_own_steps = 10;  // of each batch size, after warm-up

// By ascending batch; sizes with too few steps are left out, and named. `source` is for messages. Throws
// UserError when no size has enough steps, or times grow as if they were counted from the start.
struct OwnTimes {
  std::vector<OwnBatchTime> batches;
  std::vector<std::string> left_out;
};
[[nodiscard]] OwnTimes own_times(const std::vector<OwnStep>& steps, std::size_t warm_up,
                                 const std::string& source);

// How its steps vary after warm-up: batch sizes are series of their own, on the clock of all steps together.
// Nothing when no batch size has enough steps.
[[nodiscard]] std::optional<StepVariation> variation_of(const std::vector<OwnStep>& steps,
                                                        std::size_t warm_up);

// Of one copy of a loop: its steps, and when each line was read, by a clock of all copies.
struct ReadSteps {
  std::vector<OwnStep> steps;
  std::vector<double> read_s;
};
// Mean processor time of a sample while all copies computed, over their steps after warm-up: what caches and
// memory cost that they share. Turns on a core are not in it, and hardly in the wall-clock time of steps: a
// kernel likes to hand the core on between two of them. Copies begin when their frameworks have started, and
// may say their steps as they make them or all in the end: step i ended at min over j >= i of
// read_j - Σ wall_k, i < k <= j. Throws UserError when less than half of a copy's steps, or too few, were
// made at once.
[[nodiscard]] double mean_processor_at_once(const std::vector<ReadSteps>& copies, std::size_t warm_up,
                                            const std::string& source);

// Mean processor time of a sample over the steps after warm-up. Throws UserError when there are too few.
[[nodiscard]] double mean_processor_per_sample(const std::vector<OwnStep>& steps, std::size_t warm_up,
                                               const std::string& source);

}  // namespace paceline::calibrate
