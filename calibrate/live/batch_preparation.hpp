// What a worker's first iteration with a batch takes longer than later ones: libraries choose and compile
// kernels for shapes that they have not met.
//
// Models:      one worker process of a live job, with its network and data, that is given one batch after the
//              other, and all of them once more: in a few passes, each of a new process.
// Equation:    the median of first(b) - again(b) over all batches and passes, at least 0; first(b): the first
//              iteration with b samples, again(b): the first one when its turn comes once more, so that both
//              follow another batch and a message.
// Units:       seconds of wall-clock time, samples.
// Assumptions: it takes as long for any batch, and nothing the second time.
// Not modelled: libraries that forget what they prepared; other workers that compute meanwhile.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "sim/base/quantity.hpp"
#include "sim/learning/network_learner.hpp"
#include "sim/policy/batching/batch_controller.hpp"

namespace paceline::live {

struct FirstIteration {
  std::int64_t batch_samples = 0;
  Seconds anew;
  Seconds again;
};

// Spread over those at which iterations are timed (iteration_timing.hpp), without the initial one.
[[nodiscard]] std::vector<std::int64_t> batches_to_prepare(const BatchingConfig& batching);

// `first_batch`: what each process computes with before, so that its own start is over. Throws what
// RepeatingWorkers throws.
[[nodiscard]] std::vector<FirstIteration> time_first_iterations(
    const std::filesystem::path& program, NetworkLearnerConfig learner, std::int64_t first_batch,
    const std::vector<std::int64_t>& batches,
    const std::function<void(double share_done)>& progress = [](double) {});

[[nodiscard]] Seconds preparation_of(const std::vector<FirstIteration>& iterations);
// "batching: {preparation: 1.2 ms}"
[[nodiscard]] std::string preparation_words(Seconds preparation);

}  // namespace paceline::live
