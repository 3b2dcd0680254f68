#include "sim/study/study_runs.hpp"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/diagnostic.hpp"
#include "sim/base/interrupt.hpp"
#include "sim/base/progress.hpp"
#include "sim/learning/network_learner.hpp"
#include "sim/report/output/build_info.hpp"
#include "sim/report/output/packed_run.hpp"
#include "sim/report/output/text_table.hpp"
#include "sim/report/statistics/remarks.hpp"
#include "sim/study/checks_before_running.hpp"
#include "sim/study/pool/process_pool.hpp"
#include "sim/study/simulation.hpp"

namespace paceline {
namespace {

std::string message_about(const Scenario& scenario, InputFiles& files, const RunResult& run) {
  if (!run.stall.empty())
    return fmt::format("the job stalled at {}\n{}", format_time(run.end_time), run.stall);
  return fmt::format("{}", fmt::join(notes_after(scenario, {run}, files).lines(1), "; "));
}

// Which network and which data do not go together is known where both are loaded, which has no places.
template <class Work>
auto at_learner(const LoadedScenario& loaded, const Work& work) {
  try {
    return work();
  } catch (const UserError& error) {
    if (loaded.scenario.learner.kind != LearnerKind::network) throw;
    throw UserError(fmt::format("{}: {}", origin_of(loaded, "learner.kind"), error.what()));
  }
}

// In a process of its own.
std::string simulate_packed(PreparedStudy& study, const PlannedRun& run, const RunOptions& options) {
  const LoadedScenario loaded = study.scenario(run.point);
  const RunResult result = at_learner(loaded, [&] {
    return simulate(loaded.scenario, *study.files.profiles_of(loaded), run.replication, options.recording,
                    study.use);
  });
  return pack(FinishedRun{.summary = summary_of(result),
                          .message = message_about(loaded.scenario, study.files, result),
                          .packed = options.keep_whole ? pack(result) : std::string()});
}

}  // namespace

std::vector<PlannedRun> missing_runs(const PlannedStudy& study, const std::set<std::string>& done,
                                     const std::optional<Shard>& shard) {
  std::vector<PlannedRun> runs;
  std::set<std::string> listed;
  std::size_t position = 0;
  bool more = true;
  for (std::uint32_t r = 0; more; ++r) {
    more = false;
    for (std::size_t p = 0; p < study.points.size(); ++p) {
      if (r >= static_cast<std::uint32_t>(study.points[p].replications)) continue;
      more = true;
      std::string id = run_id(study.points[p].digest, r);
      // Combinations of equal content share their runs: the first one is simulated.
      if (!listed.insert(id).second) continue;
      const bool is_ours = !shard || position % shard->count == shard->index - 1;
      ++position;
      if (is_ours && !done.contains(id)) runs.push_back({p, r, std::move(id)});
    }
  }
  return runs;
}

std::string packed_by(const RecordingOptions& recording) {
  return fmt::format("{}{}{}", build_info().commit, recording.iterations ? " iterations" : "",
                     recording.trace ? " trace" : "");
}

double run_into_store(PreparedStudy& study, const std::vector<PlannedRun>& runs, const RunOptions& options,
                      RunStore& store) {
  const bool trains_networks = std::ranges::any_of(
      runs, [&](const PlannedRun& run) { return study.network_points.contains(run.point); });
  if (trains_networks) require_network_module();
  Progress progress("simulating");
  std::size_t finished = 0;
  std::size_t failed = 0;
  const auto show = [&] {
    progress.update(
        static_cast<double>(finished) / static_cast<double>(std::max<std::size_t>(1, runs.size())),
        fmt::format("{} of {} runs{}", finished, runs.size(),
                    failed > 0 ? fmt::format(", {} failed", failed) : ""));
  };
  if (!runs.empty()) show();
  return run_in_processes(
      runs.size(), options.jobs,
      [&](std::size_t i) {
        RunOptions of_run = options;
        of_run.recording.iterations &= options.keep_whole;
        of_run.recording.trace &= options.keep_whole && runs[i].replication == options.traced;
        return simulate_packed(study, runs[i], of_run);
      },
      [&](std::size_t i, const TaskOutcome& outcome) {
        StoredRun run{.id = runs[i].id, .status = RunStatus::done, .message = {}, .summary = {}};
        if (outcome.status == TaskStatus::done) {
          FinishedRun done = unpack_finished(outcome.output);
          run.message = std::move(done.message);
          run.summary = std::move(done.summary);
          store.record(run, done.packed, packed_by(options.recording));
        } else {
          if (options.throws_mistakes && outcome.status == TaskStatus::user_error)
            throw UserError(outcome.output);
          run.status = RunStatus::failed;
          run.message = outcome.output;
          store.record(run);
          ++failed;
        }
        ++finished;
        show();
      },
      show);
}

std::vector<ScenarioResults> whole_results(PreparedStudy& study, const RecordingOptions& recording,
                                           RunStore& store) {
  std::vector<ScenarioResults> all;
  for (std::size_t p = 0; p < study.planned.points.size(); ++p) {
    LoadedScenario loaded = study.scenario(p);
    std::vector<std::string> notes = check_before_running(loaded, study.files, study.use);
    std::vector<std::string> network_model = network_model_of(loaded.scenario);
    const std::shared_ptr<const Profiles> profiles = study.files.profiles_of(loaded);
    std::vector<ValidityRow> validity = validity_of(loaded, study.files);
    Evidence evidence;
    add_evidence(loaded, study.files, study.use, evidence);
    all.push_back({.loaded = std::move(loaded),
                   .profiles = *profiles,
                   .runs = {},
                   .failures = {},
                   .network_model = std::move(network_model),
                   .notes = std::move(notes),
                   .validity = std::move(validity),
                   .evidence = sentences_of(evidence),
                   .recording = recording,
                   .combination = study.planned.points[p].digest});
  }
  store.for_each_run([&](const StoredRun& run) {
    ScenarioResults& results = all[run.point];
    if (run.status == RunStatus::done) {
      results.runs.push_back(unpack_result(store.packed(run.id)));
    } else if (run.status == RunStatus::failed) {
      results.failures.push_back(fmt::format("replication {}: {}", run.replication, run.message));
    }
  });
  for (ScenarioResults& results : all) {
    const Notes after = notes_after(results.loaded.scenario, results.runs, study.files);
    std::ranges::move(after.lines(results.runs.size()), std::back_inserter(results.notes));
    results.validity = validity_in(summaries_of(results.runs), std::move(results.validity));
  }
  return all;
}

WholeRuns run_whole(PreparedStudy& study, const std::vector<PlannedRun>& runs, int jobs,
                    const RecordingOptions& recording, const std::filesystem::path& unfinished) {
  RunStore store(in_memory);
  store.write_plan(study.planned);
  std::error_code ignored;
  if (!unfinished.empty() && std::filesystem::exists(unfinished, ignored)) store.merge(unfinished);
  const std::set<std::string> done = store.done(packed_by(recording));
  std::vector<PlannedRun> missing = runs;
  std::erase_if(missing, [&](const PlannedRun& run) { return done.contains(run.id); });
  if (missing.size() < runs.size())
    fmt::print(stderr, "{} of {} replications are there already\n", runs.size() - missing.size(),
               runs.size());
  double memory_mib = 0.0;
  try {
    memory_mib = run_into_store(study, missing,
                                {.jobs = jobs,
                                 .keep_whole = true,
                                 .recording = recording,
                                 .traced = runs.front().replication,
                                 .throws_mistakes = true},
                                store);
  } catch (const Interrupted& interrupt) {
    const std::size_t kept = store.counts().done;
    if (unfinished.empty() || kept == 0) throw;
    store.save(unfinished);
    throw Interrupted(
        interrupt.signal_number(),
        fmt::format("interrupted: {} of {} replications are kept in {}; the same command runs the others",
                    kept, runs.size(), unfinished.string()));
  }
  WholeRuns whole{whole_results(study, recording, store), memory_mib};
  for (const ScenarioResults& results : whole.variants)
    if (results.runs.empty() && !results.failures.empty())
      throw SimulationFailed(fmt::format("{}: no run could be carried out; {}", results.loaded.scenario.name,
                                         results.failures.front()));
  return whole;
}

Notes notes_after(const Scenario& scenario, const std::vector<RunResult>& runs, InputFiles& files) {
  Notes notes;
  notes.add(alarm_notes(scenario, runs), runs.size());
  if (uses_model(scenario))
    for (const RunResult& run : runs)
      notes.add(staleness_notes(files.learner(scenario.learner.model), run), 1);
  return notes;
}

void try_network_learners(PreparedStudy& study) {
  std::vector<LoadedScenario> tried;
  const auto is_same = [](const Scenario& a, const Scenario& b) {
    const DatasetSource& x = a.job.dataset;
    const DatasetSource& y = b.job.dataset;
    return std::tie(a.job.network, a.learner.model, x.kind, x.path, x.train_samples, x.test_samples) ==
           std::tie(b.job.network, b.learner.model, y.kind, y.path, y.train_samples, y.test_samples);
  };
  for (const std::size_t point : study.network_points) {
    LoadedScenario loaded = study.scenario(point);
    const auto known = [&](const LoadedScenario& other) { return is_same(loaded.scenario, other.scenario); };
    if (std::ranges::none_of(tried, known)) tried.push_back(std::move(loaded));
  }
  if (tried.empty()) return;
  require_network_module();
  UserErrors mistakes;
  run_in_processes(
      tried.size(), 1,
      [&](std::size_t i) {
        const Scenario& scenario = tried[i].scenario;
        at_learner(tried[i], [&] { return build_learner(scenario, scenario.cluster.servers.count, {}); });
        return std::string();
      },
      [&](std::size_t, const TaskOutcome& outcome) {
        if (outcome.status == TaskStatus::user_error)
          mistakes.attempt([&] { throw UserError(outcome.output); });
      });
  mistakes.throw_if_any();
}

}  // namespace paceline
