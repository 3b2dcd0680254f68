// The variables of the recorded residual networks, in order of creation: what whole variables placed in turn
// depend on.
//
// Models:      a residual network for images of 32x32: a first convolution, three groups of n blocks of two
//              3x3 convolutions with 32, 64 and 128 filters, a linear layer.
// Equation:    counter of steps; 7x7 convolution of 3 channels to 16, normalization; each block:
//              normalization of what comes in, (first of its group: 1x1 convolution to its filters,
//              normalization,) 3x3 convolution, normalization, 3x3 convolution; weights and shifts of the
//              linear layer. A normalization has scales, shifts and two running averages.
// Units:       bytes; 0 of what is not trained, which takes its turn all the same.
// Assumptions: the order is that of the layers. Parameters and tensors are those recorded for 2 and 5 blocks
//              (693,818 in 50; 1,857,722 in 104), which no other layers tried gave.
// Not modelled: networks with branches.
// Source:      the residual networks of Tensor2Tensor 1.9; He et al., arXiv 1603.05027.
#pragma once

#include <vector>

#include "calibrate/asynchronous/records.hpp"
#include "sim/base/quantity.hpp"

namespace paceline {

// Empty where the network is none of these.
[[nodiscard]] std::vector<Bytes> variables_of(const NetworkSize& network);

}  // namespace paceline
