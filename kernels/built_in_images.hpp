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
//              seeds, mean accuracy (sd); built_in_task_report (tests/kernels) prints it:
//                            8 workers, learning rate 0.02            4 workers, learning rate 0.01
//                gradients   BSP updates  BSP          ASP            BSP updates  BSP          ASP
//                  800         100        0.110 (.012) 0.116 (.017)     200        0.116 (.012) 0.240 (.068)
//                 1600         200        0.170 (.039) 0.117 (.022)     400        0.241 (.062) 0.608 (.099)
//                 2400         300        0.454 (.106) 0.120 (.021)     600        0.557 (.076) 0.739 (.042)
//                 3200         400        0.667 (.050) 0.124 (.049)     800        0.700 (.036) 0.779 (.018)
//                 4800         600        0.739 (.022) 0.114 (.030)    1200        0.752 (.029) 0.791 (.021)
//                 9600        1200        0.774 (.023) 0.117 (.032)
//              At 8 workers and 0.02, BSP ends at 0.774 and needs 320-440 updates to 80 % of it; ASP, seven updates
//              stale on average, does not learn at this rate. At 0.01 it does, to 0.653 (sd 0.043) after 10000
//              gradients where BSP has 0.734 (0.024). The rate matters: at 0.05 and 0.1 (3 seeds) BSP
//              takes 190-260 and 140-200 updates to 80 % of 0.81 and 0.82, and ASP does not learn. One gradient
//              takes 0.6-1.0 ms (median, by load of the machine; AMD EPYC, 1 thread).
#pragma once

#include <cstdint>

#include "kernels/dataset.hpp"

namespace paceline::kernels {

[[nodiscard]] TrainAndTest generate_built_in_images(std::int64_t train_samples, std::int64_t test_samples);

}  // namespace paceline::kernels
