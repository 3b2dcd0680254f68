#include "calibrate/learning/run_mean.hpp"

#include "calibrate/learning/gauss_hermite.hpp"

namespace paceline {

std::vector<double> lift_of_runs(const FittedForm& fitted, const RunSpread& spread, const TracedGroup& group,
                                 std::span<const double> positions) {
  const std::vector<FormReading> mean = predict(fitted, group, positions);
  std::vector<double> lift(positions.size(), 0.0);
  for (const QuadratureNode& node : gauss_hermite) {
    if (node.at == 0.0) continue;  // taken as the mean run
    const std::vector<FormReading> run = predict(fitted, group, positions, run_effects(spread, 0.0, node.at));
    for (std::size_t i = 0; i < positions.size(); ++i)
      lift[i] += node.weight * (run[i].accuracy - mean[i].accuracy);
  }
  return lift;
}

}  // namespace paceline
