// What a scenario says about batch sizes. The rules themselves: batch_controller.hpp.
#pragma once

#include <cstdint>

namespace paceline {

enum class BatchControllerKind { uniform, static_by_throughput, dynamic };
// How the gradients of one update are combined: by samples (each sample counts the same) or equally.
enum class GradientWeighting { by_batch, equal };

struct BatchingConfig {
  BatchControllerKind controller = BatchControllerKind::uniform;
  std::int64_t initial_samples = 32;  // per worker; the global batch is this times the number of workers
  std::int64_t minimum_samples = 1;   // bounds hold for static and dynamic batches
  std::int64_t maximum_samples = 1024;
  double dead_band = 0.05;  // dynamic: act only when some batch would change by more than this fraction
  double smoothing = 0.2;   // dynamic: weight of the newest iteration time in the moving average
  std::int64_t adjust_every_iterations = 10;  // dynamic: of every worker, between two looks at the times
  GradientWeighting weighting = GradientWeighting::by_batch;
};

}  // namespace paceline
