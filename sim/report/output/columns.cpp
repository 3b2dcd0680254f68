#include "sim/report/output/columns.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "sim/base/check.hpp"
#include "sim/report/recording/activity.hpp"

namespace paceline {
namespace {

constexpr const char* replication =
    "from 0; runs of one replication share their seed over the variants of a study";

std::vector<Column> fixed_columns() {
  return {
      {"summary.csv", "replication", "-", replication},
      {"summary.csv", "seed", "-", "the scenario's; with the replication it keys every random number"},
      {"summary.csv", "reached", "0 or 1", "whether the target accuracy was reached"},
      {"summary.csv", "time_to_accuracy_s", "s", "when the snapshot that reached it was taken; empty: never"},
      {"summary.csv", "end_time_s", "s", "end of the job: the makespan"},
      {"summary.csv", "final_loss", "-", "of the last evaluation; empty: none, or not finite"},
      {"summary.csv", "final_accuracy", "fraction", "of the last evaluation; empty: none"},
      {"summary.csv", "best_accuracy", "fraction", "of all evaluations; empty: none"},
      {"summary.csv", "updates", "updates", "applied to the global parameters"},
      {"summary.csv", "samples", "samples", "whose gradients were applied"},
      {"summary.csv", "gradients_started", "gradients", "begun, whether applied or not"},
      {"summary.csv", "mean_staleness", "updates",
       "mean over applied gradients of the maximum over their shards"},
      {"summary.csv", "mean_shard_staleness", "updates",
       "mean over applied gradients of the mean over their shards"},
      {"summary.csv", "adjustments", "adjustments", "of the batches"},
      {"summary.csv", "mean_imbalance", "-",
       "slowest over balanced iteration time (balance.csv), mean over the run's time"},
      {"summary.csv", "mean_batch_growth", "-",
       "total batch over that at the start, mean over the run's time"},
      {"summary.csv", "mean_lag_s", "s", "mean of lag_s in balance.csv; empty: no change was answered"},
      {"summary.csv", "end_reason", "-", "target-reached, workload-done, diverged or stalled"},

      {"curve.csv", "replication", "-", replication},
      {"curve.csv", "time_s", "s", "when the evaluated snapshot was taken"},
      {"curve.csv", "updates", "updates", "applied by then"},
      {"curve.csv", "samples", "samples", "applied by then"},
      {"curve.csv", "epoch", "epochs", "samples over the training set's size"},
      {"curve.csv", "loss", "-", "on the held-out samples; empty: not finite"},
      {"curve.csv", "accuracy", "fraction", "on the held-out samples"},

      {"batches.csv", "replication", "-", replication},
      {"batches.csv", "time_s", "s", "the start of the job, and each adjustment"},
      {"batches.csv", "updates", "updates", "applied by then"},
      {"batches.csv", "worker", "-", "from 0"},
      {"batches.csv", "batch_samples", "samples", "of the worker's next iterations"},
      {"batches.csv", "wanted_samples", "samples", "by the controller's rule, before bounds and rounding"},
      {"batches.csv", "limited_by", "-",
       "what kept the batch from that: minimum, maximum, memory, or throughput (a larger batch was slower); "
       "empty: nothing"},

      {"balance.csv", "replication", "-", replication},
      {"balance.csv", "time_s", "s", "from when on it holds"},
      {"balance.csv", "updates", "updates", "applied by then"},
      {"balance.csv", "cause", "-", "start, adjustment (of the batches) or conditions (of the workers)"},
      {"balance.csv", "total_samples", "samples", "of all present workers' batches"},
      {"balance.csv", "batch_growth", "-", "that over its value at the start"},
      {"balance.csv", "slowest_s", "s",
       "mean iteration time of the slowest worker, without iteration jitter"},
      {"balance.csv", "balanced_s", "s", "the same under the best division of the same total"},
      {"balance.csv", "imbalance", "-", "slowest_s over balanced_s"},
      {"balance.csv", "lag_s", "s",
       "of an adjustment: since the first change of conditions not adjusted to yet; empty: none, or no "
       "adjustment"},

      {"workers.csv", "replication", "-", replication},
      {"workers.csv", "worker", "-", "from 0"},
      {"workers.csv", "gradients", "gradients", "applied"},
      {"workers.csv", "samples", "samples", "of these gradients"},
      {"workers.csv", "data_samples", "samples", "it draws its batches from: its shard, or all"},
      {"workers.csv", "passes", "passes", "samples over data_samples"},
      {"workers.csv", "gradients_per_s", "1/s", "gradients over the makespan"},

      {"staleness.csv", "replication", "-", replication},
      {"staleness.csv", "worker", "-", "from 0"},
      {"staleness.csv", "staleness", "updates", "between pull and application: the maximum over the shards"},
      {"staleness.csv", "updates", "gradients", "of this worker, applied with that staleness"},

      {"phases.csv", "replication", "-", replication},
      {"phases.csv", "phase", "-", "from 0, in the order of the scenario"},
      {"phases.csv", "policy", "-", "how workers are synchronized"},
      {"phases.csv", "transport", "-", "how gradients travel"},
      {"phases.csv", "begin_s", "s", "after the switch to it"},
      {"phases.csv", "end_s", "s", "before the switch to the next one, or the end of the job"},
      {"phases.csv", "updates", "updates", "applied during the phase"},
      {"phases.csv", "samples", "samples", "applied during the phase"},
      {"phases.csv", "mean_staleness", "updates", "mean over its gradients of the maximum over their shards"},

      {"decisions.csv", "replication", "-", replication},
      {"decisions.csv", "time_s", "s", "when it was decided"},
      {"decisions.csv", "updates", "updates", "applied by then"},
      {"decisions.csv", "phase", "-", "then, from 0"},
      {"decisions.csv", "decision", "-",
       "alarm, clear, leave-phase, return-to-phase, drop, probe or restore"},
      {"decisions.csv", "worker", "-", "it is about, or whose standing gave rise to it"},
      {"decisions.csv", "throughput_samples_per_s", "samples/s",
       "of the worker in the window that decided it, without waiting; empty: all are restored for a phase"},
      {"decisions.csv", "baseline_samples_per_s", "samples/s", "what it was compared with: its own usual"},
      {"decisions.csv", "cluster_mean_samples_per_s", "samples/s",
       "over the workers watched in that window; 0 for a probe"},
      {"decisions.csv", "cluster_deviation_samples_per_s", "samples/s", "the same; 0 for a probe"},

      {"bottlenecks.csv", "replication", "-", replication},
      {"bottlenecks.csv", "resource", "-", "a server, or one direction of a link"},
      {"bottlenecks.csv", "bytes", "B", "that it carried; empty for servers"},
      {"bottlenecks.csv", "busy_s", "s", "during which it was in use"},
      {"bottlenecks.csv", "saturated_s", "s", "during which it was used to its full rate"},
      {"bottlenecks.csv", "saturated_percent", "%", "saturated_s over the makespan"},

      {"iterations.csv", "replication", "-", replication},
      {"iterations.csv", "worker", "-", "from 0"},
      {"iterations.csv", "iteration", "-", "of this worker, from 0"},
      {"iterations.csv", "batch_samples", "samples", "of this iteration"},
      {"iterations.csv", "release_s", "s",
       "the worker may go on: its parameters start to travel, or it starts at once"},
      {"iterations.csv", "start_s", "s", "computation begins"},
      {"iterations.csv", "finish_s", "s", "the gradient is computed; empty: it never was"},
      {"iterations.csv", "arrival_s", "s",
       "its last shard is at its server, or its all-reduce is over; empty: never"},
      {"iterations.csv", "applied_s", "s", "the last shard's update takes effect; empty: never"},
      {"iterations.csv", "staleness", "updates", "the maximum over the shards; empty unless applied"},
      {"iterations.csv", "mean_staleness", "updates", "the mean over the shards; empty unless applied"},
      {"iterations.csv", "weight", "-", "in the update's combination of gradients; empty unless applied"},
      {"iterations.csv", "fate", "-",
       "applied, applied-locally (to the worker's own copy alone), discarded, or in-flight (the job "
       "stalled)"},

      {"activities.csv", "replication", "-", "0: the trace is of one run"},
      {"activities.csv", "worker", "-", "from 0"},
      {"activities.csv", "activity", "-", "as the columns of attribution.csv"},
      {"activities.csv", "begin_s", "s", "where the worker's activity before it ends"},
      {"activities.csv", "end_s", "s", "where its next one begins, or the end of the job"},

      {"comparison.csv", "variant", "-", "name"},
      {"comparison.csv", "target_accuracy", "fraction", "empty: none, end times are compared instead"},
      {"comparison.csv", "assumed_learner", "0 or 1",
       "whether no recorded runs stand behind its accuracies, nor behind the times to them"},
      {"comparison.csv", "replications", "runs", "that could be carried out"},
      {"comparison.csv", "reached", "runs", "that reached the target"},
      {"comparison.csv", "p_reach", "probability", "that one further run does; never 0 or 1"},
      {"comparison.csv", "p_reach_low", "probability", "lower end of its 90 % interval"},
      {"comparison.csv", "p_reach_high", "probability", "upper end"},
      {"comparison.csv", "time_to_accuracy_median_s", "s",
       "a run that never reaches counts as slowest; empty: never"},
      {"comparison.csv", "time_to_accuracy_kaplan_meier_s", "s",
       "median if a run that ended short of its target might have reached it later; empty: beyond the runs"},
      {"comparison.csv", "time_to_accuracy_low_s", "s",
       "lower end of a further run's 90 % interval; empty: none"},
      {"comparison.csv", "time_to_accuracy_high_s", "s", "upper end; empty: none, or open"},
      {"comparison.csv", "restricted_mean_s", "s", "mean time, at most the horizon each"},
      {"comparison.csv", "horizon_s", "s", "the longest run of all variants"},
      {"comparison.csv", "end_time_median_s", "s", "of the job, whatever ended it: also what cut it short"},
      {"comparison.csv", "end_time_low_s", "s", "lower end of a further run's 90 % interval; empty: none"},
      {"comparison.csv", "end_time_high_s", "s", "upper end; empty: none"},
      {"comparison.csv", "cut_short", "runs", "that diverged or stalled"},
      {"comparison.csv", "speedup", "-",
       "the first variant's median time over this one's; to the end of the work when neither has a target: a "
       "job cut short never does it"},
      {"comparison.csv", "speedup_low", "-",
       "lower end of the 90 % confidence interval of the mean paired ratio; empty: fewer than 2 pairs, or "
       "some never reached"},
      {"comparison.csv", "speedup_high", "-", "upper end"},
      {"comparison.csv", "p_faster", "probability", "that this variant beats the first one; never 0 or 1"},
      {"comparison.csv", "p_faster_low", "probability", "lower end of its 90 % interval"},
      {"comparison.csv", "p_faster_high", "probability", "upper end"},
      {"comparison.csv", "pairs", "pairs",
       "of replications with a common seed behind p_faster; empty: not comparable"},
      {"comparison.csv", "time_correlation", "-",
       "realized, of the two variants' log times over those pairs; empty: fewer than 3, or no variance"},
      {"comparison.csv", "throughput_samples_per_s", "samples/s", "mean over the replications"},
  };
}

// One column for each activity, in seconds and then in percent.
std::vector<Column> attribution_columns() {
  std::vector<Column> columns = {{"attribution.csv", "replication", "-", replication},
                                 {"attribution.csv", "worker", "-", "from 0"}};
  constexpr std::array<std::string_view, activity_count> meanings = {
      "forward and backward, and optimizer steps on the worker",
      "gradients, parameters or an all-reduce on the network",
      "a server applies the worker's gradient, or has it in its queue",
      "the serial part of a synchronous step",
      "writing a checkpoint",
      "changing to another phase, or to other workers",
      "pause before the first phase",
      "evaluating the parameters",
      "changing the batches",
      "not part of the cluster",
      "for other workers, or for work"};
  for (std::size_t i = 0; i < activity_count; ++i)
    columns.push_back(
        {"attribution.csv", fmt::format("{}_s", activity_names[i]), "s", std::string(meanings[i])});
  for (const std::string_view activity : activity_names)
    columns.push_back({"attribution.csv", fmt::format("{}_percent", activity), "%",
                       fmt::format("{}_s over the makespan; a row's percentages sum to 100", activity)});
  return columns;
}

std::vector<Column> all_columns() {
  std::vector<Column> columns = fixed_columns();
  const auto after_phases =
      std::ranges::find(columns, std::string("bottlenecks.csv"), [](const Column& c) { return c.file; });
  const std::vector<Column> attribution = attribution_columns();
  columns.insert(after_phases, attribution.begin(), attribution.end());
  return columns;
}

}  // namespace

const std::vector<Column>& result_columns() {
  static const std::vector<Column> columns = all_columns();
  return columns;
}

std::vector<std::string> columns_of(std::string_view file) {
  std::vector<std::string> names;
  for (const Column& column : result_columns())
    if (column.file == file) names.push_back(column.name);
  check(!names.empty(), "a CSV file without columns in the table");
  return names;
}

const std::vector<std::string>& result_files() {
  static const std::vector<std::string> files = [] {
    std::vector<std::string> names = {"manifest.json", "run-info.json", "summary.json", "trace.json"};
    for (const Column& column : result_columns())
      if (names.back() != column.file) names.push_back(column.file);
    return names;
  }();
  return files;
}

bool is_result_file(std::string_view name) {
  constexpr std::array of_study = {"runs.csv", "submit.sbatch"};
  if (std::ranges::count(result_files(), name) + std::ranges::count(of_study, name) > 0) return true;
  // The runs of a study or of one of its parts (shard-2-of-8.sqlite) with their logs; and what a part printed.
  if ((name.starts_with("shard-") || name.starts_with("study.sqlite")) && name.find(".sqlite") != name.npos)
    return true;
  return name.starts_with("task-") && name.ends_with(".log");
}

}  // namespace paceline
