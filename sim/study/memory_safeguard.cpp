// Checks of the workers' memory, and of this machine's for a network that trains.
#include <algorithm>

#include <fmt/format.h>

#include "sim/study/checks_before_running.hpp"
#include "sim/study/pool/memory.hpp"

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

std::int64_t parameter_sets(const Scenario& scenario) {
  const OptimizerConfig& optimizer = scenario.job.optimizer;
  const bool is_adamw = optimizer.kind == OptimizerKind::adamw;
  const auto some_phase = [&](auto condition) {
    return std::ranges::any_of(scenario.synchronization,
                               [&](const PhaseEntry& phase) { return condition(phase.config); });
  };
  const bool is_local = some_phase([](const PhaseConfig& phase) { return phase.local.has_value(); });
  const bool steps_alone =
      is_local || optimizer.momentum_at == MomentumPlace::workers ||
      some_phase([](const PhaseConfig& phase) { return phase.exchange == Exchange::parameters; });
  const std::int64_t moments = is_adamw ? 2 : 1;
  // Its copy and its gradient; what its optimizer remembers; where its stretch began.
  const std::int64_t of_worker = 2 + (steps_alone ? moments : 0) + (is_local ? 1 : 0);
  // The parameters, a sum, the servers' optimizer, LibTorch's parameters and gradient; the outer velocity and
  // the buffer.
  const std::int64_t shared = 4 + moments + (is_local ? 2 : 0);
  return static_cast<std::int64_t>(scenario.cluster.workers.size()) * of_worker + shared;
}

std::vector<std::string> check_network_memory(const LoadedScenario& loaded, const Profiles& profiles,
                                              double available_mib) {
  const Scenario& scenario = loaded.scenario;
  if (scenario.learner.kind != LearnerKind::network) return {};
  const double bytes = profiles.job().parameter_bytes.value();
  const std::int64_t sets = parameter_sets(scenario);
  const double gigabytes = static_cast<double>(sets) * bytes / 1e9;
  const double available = available_mib * 1024.0 * 1024.0 / 1e9;
  const std::string what = fmt::format("{} sets of {:.3g} MB, {:.3g} GB", sets, bytes / 1e6, gigabytes);
  if (gigabytes > available)
    fail_at(
        loaded, "learner.kind",
        fmt::format("a run of the learner `network` holds parameters for every worker: {}; this machine has "
                    "{:.3g} GB to give",
                    what, available),
        "fewer workers, a smaller network, or `learner: {kind: none}` for times alone");
  const bool is_local = std::ranges::any_of(
      scenario.synchronization, [](const PhaseEntry& phase) { return phase.config.local.has_value(); });
  if (!is_local) return {};
  return {fmt::format("memory: a run holds the parameters of every worker and its optimizer: {}", what)};
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
