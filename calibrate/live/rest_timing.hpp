// What an iteration takes longer after its worker has rested, measured beside workers that do not.
//
// Models:      live ASP jobs in which one worker computes at several speeds below 1: it rests after each
//              gradient in proportion to its processor time, and for what lies between two iterations. The
//              others, as many as have cores, compute without a break: two workers of a job do not rest as
//              one does that has all cores to wake up on.
// Equation:    of a job at speed v with iterations of W: processor time v · W, after a rest of
//              (1 - v) · W + B, B from the end of an iteration to the begin of the next. Of three passes the
//              medians.
// Units:       seconds.
// Assumptions: what displaces the worker's data while it rests here does so in a job, and nothing more.
// Not modelled: batches other than the initial one. They hardly differ: 0.5, 0.6 and 0.4 ms of small-cnn at
//              8, 32 and 128 samples.
// Source:      calibrate/logs/rest_cost.hpp for what is made of it.
#pragma once

#include <functional>
#include <vector>

#include "calibrate/live/live_run.hpp"
#include "calibrate/logs/rest_cost.hpp"

namespace paceline::live {

// Of how many workers in all: of a job with so many of them, on so many cores.
[[nodiscard]] std::size_t workers_beside_rests(std::size_t workers, int cores);

// Of the scenario's first worker, all without quotas, at the initial batch. Throws what time_alone throws.
[[nodiscard]] std::vector<calibrate::RestedIteration> time_rests(
    const Scenario& scenario, const Profiles& profiles, const LiveOptions& options,
    const std::function<void(double share_done)>& progress = [](double) {});

}  // namespace paceline::live
