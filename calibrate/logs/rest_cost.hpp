// What an iteration takes longer after its worker has rested, from iterations after several rests.
//
// Models:      what others do meanwhile displaces a process's data from caches; on a virtual machine the
//              processor may have been another guest's.
// Equation:    of processor times p(T) after rests of T: p(T) - p(T0), T0 the shortest; 0 where that is less.
//              From a loop that is stopped now and then: a step was stopped where its wall-clock time exceeds
//              its processor time by more than 0.5 ms beyond the median; T is that excess. Of the n steps from
//              it to the next that was stopped, the first h = min(6, ⌊n/2⌋) take x = Σ p - h m longer, m the
//              mean of the others. Of each rest imposed the medians of T and the means of x, the tenth at
//              either end left out; a T within a third of a rest counts as that one.
// Units:       seconds.
// Assumptions: what it takes does not depend on the batch, and is over after six steps (small-cnn after 80 ms:
//              +0.9, 0.5, 0.2, 0.1, 0.05 ms), or half of those from stop to stop.
// Not modelled: others that displace more meanwhile than those that did when it was measured.
// Source:      sim/cost/fixed_costs.hpp.
#pragma once

#include <cstddef>
#include <optional>
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

// Of a loop that was stopped for these rests in turn, with a break of eight steps or more between them: by rest,
// a step without any first. Throws UserError where a rest has too few stops.
inline constexpr std::size_t fewest_stops = 10;
[[nodiscard]] std::vector<RestedIteration> rested_steps(const std::vector<OwnStep>& steps,
                                                        std::size_t warm_up,
                                                        const std::vector<Seconds>& rests,
                                                        const std::string& source);
// Of one that was stopped for this rest: what going on takes; nothing where too few stops tell.
[[nodiscard]] std::optional<Seconds> cost_of_stops(const std::vector<OwnStep>& steps, std::size_t warm_up,
                                                   Seconds rest);

// "resume: [{rest: 1 ms, time: 0.3 ms}, {rest: 4 ms, time: 0.5 ms}]"
[[nodiscard]] std::string scenario_words(const std::vector<RestCost>& costs);

}  // namespace paceline::calibrate
