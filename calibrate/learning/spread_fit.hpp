// How runs of one setting differ, and how noisy single evaluations are, from the runs a form was fitted on.
//
// Models:      the run effects and the evaluation noise of statistical_model.hpp.
// Equation:    variance of the final accuracy in group g = ceiling² + (penalty · D_g)² + V_g, D_g what
//              staleness takes from the mean run, V_g what speed alone does to the end (quadrature with three
//              runs): least squares over groups, weighted by degrees of freedom / expected variance², as
//              variances scatter, in ten rounds; not negative. penalty at most 1: runs that differ by more
//              than the whole penalty differ by something else, and ceiling takes it.
//              speed = sd over runs of the shift of ln(speed) that explains a run's early accuracies best
//              (the first 30 % of the workload), less what evaluation noise alone would give.
//              Evaluation noise from differences of neighbouring evaluations before the first drop of the
//              learning rate; its dependence on the form's fluctuation by a line through the logarithms with
//              a slope of 1 to 2.5, where the groups' fluctuations differ by half or more (else
//              proportional): it vanishes with them, down to the noise after the drop.
// Units:       accuracies as fractions.
// Assumptions: groups share one spread; normal effects.
// Not modelled: outliers.
// Source:      moments; weights: variance of a sample variance, 2 σ⁴ / degrees of freedom.
#pragma once

#include <span>

#include "calibrate/learning/model_fit.hpp"
#include "sim/learning/statistical_model.hpp"

namespace paceline {

[[nodiscard]] EvaluationNoise fit_noise(const FittedForm& fitted, std::span<const TracedGroup> groups);
[[nodiscard]] RunSpread fit_spread(const FittedForm& fitted, std::span<const TracedGroup> groups,
                                   const EvaluationNoise& noise);

}  // namespace paceline
