#include "sim/report/recording/bottlenecks.hpp"

namespace paceline {
namespace {

constexpr double worth_naming = 0.5;

}  // namespace

std::optional<Bottleneck> find_bottleneck(const std::vector<RunResult>& runs) {
  std::vector<Bottleneck> shares;
  for (const RunResult& run : runs) {
    if (run.end_time <= Seconds{}) continue;
    for (const ResourceUse& resource : run.resources) {
      auto known = shares.begin();
      while (known != shares.end() && known->resource != resource.name) ++known;
      if (known == shares.end()) known = shares.insert(known, {resource.name, 0.0});
      known->share += resource.saturated / run.end_time / static_cast<double>(runs.size());
    }
  }
  std::optional<Bottleneck> worst;
  for (const Bottleneck& candidate : shares)
    if (candidate.share >= worth_naming && (!worst || candidate.share > worst->share)) worst = candidate;
  return worst;
}

}  // namespace paceline
