// A plain power law with a staleness penalty: the simplest curve that knows staleness at all.
//
// Models:      loss and error fall as a power of the effective samples; a stale gradient counts less.
// Equation:    E += Σ samples_i / (1 + penalty · tau_i)
//              S = (1 + E / scale)^(-exponent)
//              accuracy = 1/classes + (ceiling - heat · t^heat_exponent - 1/classes) · (1 - S),
//              loss = ln(classes) · S + floor · t^heat_exponent,  t = temperature relative to the runs fitted
// Units:       E in samples, tau in updates.
// Assumptions: the learning rate acts only through what noise holds back.
// Not modelled: memory, order of phases, divergence.
// Source:      Optimus, Peng et al., EuroSys 2018 (curve); penalty: Dai et al. 2019 (arXiv 1810.03264), its sign.
#pragma once

#include "sim/learning/learning_form.hpp"

namespace paceline {

[[nodiscard]] const FormDescription& power_law_form();

}  // namespace paceline
