// Generated labelled images: a task that needs no download, and that is neither trivial nor hopeless.
//
// Models:      ten classes of 3x32x32 images. Class k shows a wave pattern at the angle 18°·k.
// Equation:    byte(c, x, y) = background_c + colour_c · A · exp(−r²/2s²) · sin(2π/λ · u(x, y) + φ) + noise,
//              r = distance to the centre, u = coordinate along the angle 18°·k + N(0, 3°). Random for every
//              image: the centre (8-24 px on both axes), wavelength λ (5-9 px), phase φ, amplitude A (15-45),
//              direction in colour space, background N(127.5, 20). s = 8 px. noise: triangular on ±65, each
//              pixel and channel. Rounded and clamped to 0-255. Neither one pixel nor the mean colour tells
//              the class.
// Units:       bytes; angles in degrees.
// Assumptions: one fixed dataset, like a downloaded one: sample i of the training or test part is always the
//              same image, whatever the seed, the replication and the number of samples asked for.
// Not modelled: natural images. Because the angles scatter, a perfect observer would be right in 99.7 % of
//              cases (|N(0, 3°)| < 9°); noise and few training samples hold a small network well below that:
//              tests/kernels/built_in_task_report.cpp prints how BSP and ASP do.
#pragma once

#include <cstdint>

#include "kernels/data/dataset.hpp"

namespace paceline::kernels {

[[nodiscard]] TrainAndTest generate_built_in_images(std::int64_t train_samples, std::int64_t test_samples);

}  // namespace paceline::kernels
