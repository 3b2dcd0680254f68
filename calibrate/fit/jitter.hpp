// How much iteration times vary: from run to run, from process to process, and from iteration to iteration.
//
// Models:      log t[p,c,b,i] = m[c,b] + R[p] + P[p,c] + d[p,c,b] + e[p,c,b,i] for pass p over all points
//              (one process for each core count c), batch b, iteration i: the run R is what the machine was
//              like during the pass, P the process, d a disturbance of one measured stretch, e iteration
//              noise.
// Equation:    nested analysis of variance of z = y − mean over p, y the logarithms of the stretches'
//              medians, for P passes, C core counts, B batches:
//                MS_run = C·B Σ z̄_p² / (P−1),  MS_process = B Σ (z̄_pc − z̄_p)² / ((P−1)(C−1)),
//                MS_rest = Σ (z − z̄_pc)² / ((P−1)·C·(B−1)),
//                σ²_process = (MS_process − MS_rest)/B,  σ²_run = (MS_run − MS_process)/(C·B).
//              One core count: run and process cannot be told apart; σ²_run = (MS_run − MS_rest)/B stands for
//              both.
//              A variance that is not above 0 is not known: absent, never 0. The 95 % limit of the run's is
//              (MS_run / F_0.05 − MS_below)/(C·B), F the quantile of Fisher's distribution for their degrees
//              of freedom.
//              iteration: σ = 1.4826 · median |log t − median of its stretch| · √(n/(n−1)), pooled;
//              coefficient of variation = √(exp(σ²) − 1).
//              shape: the factor t / mean of its stretch (stalls left out) is log-normal, or a histogram of
//              16 equally likely bins where that makes the iterations of a left-out pass more likely, by 0.05
//              nats each on average; both mixed with 1 % of a log-normal ten times as wide, so that no value
//              is impossible and none decides alone.
// Units:       coefficients of variation: sd / mean of the time. Where stretches were set aside
//              (core_states.hpp), C·B and B are the means of what passes and processes have, and the degrees
//              of freedom are counted: an approximation.
// Assumptions: every pass measured the same points, or those that lack are not the slow or the fast ones. The
//              median absolute deviation ignores rare disturbances (up to half of the iterations), so a
//              machine that is disturbed now and then looks as even as it mostly is.
// Not modelled: correlation between successive iterations; variation over days and between machines of one
//              kind, which is larger than between passes a minute apart.
// Source:      Hampel 1974 (median absolute deviation); Searle, "Variance components", 1992.
#pragma once

#include <vector>

#include "calibrate/measure/sample.hpp"
#include "sim/cost/profile.hpp"

namespace paceline::calibrate {

// Fewer cannot tell runs apart: the run coefficient of variation is then left out.
inline constexpr int minimum_processes_for_run_cv = 3;

// Uses the forward_backward samples.
[[nodiscard]] JitterFit fit_jitter(std::vector<Sample> samples);

}  // namespace paceline::calibrate
