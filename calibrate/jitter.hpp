// How much iteration times vary, within a process and from process to process.
//
// Models:      log t[p,c,b,i] = m[c,b] + r[p,c] + d[p,c,b] + e[p,c,b,i] for process p, cores c, batch b, iteration i:
//              a run effect r, a disturbance d of one measured stretch, and iteration noise e.
// Equation:    iteration: σ = 1.4826 · median |log t − median of its (p,c,b) group| · √(n/(n−1)), pooled over groups;
//              run:       two-way analysis of variance of the group medians y[p,b] for each c, with P processes and
//                         B batches; MS_run = B/(P−1) Σ_p (ȳ_p − ȳ)²,
//                         MS_rest = Σ (y − ȳ_p − ȳ_b + ȳ)² / ((P−1)(B−1)), σ² = max(0, (MS_run − MS_rest)/B),
//                         averaged over c before cutting at 0: noise within the processes is subtracted;
//              coefficient of variation = √(exp(σ²) − 1).
// Units:       none: sd / mean of the time.
// Assumptions: normal logarithms. The median absolute deviation ignores rare disturbances (up to half of the
//              iterations), so a machine that is disturbed now and then looks as even as it mostly is.
// Not modelled: correlation between successive iterations; variation between machines of one kind.
// Source:      Hampel 1974 (median absolute deviation); Searle, "Variance components".
#pragma once

#include <vector>

#include "calibrate/sample.hpp"
#include "sim/cost/profile.hpp"

namespace paceline::calibrate {

// Fewer cannot tell runs apart: the run coefficient of variation is then left out.
inline constexpr int minimum_processes_for_run_cv = 3;

// Uses the forward_backward samples; every (cores, batch) point was measured by the same number of processes.
[[nodiscard]] JitterFit fit_jitter(const std::vector<Sample>& samples);

}  // namespace paceline::calibrate
