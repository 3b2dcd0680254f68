// What an iteration takes longer after its worker has rested, from iterations after several rests.
//
// Models:      what others do meanwhile displaces a process's data from caches; on a virtual machine the
//              processor may have been another guest's.
// Equation:    of processor times p(T) after rests of T: p(T) - p(T0), T0 the shortest; 0 where that is less.
//              From a loop that is stopped for rests imposed: a step was stopped where its wall-clock time
//              exceeds its processor time, beyond the median of that, by T within a third of one of them.
//              Where it and those after it are twelve or more until the next, the first six take x = Σ p -
//              6 m longer, m the mean of the others. Of each rest the medians of T and the means of x, the
//              tenth at either end left out.
// Units:       seconds of the processor.
// Assumptions: what it takes does not depend on the batch, and is over after six steps (small-cnn after
//              80 ms: 0.9, 0.6, 0.2, 0.1, 0.05 ms). A worker that rests again within those steps is predicted
//              to take all of it each time, which is more than it does.
// Not modelled: others that displace more meanwhile than those that did when it was measured. A stop falls
//              into longer steps more often than into short ones: of m (1 + cv²) in the mean, not m.
// Source:      sim/cost/fixed_costs.hpp.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "calibrate/logs/own_steps.hpp"
#include "sim/cost/fixed_costs.hpp"

namespace paceline::calibrate {

struct RestedIteration {
  Seconds rest;
  Seconds processor_time;
  std::size_t count = 0;  // of stops, where it is a mean over these
};

// What each costs more than the first, which costs nothing.
[[nodiscard]] std::vector<RestCost> resume_costs(const std::vector<RestedIteration>& iterations);

// Of a loop on so many cores that was stopped for these rests in turn: by rest, a step without any first,
// with the time of each core. Throws UserError where a rest has too few stops with steps enough after them.
inline constexpr std::size_t fewest_stops = 10;
inline constexpr std::size_t fewest_steps_after_stop = 12;
[[nodiscard]] std::vector<RestedIteration> rested_steps(const std::vector<OwnStep>& steps,
                                                        std::size_t warm_up,
                                                        const std::vector<Seconds>& rests, int cores,
                                                        const std::string& source);

// "resume: [{rest: 1 ms, time: 0.3 ms}, {rest: 4 ms, time: 0.5 ms}]"
[[nodiscard]] std::string scenario_words(const std::vector<RestCost>& costs);

}  // namespace paceline::calibrate
