// study: run what is missing of a study, write its results, print the comparison.
#include "sim/cli/study.hpp"

#include <chrono>
#include <cstdio>
#include <map>

#include <fmt/format.h>

#include "sim/base/diagnostic.hpp"
#include "sim/base/interrupt.hpp"
#include "sim/cli/options.hpp"
#include "sim/report/output/staged_folder.hpp"
#include "sim/report/statistics/comparison.hpp"
#include "sim/scenario/sweep/study_plan.hpp"
#include "sim/study/study_results.hpp"

namespace paceline {
namespace {

constexpr const char* study_examples = R"(Examples:
  paceline study study.yaml --list                  every run with its id, none carried out
  paceline study study.yaml -o results/mine         run what is missing; give it again after an interruption
  paceline study study.yaml --run 1f3a5b7c9d1e2f30  one run, with all its results
  paceline study study.yaml --shard 2/8             the second of eight parts, on any machine
  paceline study study.yaml --submit slurm          a job array that runs all parts
  paceline study merge results/mine                 put the parts together, and list what is missing)";

namespace fs = std::filesystem;

// Small studies of named variants have a folder for each, as figures of curves need them.
bool wants_folders(const StudyArguments& arguments, const PreparedStudy& study) {
  return arguments.folders || arguments.iterations || arguments.trace || study.plan.axes.empty();
}

Provenance run_missing(PreparedStudy& study, const StudyArguments& arguments,
                       const std::optional<Shard>& shard, RunStore& store) {
  const auto start = std::chrono::steady_clock::now();
  const bool keep_whole = wants_folders(arguments, study);
  const std::set<std::string> done =
      store.done(keep_whole ? std::optional(packed_by(recording_of(arguments))) : std::nullopt);
  const std::vector<PlannedRun> runs = missing_runs(study.planned, done, shard);
  const RunCounts counts = store.counts();
  if (counts.done > 0)
    fmt::print(stderr, "{} of {} runs are done already, {} to do\n", counts.done, counts.planned,
               runs.size());
  if (const std::size_t others = store.done_by_other_builds(); others > 0)
    study.notes.add(fmt::format(
        "{} of the finished runs were made by another build of paceline: --force runs all anew", others));
  const double memory = run_into_store(
      study, runs, {.jobs = arguments.jobs, .keep_whole = keep_whole, .recording = recording_of(arguments)},
      store);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  return {study.planned.command, elapsed.count(), memory, arguments.jobs};
}

// The results of the combinations that have any, each in a folder of its own.
std::vector<ScenarioResults> write_folders(PreparedStudy& study, const StudyArguments& arguments,
                                           const fs::path& folder, const Provenance& provenance,
                                           RunStore& store) {
  std::vector<ScenarioResults> all = whole_results(study, recording_of(arguments), store);
  for (std::size_t p = 0; p < all.size(); ++p) {
    if (all[p].runs.empty()) continue;  // its failures are reported with those of all runs
    StagedFolder staged(folder / study.plan.folder(p), true);
    write_results(staged.path(), all[p], provenance);
    staged.commit();
  }
  std::erase_if(all, [](const ScenarioResults& results) { return results.runs.empty(); });
  return all;
}

// Folders of combinations that are not those of the present runs would be drawn and reported beside them.
void remove_outdated_folders(const PreparedStudy& study, const fs::path& folder) {
  std::vector<fs::path> found;
  std::size_t current = 0;
  for (std::size_t p = 0; p < study.planned.points.size(); ++p) {
    const fs::path path = folder / study.plan.folder(p);
    const nlohmann::json manifest = manifest_in(path);
    if (string_in(manifest, "format") != "paceline-results") continue;
    found.push_back(path);
    if (string_in(manifest, "combination") == study.planned.points[p].digest) ++current;
  }
  if (found.empty() || current == study.planned.points.size()) return;
  std::error_code ignored;
  for (const fs::path& path : found) fs::remove_all(path, ignored);
  fmt::print(stderr,
             "folders of single combinations were of other runs, and are removed: --folders writes them\n");
}

int finish(PreparedStudy& study, const StudyArguments& arguments, const fs::path& folder,
           const Provenance& provenance, RunStore& store) {
  std::vector<ComparedRuns> runs;
  if (wants_folders(arguments, study)) {
    const std::vector<ScenarioResults> variants = write_folders(study, arguments, folder, provenance, store);
    runs = compared_runs(variants);
    for (ComparedRuns& one : runs) {
      const auto point = std::ranges::find(study.planned.points, one.name, &PlannedPoint::name);
      one.conditions = study.planned.conditions_text(point->labels);
    }
  } else {
    remove_outdated_folders(study, folder);
    std::vector<std::size_t> points;
    runs = compared_runs(study.planned, store, &points);
    for (std::size_t i = 0; study.expects && i < runs.size(); ++i)
      runs[i].expectations = evaluate_expectations(study.scenario(points[i]), runs[i].runs);
  }
  const std::vector<ComparedVariant> compared = compare(std::move(runs));
  const int status = report_counts(study.planned, store);
  for (const std::string& column : columns_without_effect(study.planned, store))
    study.notes.add(no_effect_text(column));
  std::vector<std::string> notes = study.note_lines();
  std::ranges::move(remarks_in(study.planned, store), std::back_inserter(notes));
  write_study_results(folder, study.planned, store, provenance);  // after which the store is closed
  if (!compared.empty()) print_comparison(compared, folder, arguments);
  print_warnings(study.warnings, notes);
  return report_expectations(compared, status);
}

int run_study(const StudyArguments& arguments, PreparedStudy& study) {
  const std::optional<Shard> shard = parse_shard(arguments.shard);
  const fs::path folder = folder_of(arguments, study);
  make_folder_ready(folder, study, arguments);
  RunStore store(store_path(folder, shard));  // refuses a folder that another process is at work in
  write_manifest(folder, study);
  store.write_plan(study.planned);
  try {
    const Provenance provenance = run_missing(study, arguments, shard, store);
    if (!shard) return finish(study, arguments, folder, provenance, store);
    const std::size_t missing = missing_runs(study.planned, store.done(), shard).size();
    fmt::print("part {}: {}\nwhen all parts are there: paceline study merge {}\n", arguments.shard,
               missing == 0 ? "all runs are done" : fmt::format("{} runs failed", missing),
               shell_quoted(folder.string()));
    return missing == 0 ? exit_done : exit_simulation_failed;
  } catch (const Interrupted& interrupt) {
    throw Interrupted(interrupt.signal_number(),
                      "interrupted: finished runs are kept; the same command runs the others");
  }
}

int study_command(const StudyArguments& arguments) {
  PreparedStudy study = prepare(arguments);
  if (arguments.list) return list_runs(arguments, study);
  if (!arguments.run.empty()) return run_single(arguments, study);
  if (!arguments.submit.empty()) return submit_study(arguments, study);
  return run_study(arguments, study);
}

}  // namespace

