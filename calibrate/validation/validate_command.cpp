#include "calibrate/validation/validate_command.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "calibrate/asynchronous/further_runs.hpp"
#include "calibrate/asynchronous/leave_one_out.hpp"
#include "calibrate/validation/learner_comparison.hpp"
#include "calibrate/validation/recorded_validation.hpp"
#include "plots/figures/figures.hpp"
#include "sim/base/atomic_file.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/base/progress.hpp"
#include "sim/report/output/staged_folder.hpp"

namespace paceline {
namespace {

plots::Scatter accuracy_scatter(const RecordedValidation& validation) {
  plots::Scatter scatter{
      .name = "final-accuracy",
      .x_title = "recorded final accuracy",
      .y_title = "predicted final accuracy",
      .note =
          "each point: the mean of a group of runs, from a fit without them; bars: where 90 % of the "
          "predicted means over as many runs lie; line: equal",
      .is_diagonal = true};
  for (const FoldResult& fold : validation.folds) {
    const std::string campaign = fold.name.substr(0, fold.name.find(": "));
    for (const HeldOutRow& row : fold.rows) {
      if (row.quantity != HeldOutQuantity::final_accuracy || !row.predicted || !row.recorded) continue;
      if (scatter.series.empty() || scatter.series.back().name != campaign)
        scatter.series.push_back({campaign});
      plots::ScatterPoint point{*row.recorded, *row.predicted};
      if (row.predicted_range) {
        point.low = row.predicted_range->low;
        point.high = row.predicted_range->high;
      }
      scatter.series.back().points.push_back(point);
    }
  }
  return scatter;
}

// A note made while the folder had its hidden name.
std::string in_place(std::string note, const std::string& staging, const std::string& folder) {
  for (std::size_t at = note.find(staging); at != std::string::npos;
       at = note.find(staging, at + folder.size()))
    note.replace(at, staging.size(), folder);
  return note;
}

std::vector<double> final_accuracies(const plots::PlottedRun& run) {
  std::vector<double> finals;
  for (const plots::LearningCurve& curve : run.curves) finals.push_back(curve.back().accuracy);
  if (finals.empty())
    throw UserError(fmt::format("{} holds no accuracies", run.folder.string()), "its job does not learn");
  return finals;
}

void validate_asynchronous(const ValidateArguments& arguments, const std::string& command) {
  StagedFolder staged(arguments.output, arguments.force);
  const LeaveOneOut result =
      leave_one_out(read_asynchronous_records(arguments.folder), further_runs(arguments.joint),
                    {.same_cluster = arguments.same_cluster, .draws = 2 * arguments.replications});
  fmt::print("{}", leave_one_out_text(result));
  write_file_atomically(staged.path() / "validation.csv", leave_one_out_csv(result));
  write_validation_manifest(staged.path(), command);
  staged.commit();
  fmt::print("\nresults: {}\n", arguments.output);
}

}  // namespace

void write_validation_manifest(const std::filesystem::path& folder, const std::string& command,
                               const std::string& note) {
  std::set<std::string> files{"manifest.json"};
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) files.insert(entry.path().lexically_relative(folder).string());
  nlohmann::ordered_json manifest{
      {"format", "paceline-validation"}, {"version", 1}, {"command", command}, {"files", files}};
  if (!note.empty()) manifest["note"] = note;
  write_file_atomically(folder / "manifest.json", manifest.dump(1) + "\n");
}

void validate_learner(const CompareLearnerArguments& arguments) {
  const std::vector<plots::PlottedRun> predicted = plots::read_results(arguments.predicted);
  std::vector<FinalAccuracies> policies;
  for (const plots::PlottedRun& trained : plots::read_results(arguments.trained)) {
    const auto same = std::ranges::find(predicted, trained.name, &plots::PlottedRun::name);
    if (same == predicted.end())
      throw UserError(fmt::format("{} has no policy `{}`", arguments.predicted, trained.name),
                      "both studies name the same policies");
    policies.push_back({trained.name, final_accuracies(trained), final_accuracies(*same)});
  }
  fmt::print("{}", comparison_text(compare_learner(policies)));
}

void validate_predictions(const ScorePredictionsArguments& arguments) {
  const std::vector<AsynchronousPrediction> predictions = read_predictions(arguments.predictions);
  const AsynchronousRecords records = read_asynchronous_records(arguments.records);
  const std::vector<LeftOutRow> rows = score_predictions(records, predictions);
  const auto changing = std::ranges::count_if(
      predictions, [](const AsynchronousPrediction& of) { return !of.joins.empty() || !of.leaves.empty(); });
  if (changing > 0)
    fmt::print(
        stderr,
        "note: {} of {} predictions are left out: recorded jobs had all their workers from start to end\n",
        changing, predictions.size());
  if (rows.empty())
    throw UserError(
        fmt::format("{} has no run of what {} predicts", arguments.records, arguments.predictions),
        "`configuration` in runs.csv names it, for example k80x4-1ps, and no worker joins or leaves");
  fmt::print("{}", scores_text(rows));
}

void validate_recorded_folder(const ValidateArguments& arguments, const std::string& command) {
  if (has_asynchronous_records(arguments.folder)) return validate_asynchronous(arguments, command);
  const std::filesystem::path folder = arguments.output;
  StagedFolder staged(folder, arguments.force);
  const RecordedRuns recorded = read_recorded_runs(arguments.folder, arguments.skip_bad);
  for (const std::string& note : recorded.notes) fmt::print(stderr, "skipped: {}\n", note);
  Progress progress("validating");
  const RecordedValidation validation =
      validate_recorded(recorded,
                        {.form = &relaxation_form(),
                         .folder = staged.path(),
                         .jobs = arguments.jobs,
                         .replications = arguments.replications,
                         .simulates = arguments.simulates,
                         .members = arguments.members,
                         .learners = arguments.learners,
                         .same_cluster = arguments.same_cluster},
                        [&](double share, const std::string& part) { progress.update(share, part); });
  fmt::print("{}", validation_text(validation));
  write_file_atomically(staged.path() / "validation.csv", validation_csv(validation));
  write_file_atomically(staged.path() / "coverage.csv", coverage_csv(validation.coverage));
  const plots::Scatter scatter = accuracy_scatter(validation);
  if (arguments.figures && !scatter.series.empty())
    plots::draw_figure(plots::scatter_figure(scatter), staged.path(), command);
  write_validation_manifest(staged.path(), command);
  staged.commit();
  for (const std::string& note : validation.notes)
    fmt::print(stderr, "note: {}\n", in_place(note, staged.path().string(), folder.string()));
  fmt::print("\nresults: {}\n", folder.string());
}

}  // namespace paceline
