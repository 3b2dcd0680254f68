#include "sim/report/recording/bottlenecks.hpp"

#include <fmt/format.h>

namespace paceline {
namespace {

constexpr double worth_naming = 0.5;

}  // namespace

std::vector<ResourceUse> resources_of(const RunResult& run) {
  std::vector<ResourceUse> resources;
  for (std::size_t s = 0; s < run.server_busy.size(); ++s)
    resources.push_back({fmt::format("server {}", s), std::nullopt, run.server_busy[s], run.server_busy[s]});
  for (const LinkUse& link : run.links)
    resources.push_back({link.name, link.bytes, link.busy, link.saturated});
  return resources;
}

std::optional<Bottleneck> find_bottleneck(const std::vector<RunResult>& runs) {
  std::vector<Bottleneck> shares;
  for (const RunResult& run : runs) {
    if (run.end_time <= Seconds{}) continue;
    for (const ResourceUse& resource : resources_of(run)) {
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
