#include "sim/report/output/record_columns.hpp"

#include <array>

#include <fmt/format.h>

#include "sim/learning/partition.hpp"

namespace paceline {

template <>
struct LastValue<BatchLimit> : std::integral_constant<BatchLimit, BatchLimit::throughput> {};
template <>
struct LastValue<BalanceCause> : std::integral_constant<BalanceCause, BalanceCause::conditions> {};
template <>
struct LastValue<DecisionKind> : std::integral_constant<DecisionKind, DecisionKind::restore> {};
template <>
struct LastValue<Fate> : std::integral_constant<Fate, Fate::discarded> {};
template <>
struct LastValue<Activity> : std::integral_constant<Activity, Activity::wait> {};

namespace {

constexpr const char* by_then = "applied by then";
constexpr const char* from_0 = "from 0";

// What the worker draws its batches from.
double data_samples(WorkerId worker, const Scenario& scenario) {
  const DatasetSource& dataset = scenario.job.dataset;
  return static_cast<double>(
      part_of(dataset.partition, dataset.train_samples, worker.value, scenario.cluster.workers.size())
          .size());
}

// A job of no duration has none.
std::optional<double> percent_of_run(Seconds time, const RunContext& context) {
  const Seconds end = context.run.end_time;
  return end > Seconds{} ? std::optional(100.0 * (time / end)) : std::nullopt;
}

RunColumns<CurvePoint> curve_columns() {
  return {{"time_s", "s", "when the evaluated snapshot was taken", &CurvePoint::time},
          {"updates", "updates", by_then, &CurvePoint::updates},
          {"samples", "samples", by_then, &CurvePoint::samples},
          {"epoch", "epochs", "samples over the training set's size",
           [](const CurvePoint& point, const RunContext& context) {
             return static_cast<double>(point.samples) /
                    static_cast<double>(context.results.loaded.scenario.job.dataset.train_samples);
           }},
          {"loss", "-", "on the held-out samples; empty: not finite", &CurvePoint::loss},
          {"accuracy", "fraction", "on the held-out samples", &CurvePoint::accuracy}};
}

RunColumns<BatchRecord> batch_columns() {
  return {{"time_s", "s", "the start of the job, and each adjustment", &BatchRecord::time},
          {"updates", "updates", by_then, &BatchRecord::updates},
          {"worker", "-", from_0, &BatchRecord::worker},
          {"batch_samples", "samples", "of the worker's next iterations", &BatchRecord::batch_samples},
          {"wanted_samples", "samples", "by the controller's rule, before bounds and rounding",
           &BatchRecord::wanted_samples},
          {"limited_by", "-",
           "what kept the batch from that: minimum, maximum, memory, or throughput (a larger batch was "
           "slower); empty: nothing",
           &BatchRecord::limited_by}};
}

RunColumns<BalanceRecord> balance_columns() {
  return {{"time_s", "s", "from when on it holds", &BalanceRecord::time},
          {"updates", "updates", by_then, &BalanceRecord::updates},
          {"cause", "-", "start, adjustment (of the batches) or conditions (of the workers)",
           &BalanceRecord::cause},
          {"total_samples", "samples", "of all present workers' batches", &BalanceRecord::total_samples},
          {"batch_growth", "-", "that over its value at the start",
           [](const BalanceRecord& record, const RunContext& context) {
             return static_cast<double>(record.total_samples) /
                    static_cast<double>(context.run.balances.front().total_samples);
           }},
          {"slowest_s", "s", "mean iteration time of the slowest worker, without iteration jitter",
           &BalanceRecord::slowest},
          {"balanced_s", "s", "the same under the best division of the same total", &BalanceRecord::balanced},
          {"imbalance", "-", "slowest_s over balanced_s",
           [](const BalanceRecord& record) { return record.imbalance(); }},
          {"lag_s", "s",
           "of an adjustment: since the first change of conditions not adjusted to yet; empty: none, or no "
           "adjustment",
           &BalanceRecord::lag}};
}

RunColumns<WorkerShare> worker_columns() {
  return {{"worker", "-", from_0, &WorkerShare::worker},
          {"gradients", "gradients", "applied", &WorkerShare::gradients},
          {"samples", "samples", "of these gradients", &WorkerShare::samples},
          {"data_samples", "samples", "it draws its batches from: its shard, or all",
           [](const WorkerShare& share, const RunContext& context) {
             return data_samples(share.worker, context.results.loaded.scenario);
           }},
          {"passes", "passes", "samples over data_samples",
           [](const WorkerShare& share, const RunContext& context) {
             return static_cast<double>(share.samples) /
                    data_samples(share.worker, context.results.loaded.scenario);
           }},
          {"gradients_per_s", "1/s", "gradients over the makespan",
           [](const WorkerShare& share, const RunContext& context) {
             return static_cast<double>(share.gradients) / context.run.end_time.value();
           }}};
}

RunColumns<StalenessCount> staleness_columns() {
  return {
      {"worker", "-", from_0, &StalenessCount::worker},
      {"staleness", "updates", "between pull and application: the maximum over the shards",
       &StalenessCount::staleness},
      {"gradients", "gradients", "of this worker, applied with that staleness", &StalenessCount::gradients}};
}

RunColumns<PhaseRecord> phase_columns() {
  const auto word_of = [](const char* key) {
    return [key](const PhaseRecord& record, const RunContext& context) {
      return phase_word(context.results.loaded, record.phase, key);
    };
  };
  return {{"phase", "-", "from 0, in the order of the scenario", &PhaseRecord::phase},
          {"policy", "-", "how workers are synchronized", word_of("policy")},
          {"transport", "-", "how gradients travel", word_of("transport")},
          {"begin_s", "s", "after the switch to it", &PhaseRecord::begin},
          {"end_s", "s", "before the switch to the next one, or the end of the job", &PhaseRecord::end},
          {"updates", "updates", "applied during the phase", &PhaseRecord::updates},
          {"samples", "samples", "applied during the phase", &PhaseRecord::samples},
          {"mean_staleness", "updates", "mean over its gradients of the maximum over their shards",
           &PhaseRecord::mean_staleness}};
}

RunColumns<DecisionRecord> decision_columns() {
  return {
      {"time_s", "s", "when it was decided", &DecisionRecord::time},
      {"updates", "updates", by_then, &DecisionRecord::updates},
      {"phase", "-", "then, from 0", &DecisionRecord::phase},
      {"decision", "-", "alarm, clear, leave-phase, return-to-phase, drop, probe or restore",
       &DecisionRecord::kind},
      {"worker", "-", "it is about, or whose throughput gave rise to it", &DecisionRecord::worker},
      {"throughput_samples_per_s", "samples/s",
       "of the worker in the window that decided it, without waiting; empty: all are restored for a phase",
       &DecisionRecord::throughput},
      {"baseline_samples_per_s", "samples/s", "what it was compared with: its own usual",
       &DecisionRecord::baseline},
      {"cluster_mean_samples_per_s", "samples/s", "over the workers watched in that window; 0 for a probe",
       &DecisionRecord::cluster_mean},
      {"cluster_deviation_samples_per_s", "samples/s",
       "standard deviation over the same workers; 0 for a probe", &DecisionRecord::cluster_deviation}};
}

// One column for each activity, in seconds and then in percent.
RunColumns<Attribution> attribution_columns() {
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
  RunColumns<Attribution> columns = {{"worker", "-", from_0, &Attribution::worker}};
  for (std::size_t i = 0; i < activity_count; ++i)
    columns.emplace_back(fmt::format("{}_s", activity_names[i]), "s", std::string(meanings[i]),
                         [i](const Attribution& row) { return row.times[i]; });
  for (std::size_t i = 0; i < activity_count; ++i)
    columns.emplace_back(
        fmt::format("{}_percent", activity_names[i]), "%",
        fmt::format("{}_s over the makespan; a row's percentages sum to 100", activity_names[i]),
        [i](const Attribution& row, const RunContext& context) {
          return percent_of_run(row.times[i], context);
        });
  return columns;
}

RunColumns<ResourceUse> bottleneck_columns() {
  return {{"resource", "-", "a server, or one direction of a link", &ResourceUse::name},
          {"bytes", "B", "that it carried; empty for servers", &ResourceUse::bytes},
          {"busy_s", "s", "during which it was in use", &ResourceUse::busy},
          {"saturated_s", "s", "during which it was used to its full rate", &ResourceUse::saturated},
          {"saturated_percent", "%", "saturated_s over the makespan",
           [](const ResourceUse& use, const RunContext& context) {
             return percent_of_run(use.saturated, context);
           }}};
}

RunColumns<IterationRecord> iteration_columns() {
  return {
      {"worker", "-", from_0, &IterationRecord::worker},
      {"iteration", "-", "of this worker, from 0", &IterationRecord::iteration},
      {"batch_samples", "samples", "of this iteration", &IterationRecord::batch_samples},
      {"release_s", "s", "the worker may go on: its parameters start to travel, or it starts at once",
       &IterationRecord::release},
      {"start_s", "s", "computation begins", &IterationRecord::start},
      {"finish_s", "s", "the gradient is computed; empty: it never was", &IterationRecord::finish},
      {"compute_s", "s", "forward and backward, without what messages take of the processor; empty: as above",
       &IterationRecord::compute_time},
      {"arrival_s", "s", "its last shard is at its server, or its all-reduce is over; empty: never",
       &IterationRecord::arrival},
      {"applied_s", "s", "the last shard's update takes effect; empty: never", &IterationRecord::applied},
      {"staleness", "updates", "the maximum over the shards; empty unless applied",
       &IterationRecord::staleness},
      {"mean_staleness", "updates", "the mean over the shards; empty unless applied",
       &IterationRecord::mean_staleness},
      {"weight", "-", "in the update's combination of gradients; empty unless applied",
       &IterationRecord::weight},
      {"fate", "-",
       "applied, applied-locally (to the worker's own copy alone), discarded, or in-flight (the job stalled)",
       &IterationRecord::fate}};
}

}  // namespace

void add_cell(CsvTable& csv, const Cell& cell) {
  if (cell.is_number_float()) {
    csv.add(std::optional(cell.get<double>()));
  } else if (cell.is_number_unsigned()) {
    csv.add(cell.get<std::uint64_t>());
  } else if (cell.is_number_integer()) {
    csv.add(cell.get<std::int64_t>());
  } else {
    csv.add(cell.is_null() ? std::string_view() : std::string_view(cell.get_ref<const std::string&>()));
  }
}

const RecordColumns& record_columns() {
  static const RecordColumns columns{
      .curve = curve_columns(),
      .batches = batch_columns(),
      .balance = balance_columns(),
      .workers = worker_columns(),
      .staleness = staleness_columns(),
      .phases = phase_columns(),
      .decisions = decision_columns(),
      .attribution = attribution_columns(),
      .bottlenecks = bottleneck_columns(),
      .iterations = iteration_columns(),
      .activities = {{"worker", "-", from_0, &ActivitySpan::worker},
                     {"activity", "-", "as the columns of attribution.csv", &ActivitySpan::activity},
                     {"begin_s", "s", "where the worker's activity before it ends", &ActivitySpan::begin},
                     {"end_s", "s", "where its next one begins, or the end of the job", &ActivitySpan::end},
                     {"task", "-",
                      "compute, push, pull, all-reduce, step, coordinate, pause or away; empty: it waits",
                      &ActivitySpan::task},
                     {"number", "-", "of the gradient; of the update of all-reduce, step, coordinate; from 0",
                      &ActivitySpan::number},
                     {"server", "-", "of push, pull and a server's step; from 0", &ActivitySpan::server},
                     {"batch_samples", "samples", "of that gradient", &ActivitySpan::batch_samples},
                     {"staleness", "updates", "of that gradient; empty: it was not applied",
                      &ActivitySpan::staleness}},
      .server_work = {{"server", "-", from_0, &ServerSpan::server},
                      {"begin_s", "s", "of its work on one update", &ServerSpan::begin},
                      {"end_s", "s", "of that", &ServerSpan::end},
                      {"task", "-", "accumulate or step", &ServerSpan::task},
                      {"update", "-", "of a step", &ServerSpan::update}}};
  return columns;
}

const Columns<RunSummary>& summary_columns() {
  using R = RunSummary;
  static const Columns<R> columns = {
      {"reached", "0 or 1", "whether the target accuracy was reached",
       [](const R& run) { return run.time_to_accuracy ? 1 : 0; }},
      {"time_to_accuracy_s", "s", "when the snapshot that reached it was taken; empty: never",
       &R::time_to_accuracy},
      {"end_time_s", "s", "end of the job: the makespan", &R::end_time},
      {"final_loss", "-", "of the last evaluation; empty: none, or not finite", &R::final_loss},
      {"final_accuracy", "fraction", "of the last evaluation; empty: none", &R::final_accuracy},
      {"best_accuracy", "fraction", "of all evaluations; empty: none", &R::best_accuracy},
      {"updates", "updates", "applied to the global parameters", &R::updates},
      {"samples", "samples", "whose gradients were applied", &R::samples},
      {"gradients_started", "gradients", "begun, whether applied or not", &R::gradients_started},
      {"mean_staleness", "updates", "mean over applied gradients of the maximum over their shards",
       &R::mean_staleness},
      {"mean_shard_staleness", "updates", "mean over applied gradients of the mean over their shards",
       &R::mean_shard_staleness},
      {"staleness_max", "updates", "of any applied gradient; empty: none was", &R::staleness_max},
      {"batch_min", "samples", "of any worker at any time", &R::batch_min},
      {"batch_max", "samples", "of any worker at any time", &R::batch_max},
      {"adjustments", "adjustments", "of the batches", &R::adjustments},
      {"mean_imbalance", "-", "slowest over balanced iteration time (balance.csv), mean over the run's time",
       &R::mean_imbalance},
      {"mean_batch_growth", "-", "total batch over that at the start, mean over the run's time",
       &R::mean_batch_growth},
      {"mean_lag_s", "s", "mean of lag_s in balance.csv; empty: no change was answered", &R::mean_lag},
      {"end_reason", "-", "target-reached, workload-done, diverged or stalled", &R::end_reason},
      {"evaluation_interval_s", "s", "mean time between two evaluations", &R::evaluation_interval},
      {"core_hours", "core-hours", "of all workers over the whole job", &R::core_hours}};
  return columns;
}

std::vector<WorkerShare> worker_shares(const RunResult& run) {
  std::vector<WorkerShare> shares;
  for (std::size_t w = 0; w < run.worker_samples.size(); ++w)
    shares.push_back({WorkerId{w}, 0, run.worker_samples[w]});
  for (const auto& [key, count] : run.staleness) shares.at(key.first).gradients += count;
  return shares;
}

std::vector<StalenessCount> staleness_counts(const RunResult& run) {
  std::vector<StalenessCount> counts;
  for (const auto& [key, count] : run.staleness) counts.push_back({WorkerId{key.first}, key.second, count});
  return counts;
}

std::vector<Attribution> attributions(const RunResult& run) {
  std::vector<Attribution> rows;
  for (std::size_t w = 0; w < run.attribution.size(); ++w) rows.push_back({WorkerId{w}, run.attribution[w]});
  return rows;
}

std::string phase_word(const LoadedScenario& loaded, std::uint64_t phase, const char* key) {
  const std::string path = fmt::format("synchronization.{}.{}", phase, key);
  const auto found = std::ranges::find(loaded.values, path, &ResolvedValue::key);
  return found == loaded.values.end() ? std::string() : found->value;
}

}  // namespace paceline
