// Checks of the workers' memory.
#include <algorithm>

#include <fmt/format.h>

#include "sim/study/checks_before_running.hpp"

namespace paceline {
namespace {

std::int64_t checked_cap(const LoadedScenario& loaded, const Profile& profile, std::uint64_t worker,
                         std::int64_t smallest) {
  const std::string key = fmt::format("cluster.workers.{}.memory", worker);
  const Worker& of_worker = loaded.scenario.cluster.workers[worker];
  if (!profile.memory)
    fail_at(loaded, key, fmt::format("{} has no memory model, so no batch can be checked", profile.path),
            "calibrate again with this version, or leave out `memory`");
  const std::int64_t cap = *largest_batch_in_memory(of_worker, profile);
  if (cap < smallest)
    fail_at(loaded, key,
            fmt::format(
                "it holds {} samples, and the smallest batch is {} ({:.3g} GB + {:.3g} GB per sample)", cap,
                smallest, profile.memory->base.value() / 1e9, profile.memory->per_sample.value() / 1e9),
            "give the worker more memory, or lower `batching.minimum`");
  return cap;
}

}  // namespace

std::optional<std::int64_t> largest_batch_in_memory(const Worker& worker, const Profile& profile) {
  if (!worker.memory || !profile.memory) return std::nullopt;
  return profile.memory->largest_batch(*worker.memory);
}

std::vector<std::string> check_memory(const LoadedScenario& loaded, const Profiles& profiles) {
  const Scenario& scenario = loaded.scenario;
  const BatchingConfig& batching = scenario.batching;
  const BatchControllerChoice& controller = batching.controller;
  const bool is_uniform = !controller->is_bounded;
  const std::int64_t most = possible_batches(batching).largest;
  const std::int64_t smallest = is_uniform ? 1 : batching.minimum_samples;
  const auto workers = static_cast<std::int64_t>(scenario.cluster.workers.size());
  std::vector<std::string> notes;
  std::int64_t held = 0;
  for (std::uint64_t w = 0; w < scenario.cluster.workers.size(); ++w) {
    if (!scenario.cluster.workers[w].memory) {
      held += most;
      continue;
    }
    const std::int64_t cap = checked_cap(loaded, profiles.of(w), w, smallest);
    held += std::min(most, cap);
    if (cap < most)
      notes.push_back(fmt::format(
          "memory: {} holds at most {} samples, less than {} ({}): what that cuts is in batches.csv",
          name_of(scenario.cluster.workers, w), cap, is_uniform ? "its uniform batch" : "`batching.maximum`",
          most));
  }
  if (controller->keeps_total && !is_uniform && held < workers * batching.initial_samples)
    fail_at(loaded, "batching.controller",
            fmt::format("the workers' memory and `maximum` hold {} samples together, and `{}` keeps the "
                        "global batch at {}",
                        held, controller->word, workers * batching.initial_samples),
            "lower `batching.initial`, or give workers more memory");
  return notes;
}

}  // namespace paceline
