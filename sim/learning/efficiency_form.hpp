// Statistical efficiency by the gradient noise scale, with samples in flight counted as a larger batch.
//
// Models:      progress per sample falls with the batch it shares its parameters with; what is left falls
//              exponentially in the progress.
// Equation:    for each gradient, M = samples of the update · (1 + tau): all samples computed from parameters that do
//              not yet know of each other
//                p += samples_i · (noise_scale + reference_samples) / (noise_scale + M),   S = exp(-p / progress_samples)
//              accuracy = 1/classes + (ceiling - heat · t^heat_exponent - 1/classes) · (1 - S),
//              loss = ln(classes) · S + floor · t^heat_exponent,  t = temperature relative to the runs fitted
// Units:       samples.
// Assumptions: a constant noise scale; the learning rate acts only through what noise holds back.
// Not modelled: memory, order of phases, divergence.
// Source:      Pollux, Qiao et al., OSDI 2021 (efficiency (phi + M0)/(phi + M)); McCandlish et al. 2018.
#pragma once

#include "sim/learning/learning_form.hpp"

namespace paceline {

[[nodiscard]] const FormDescription& efficiency_form();

}  // namespace paceline
