#include "calibrate/fit/held_out.hpp"

#include <algorithm>
#include <cmath>

namespace paceline::calibrate {
namespace {

constexpr std::size_t most_batches = 4;

std::int64_t between(std::int64_t low, std::int64_t high) {
  return std::llround(std::sqrt(static_cast<double>(low) * static_cast<double>(high)));
}

}  // namespace

std::vector<std::int64_t> held_out_batches(const std::vector<std::int64_t>& measured) {
  std::vector<std::int64_t> candidates;
  for (std::size_t i = 0; i + 1 < measured.size(); ++i) {
    const std::int64_t batch = between(measured[i], measured[i + 1]);
    if (batch != measured[i] && batch != measured[i + 1]) candidates.push_back(batch);
  }
  if (candidates.size() <= most_batches) return candidates;
  std::vector<std::int64_t> spread;
  for (std::size_t i = 0; i < most_batches; ++i)
    spread.push_back(candidates[i * (candidates.size() - 1) / (most_batches - 1)]);
  return spread;
}

std::vector<int> held_out_cores(const Profile& profile, int machine_cores) {
  std::vector<int> counts;
  for (const ComputeFit& fit : profile.compute)
    if (fit.cores <= machine_cores) counts.push_back(fit.cores);
  if (!profile.core_scaling || !profile.core_scaling->leave_one_out_error) return counts;
  for (std::size_t i = 0; i + 1 < counts.size(); ++i) {
    const auto middle = static_cast<int>(between(counts[i], counts[i + 1]));
    if (middle == counts[i] || middle == counts[i + 1]) continue;
    counts.insert(counts.begin() + static_cast<std::ptrdiff_t>(i) + 1, middle);
    break;
  }
  return counts;
}

bool holds(const ErrorSummary& summary) {
  return summary.mean_absolute <= holds_mean_error && summary.percentile_95 <= holds_percentile_95;
}

}  // namespace paceline::calibrate
