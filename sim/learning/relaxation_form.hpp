// The relaxation form: progress, heat and a memory of the early phase.
//
// Models:      (1) progress: what is left to learn falls with samples, more slowly when gradients are stale;
//              (2) heat: at a high learning rate noise holds loss and accuracy away from what the progress allows,
//              staleness raises it without bound towards a limit, a drop of the learning rate removes it, and it anneals:
//              what noise costs shrinks with the samples trained on, stale or not, as flatter places are found;
//              (3) memory: staleness met while there is much left to learn lowers the accuracy reached in the end, for
//              good; staleness met later does not.
// Equation:    with n samples in an update, t = learning_rate / (n · (1 - momentum)) / t_ref its temperature, x the
//              exposure of its gradients (learning_form.hpp; mean by samples), x̄ its moving average over 100 updates:
//                u    += n · speed · t^rate_exponent · (1 + n_ref/b_noise)/(1 + n/b_noise) / (1 + slowing · x)
//                        / progress_samples
//                U    += the same without slowing: work done at a learning rate
//                S     = exp(-u^onset_exponent)                            what is left to learn
//                D    += damage · x · (decrease of S^memory_exponent)      the memory
//                f     relaxes to  floor_loss · t^floor_exponent / (1 - x̄ / exposure_limit)
//                g     relaxes to  heat_accuracy · t^cooling_exponent / (1 - x̄ / exposure_limit)^heat_exponent
//                heat  = g · exp(-annealing · U) · (1 - S)
//                h     relaxes to  heat_accuracy · t^cooling_exponent / (1 - x̄ / exposure_limit)
//                fluctuation = h · exp(-annealing · U) · (1 - S)           scale of the evaluation noise
//                loss  = ln(classes) · S^loss_exponent + f
//                accuracy = 1/classes + (ceiling - D - 1/classes) · (1 - S) - heat
//              When x̄ passes exposure_limit the job diverges: loss grows to infinity.
// Units:       progress u and work U in units of progress_samples; loss in nats; accuracy and heat as fractions.
// Assumptions: t_ref and n_ref are those of the runs fitted; f, g and h relax within relaxation_samples. Single evaluations
//              scatter as the variance of the parameters does, which grows towards the limit like the loss it costs (f).
// Not modelled: recovery from divergence; overfitting; a learning rate too high without staleness.
// Source:      observations 1-12 of reference/convergence.md, section 5; floor and limit: delayed noisy quadratic
//              model (section 3 there); batch term: McCandlish et al. 2018.
#pragma once

#include "sim/learning/learning_form.hpp"

namespace paceline {

[[nodiscard]] const FormDescription& relaxation_form();

}  // namespace paceline
