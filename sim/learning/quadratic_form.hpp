// The noisy quadratic model with delayed gradients and heavy-ball momentum, followed direction by direction.
//
// Models:      loss as a sum over eigen-directions; each gradient is that of the version it was read from, plus noise.
// Equation:    for direction i with curvature h_i = sharpness · i^(-decay), i = 1 … 16
//                g_i = h_i · theta_i(version read) + sqrt(noise · h_i / samples) · N(0, 1)
//                v_i = momentum · v_i + weight · g_i,   theta_i -= learning_rate · v_i
//              loss = ½ Σ h_i · theta_i²; it starts at ln(classes), shared equally by the directions
//              accuracy = 1/classes + (ceiling - 1/classes) · (1 - (loss / ln(classes))^accuracy_exponent)
//              Stable without momentum if learning_rate · h < 2·sin(pi / (2·(2·tau + 1))).
// Units:       loss in nats; theta in arbitrary units; noise is the variance of one sample's gradient over h.
// Assumptions: constant curvature; versions older than the last 1024 are read as the oldest of those.
// Not modelled: memory of the early phase, accuracy that loss does not determine, weight decay.
// Source:      G. Zhang et al., NeurIPS 2019 (arXiv 1907.04164); delay: reference/convergence.md, section 3.
#pragma once

#include "sim/learning/learning_form.hpp"

namespace paceline {

[[nodiscard]] const FormDescription& quadratic_form();

}  // namespace paceline
