// Fits a learner to groups of recorded runs: the parameters of a learning form, how runs of one setting
// differ, and how noisy single evaluations are.
//
// Models:      every group's trace is repeated without run effects, and compared with all its runs: the mean
//              run plus the lift of the mean over runs above it, held as it is at the start of the search.
//              Run effects and evaluation noise: statistical_model.hpp.
// Equation:    minimize the mean over groups of
//                mean over evaluations before the first drop of the rate
//                    ((accuracy - predicted) / √(0.006² + e²))²
//                + mean over evaluations after it ((accuracy - predicted) / 0.006)²
//                + ((mean final accuracy - predicted) · √runs / s)²
//                + 0.15 · mean over 40 bins of the workload (ln(loss / predicted) / 0.5)²
//                + 0.02 · Σ (logit of the place between the bounds - the initial value's)²: keeps what the
//                    data does not determine
//              e is the deviation of one evaluation, from differences of neighbours after 20 % of the
//              workload; s that of final accuracies within groups, pooled, at least 0.004.
//              lift(position) = E[accuracy(z)] - accuracy(mean run), z the draw behind speed and penalty: a
//              run that learns late is further below the mean run than an early one is above. The mean run
//              stands for the node z = 0; the draw behind the ceiling enters linearly and lifts nothing.
//              variance of the final accuracy in group g = ceiling² + (penalty · D_g)² + V_g, D_g what
//              staleness takes from the mean run, V_g what speed alone does to the end (quadrature with three
//              runs): least squares over groups, weighted by degrees of freedom / expected variance², in ten
//              rounds; not negative. penalty at most 1: what differs by more is the ceiling.
//              speed = sd over runs of the shift of ln(speed) that explains a run's early accuracies best
//              (the first 30 % of the workload), less what evaluation noise alone would give.
//              Evaluation noise from differences of neighbours before the first drop; its dependence on the
//              form's fluctuation by a line through the logarithms with a slope of 1 to 2.5 where the groups'
//              fluctuations differ by half or more (else proportional), down to the noise after the drop.
// Units:       as in learning_form.hpp. Logarithmic parameters are searched by their logarithm.
// Assumptions: groups weigh the same whatever their number of runs, and share one spread, small enough for
//              three nodes; normal effects.
// Not modelled: correlation of neighbouring evaluations; the mean of losses; outliers.
// Source:      Levenberg-Marquardt (Moré 1978) as in Eigen; Gauss-Hermite: Abramowitz and Stegun, table
//              25.10; weights: variance of a sample variance, 2 σ⁴ / degrees of freedom.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "calibrate/learning/replay.hpp"
#include "sim/learning/statistical_model.hpp"

namespace paceline {

struct FitOptions {
  int evaluations = 1500;  // of the objective
  RunSpread spread{};      // known from an earlier fit, from whose values the search starts
};

struct FittedForm {
  const FormDescription* form = nullptr;
  std::vector<double> values;  // in the order of the form's parameters
  double objective = 0.0;
};

// `start`: values to start from (those of an earlier fit), or empty.
[[nodiscard]] FittedForm fit_form(const FormDescription& form, std::span<const TracedGroup> groups,
                                  const FitOptions& options, std::span<const double> start = {});

// The mean run of a plan: readings at positions (mini-batches, ascending).
[[nodiscard]] std::vector<FormReading> predict(const FittedForm& fitted, const TracedGroup& group,
                                               std::span<const double> positions,
                                               const RunEffects& effects = {});

// E[f(z)] of a standard normal z ≈ Σ weight · f(at): exact for polynomials of degree 5.
struct QuadratureNode {
  double at = 0.0;
  double weight = 0.0;
};
inline constexpr std::array<QuadratureNode, 3> gauss_hermite{
    {{-1.7320508075688772, 1.0 / 6.0}, {0.0, 2.0 / 3.0}, {1.7320508075688772, 1.0 / 6.0}}};

[[nodiscard]] EvaluationNoise fit_noise(const FittedForm& fitted, std::span<const TracedGroup> groups);
[[nodiscard]] RunSpread fit_spread(const FittedForm& fitted, std::span<const TracedGroup> groups,
                                   const EvaluationNoise& noise);

// A run's shift of ln(speed), or of ln(what gradient noise holds back), against the mean run: the one that
// explains its accuracies in a stretch best, and the variance that evaluation noise gives it; nothing where
// the shift changes nothing.
struct RunShift {
  double shift = 0.0;
  double noise_variance = 0.0;
};
[[nodiscard]] std::optional<RunShift> speed_shift(const FittedForm& fitted, const TracedGroup& group,
                                                  const TrainingRun& run, const EvaluationNoise& noise);
[[nodiscard]] std::optional<RunShift> noise_shift(const FittedForm& fitted, const TracedGroup& group,
                                                  const TrainingRun& run, const EvaluationNoise& noise);

struct FittedLearner {
  FittedForm form;
  RunSpread spread;
  EvaluationNoise noise;
};
// The form twice: the second time the mean over runs with the spread found is what is fitted to the recorded
// mean. The spread is the one found with the first, the noise that of the second.
[[nodiscard]] FittedLearner fit_learner(const FormDescription& form, std::span<const TracedGroup> groups,
                                        const FitOptions& options);

}  // namespace paceline