PreparedStudy prepare(const StudyArguments& arguments) {
  if (!is_study_file(arguments.file))
    throw UserError(fmt::format("{} is not a study: it has neither `study` nor `variants`", arguments.file),
                    fmt::format("for a scenario: paceline run {}", shell_quoted(arguments.file)));
  PreparedStudy study = prepare_study(arguments.file, arguments.overrides, use_of(arguments));
  study.planned.command = reproducing_command("study", arguments);
  return study;
}

fs::path folder_of(const StudyArguments& arguments, const PreparedStudy& study) {
  return arguments.output.empty() ? fs::path("results") / folder_name(study.plan.name)
                                  : fs::path(arguments.output);
}

void add_study(CLI::App& app, CommandAction& action) {
  auto [study, arguments] = add_command<StudyArguments>(
      app, "study", "simulate what a study compares; runs that are there are kept", study_command, action);
  study.footer(study_examples);
  add_file_options(study, arguments, "study (YAML: a base scenario, named variants, and what is varied)");
  study.get_option("FILE")->required(false);
  add_run_options(study, arguments);
  study.add_flag("--list", arguments.list, "print the runs, and which are done; run none");
  study.add_flag(
      "--folders", arguments.folders,
      "also write a results folder for each combination (always, when nothing but variants is given)");
  study.add_option("--run", arguments.run, "carry out one run, by its id")->type_name("ID");
  study.add_option("--shard", arguments.shard, "carry out one part of the runs into a store of its own")
      ->type_name("I/N");
  study.add_option("--submit", arguments.submit, "write and submit a job array: slurm")
      ->type_name("SCHEDULER");
  study.add_option("--tasks", arguments.tasks, "of the job array (default: 16, at most one for each run)")
      ->check(CLI::Range(1, 100'000));
  add_list(study, "--submit-option", arguments.submit_options, "passed on to sbatch (repeatable)");
  add_merge(study, action);
}

}  // namespace paceline
