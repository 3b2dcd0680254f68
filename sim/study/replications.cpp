#include "sim/study/replications.hpp"

#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "sim/base/diagnostic.hpp"
#include "sim/base/progress.hpp"
#include "sim/engine/simgrid/simgrid_timeline.hpp"
#include "sim/learning/network_learner.hpp"
#include "sim/study/notes_after_runs.hpp"
#include "sim/study/pool/process_pool.hpp"
#include "sim/study/simulation.hpp"

namespace paceline {
namespace {

struct Task {
  std::size_t variant = 0;
  std::uint32_t replication = 0;
};

// Replications vary slowest: an interrupted or watched study has every variant early.
std::vector<Task> list_tasks(const std::vector<ScenarioResults>& variants,
                             const std::optional<std::uint32_t>& only) {
  std::vector<Task> tasks;
  bool more = true;
  for (std::uint32_t r = 0; more; ++r) {
    more = false;
    for (std::size_t v = 0; v < variants.size(); ++v) {
      if (r >= static_cast<std::uint32_t>(variants[v].loaded.scenario.replications)) continue;
      if (!only || *only == r) tasks.push_back({v, r});
      more = true;
    }
  }
  return tasks;
}

}  // namespace

StudyRun run_replications(std::vector<LoadedScenario> scenarios, int jobs, RecordingOptions recording,
                          ProfileUse use, std::optional<std::uint32_t> only) {
  StudyRun study;
  for (LoadedScenario& loaded : scenarios) {
    Profiles profiles = read_profiles_of(loaded);
    std::vector<std::string> notes = check_before_running(loaded, profiles);
    if (loaded.scenario.learner.kind == LearnerKind::network) require_network_module();
    std::vector<std::string> network_model = network_model_text(loaded.scenario.cluster.network.model);
    if (use == ProfileUse::drawn) notes.push_back(check_drawing(loaded, profiles));
    study.variants.push_back({.loaded = std::move(loaded),
                              .profiles = std::move(profiles),
                              .runs = {},
                              .failures = {},
                              .network_model = std::move(network_model),
                              .notes = std::move(notes),
                              .recording = recording});
  }
  const std::vector<Task> tasks = list_tasks(study.variants, only);
  Progress progress("simulating");
  progress.update(0.0, fmt::format("0 of {} runs", tasks.size()));
  const PoolReport report = run_in_processes(
      tasks.size(), jobs,
      [&](std::size_t i) {
        const ScenarioResults& variant = study.variants[tasks[i].variant];
        // A trace shows one run; the first replication stands for the others.
        const RecordingOptions of_run{recording.iterations,
                                      recording.trace && tasks[i].replication == only.value_or(0)};
        return pack(simulate(variant.loaded.scenario, variant.profiles, tasks[i].replication, of_run, use));
      },
      [&](std::size_t finished) {
        progress.update(static_cast<double>(finished) / static_cast<double>(tasks.size()),
                        fmt::format("{} of {} runs", finished, tasks.size()));
      });
  for (const TaskOutcome& outcome : report.outcomes)
    if (outcome.status == TaskStatus::user_error) throw UserError(outcome.output);
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    ScenarioResults& variant = study.variants[tasks[i].variant];
    const TaskOutcome& outcome = report.outcomes[i];
    if (outcome.status == TaskStatus::done) {
      variant.runs.push_back(unpack(outcome.output));
    } else {
      variant.failures.push_back(fmt::format("replication {}: {}", tasks[i].replication, outcome.output));
    }
  }
  InputFiles files;
  for (ScenarioResults& variant : study.variants)
    for (std::string& note : notes_after(variant.loaded.scenario, variant.runs, files))
      variant.notes.push_back(std::move(note));
  for (const ScenarioResults& variant : study.variants)
    if (variant.runs.empty())
      throw SimulationFailed(fmt::format("{}: no run could be carried out; {}", variant.loaded.scenario.name,
                                         variant.failures.front()));
  study.peak_memory_mib = report.peak_memory_mib;
  return study;
}

}  // namespace paceline
