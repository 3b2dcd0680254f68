#include "sim/fit/run_mean.hpp"

#include <array>
#include <cmath>

namespace paceline {
namespace {

constexpr std::array nodes{-1.7320508075688772, 1.7320508075688772};  // ±√3
constexpr double weight = 1.0 / 6.0;                                  // of each; the mean run has the rest

}  // namespace

std::vector<double> lift_of_runs(const FittedForm& fitted, const RunSpread& spread, const TracedGroup& group,
                                 std::span<const double> positions) {
  const std::vector<FormReading> mean = predict(fitted, group, positions);
  std::vector<double> lift(positions.size(), 0.0);
  for (const double z2 : nodes) {
    const std::vector<FormReading> run = predict(fitted, group, positions, run_effects(spread, 0.0, z2));
    for (std::size_t i = 0; i < positions.size(); ++i)
      lift[i] += weight * (run[i].accuracy - mean[i].accuracy);
  }
  return lift;
}

}  // namespace paceline
