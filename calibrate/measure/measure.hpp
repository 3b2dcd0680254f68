// Measuring in child processes: every process is a fresh start of LibTorch, as every training run is.
//
// Models:      for each pass over all points, for each core count one process that measures every batch in
//              turn. Passes follow one another, so slow drift of the machine meets every point alike; odd
//              passes visit the batches from large to small. With a budget, passes go on after the planned
//              ones until the widest interval of a point is narrow, or another pass would not end within it;
//              points count that saw the cores in one state (core_states.hpp), others are set aside.
// Equation:    interval: ± t(0.975, P − 1) · sd over processes of the log mean / √P (interval_half_width).
// Assumptions: a child runs on the first `cores` of Machine::core_order, with as many compute threads, under
//              compute_environment():
//              - each compute thread keeps to a core of its own: left to the system, two of them at times
//                share one for as long as a process lives, and processes differ by a factor of up to 2;
//              - threads wait for each other by spinning some microseconds, then sleep. Sleeping at once
//                costs a wake-up in every parallel loop (2-5 times the time of a small network); spinning for
//                long slows the others down tenfold as soon as something else runs;
//              - freed memory stays with the process, as under a caching allocator: otherwise one batch size
//                has two speeds, apart by a factor of up to 1.9, depending on what was freed before.
// Source:      hyperfine: warm-up, at least ten runs, interleaving.
#pragma once

#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "calibrate/measure/machine.hpp"
#include "calibrate/measure/planning.hpp"
#include "calibrate/measure/sample.hpp"

namespace paceline::calibrate {

inline constexpr double narrow_interval = 0.02;  // of a point's mean, either side
inline constexpr int most_passes = 20;

// A measuring process failed: not the user's mistake.
class MeasurementError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The widest 95 % interval of any (cores, batch) point of the samples that count, relative to its mean;
// infinite below 2 processes.
[[nodiscard]] double interval_half_width(const std::vector<Sample>& samples);

// Runs the batches 2 and 6 once or twice on the plan's fewest cores, to see what they cost.
[[nodiscard]] Probe probe(const MeasurementPlan& plan, const Machine& machine,
                          const std::string& child_program);

struct MeasureHooks {
  std::vector<Sample> kept = {};  // of an earlier, interrupted measurement: whole processes of the same plan
  std::function<void(std::span<const Sample>)> on_process = {};  // hears of the samples of each whole process
};

// `child_program` understands measure_child_flag. Shows progress on stderr. Throws MeasurementError with the
// child's own error output, and Interrupted.
[[nodiscard]] std::vector<Sample> measure(const MeasurementPlan& plan, const Machine& machine,
                                          const std::string& child_program, const MeasureHooks& hooks = {});

}  // namespace paceline::calibrate
