// Generated labelled images: a task that needs no download, and that is neither trivial nor hopeless.
//
// Models:      ten classes of 3x32x32 images. Class k shows a wave pattern at the angle 18°·k.
// Equation:    byte(c, x, y) = background_c + colour_c · A · exp(−r²/2s²) · sin(2π/λ · u(x, y) + φ) + noise,
//              r = distance to the centre, u = coordinate along the angle 18°·k + N(0, 3°). Random for every
//              image: the centre (8-24 px on both axes), wavelength λ (5-9 px), phase φ, amplitude A (15-45),
//              direction in colour space, background N(127.5, 20). s = 8 px. noise: triangular on ±65, each pixel
//              and channel. Rounded and clamped to 0-255. Neither one pixel nor the mean colour tells the class.
// Units:       bytes; angles in degrees.
// Assumptions: one fixed dataset, like a downloaded one: sample i of the training or test part is always the
//              same image, whatever the seed, the replication and the number of samples asked for.
// Not modelled: natural images. Because the angles scatter, a perfect observer would be right in 99.7 % of cases
//              (|N(0, 3°)| < 9°); noise and few training samples hold a small network well below that.
//
// Measured:    small-cnn, 5000 training and 1000 test samples, batch 32, momentum 0.9, weight decay 1e-3, 10
//              seeds, mean accuracy (sd); built_in_task_report (tests/kernels) prints it, with the coordinator and the
//              ideal executor on equal workers:
//                            8 workers, learning rate 0.02            4 workers, learning rate 0.01
//                gradients   BSP updates  BSP          ASP            BSP updates  BSP          ASP
//                  800         100        0.110 (.012) 0.131 (.042)     200        0.116 (.015) 0.245 (.067)
//                 1600         200        0.170 (.039) 0.115 (.012)     400        0.241 (.062) 0.624 (.063)
//                 2400         300        0.454 (.106) 0.122 (.040)     600        0.557 (.076) 0.740 (.041)
//                 3200         400        0.667 (.050) 0.102 (.011)     800        0.700 (.036) 0.773 (.037)
//                 4800         600        0.739 (.022) 0.105 (.008)    1200        0.752 (.029) 0.787 (.034)
//                 9600        1200        0.774 (.023) 0.107 (.007)
//              At 8 workers and 0.02, BSP ends at 0.774 and needs 320-440 updates to 80 % of it; ASP, seven updates
//              stale on average, does not learn at this rate. At 0.01 it does, to 0.666 (sd 0.039) after 10000
//              gradients where BSP has 0.734 (0.024).
#pragma once

#include <cstdint>

#include "kernels/data/dataset.hpp"

namespace paceline::kernels {

[[nodiscard]] TrainAndTest generate_built_in_images(std::int64_t train_samples, std::int64_t test_samples);

}  // namespace paceline::kernels
