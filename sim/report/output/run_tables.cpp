#include "sim/report/output/run_tables.hpp"

#include <algorithm>
#include <optional>

#include "sim/base/csv.hpp"
#include "sim/report/output/columns.hpp"
#include "sim/report/recording/bottlenecks.hpp"

namespace paceline {

namespace {

void add_summary_row(CsvTable& table, const RunResult& run) {
  const bool learned = !run.curve.empty();
  double best = 0.0;
  for (const CurvePoint& point : run.curve) best = std::max(best, point.accuracy);
  table.add(run.seed.replication)
      .add(run.seed.seed)
      .add(run.time_to_accuracy ? 1 : 0)
      .add(run.time_to_accuracy)
      .add(run.end_time)
      .add(learned ? std::optional(run.curve.back().loss) : std::nullopt)
      .add(learned ? std::optional(run.curve.back().accuracy) : std::nullopt)
      .add(learned ? std::optional(best) : std::nullopt)
      .add(run.updates)
      .add(run.samples)
      .add(run.gradients_started)
      .add(run.mean_staleness())
      .add(run.mean_shard_staleness())
      .add(run.adjustments())
      .add(run.mean_imbalance())
      .add(run.mean_batch_growth())
      .add(run.mean_lag())
      .add(run.end_reason)
      .end_row();
}

}  // namespace

std::string summary_csv(const std::vector<RunResult>& runs) {
  CsvTable table(columns_of("summary.csv"));
  for (const RunResult& run : runs) add_summary_row(table, run);
  return table.text();
}

std::vector<std::string> summary_cells(const RunResult& run) {
  CsvTable table(columns_of("summary.csv"));
  const std::size_t header = table.text().size();
  add_summary_row(table, run);
  std::vector<std::string> cells(1);
  // No cell of this table holds a comma or a quote: numbers, and words of ours.
  for (const char c : table.text().substr(header)) {
    if (c == ',') {
      cells.emplace_back();
    } else if (c != '\n') {
      cells.back() += c;
    }
  }
  return cells;
}

std::string curve_csv(const std::vector<RunResult>& runs, std::int64_t dataset_samples) {
  CsvTable table(columns_of("curve.csv"));
  for (const RunResult& run : runs)
    for (const CurvePoint& point : run.curve)
      table.add(run.seed.replication)
          .add(point.time)
          .add(point.updates)
          .add(point.samples)
          .add(static_cast<double>(point.samples) / static_cast<double>(dataset_samples))
          .add(std::optional(point.loss))
          .add(point.accuracy)
          .end_row();
  return table.text();
}

std::string batches_csv(const std::vector<RunResult>& runs) {
  CsvTable table(columns_of("batches.csv"));
  for (const RunResult& run : runs)
    for (const BatchChange& change : run.batch_changes)
      for (std::size_t w = 0; w < change.batches.size(); ++w)
        table.add(run.seed.replication)
            .add(change.time)
            .add(change.updates)
            .add(w)
            .add(change.batches[w])
            .add(change.wanted_samples[w])
            .add(to_string(change.limited_by[w]))
            .end_row();
  return table.text();
}

std::string balance_csv(const std::vector<RunResult>& runs) {
  CsvTable table(columns_of("balance.csv"));
  for (const RunResult& run : runs)
    for (const BalanceRecord& record : run.balances)
      table.add(run.seed.replication)
          .add(record.time)
          .add(record.updates)
          .add(to_string(record.cause))
          .add(record.balance.total_samples)
          .add(static_cast<double>(record.balance.total_samples) /
               static_cast<double>(run.balances.front().balance.total_samples))
          .add(record.balance.slowest)
          .add(record.balance.balanced)
          .add(record.balance.imbalance())
          .add(record.lag)
          .end_row();
  return table.text();
}

std::string workers_csv(const std::vector<RunResult>& runs, const std::vector<std::int64_t>& data_samples) {
  CsvTable table(columns_of("workers.csv"));
  for (const RunResult& run : runs) {
    for (std::size_t w = 0; w < run.worker_samples.size(); ++w) {
      std::uint64_t gradients = 0;
      for (const auto& [key, count] : run.staleness)
        if (key.first == w) gradients += count;
      const double end_s = run.end_time.value();
      table.add(run.seed.replication)
          .add(w)
          .add(gradients)
          .add(run.worker_samples[w])
          .add(data_samples.at(w))
          .add(static_cast<double>(run.worker_samples[w]) / static_cast<double>(data_samples[w]))
          .add(end_s > 0.0 ? std::optional(static_cast<double>(gradients) / end_s) : std::nullopt)
          .end_row();
    }
  }
  return table.text();
}

std::string staleness_csv(const std::vector<RunResult>& runs) {
  CsvTable table(columns_of("staleness.csv"));
  for (const RunResult& run : runs)
    for (const auto& [key, count] : run.staleness)
      table.add(run.seed.replication).add(key.first).add(key.second).add(count).end_row();
  return table.text();
}

std::string phases_csv(const std::vector<RunResult>& runs, const std::vector<PhaseLabel>& labels) {
  CsvTable table(columns_of("phases.csv"));
  for (const RunResult& run : runs)
    for (const PhaseRecord& phase : run.phases)
      table.add(run.seed.replication)
          .add(phase.phase)
          .add(labels.at(phase.phase).policy)
          .add(labels.at(phase.phase).transport)
          .add(phase.begin)
          .add(phase.end)
          .add(phase.updates)
          .add(phase.samples)
          .add(phase.mean_staleness())
          .end_row();
  return table.text();
}

std::string decisions_csv(const std::vector<RunResult>& runs) {
  CsvTable table(columns_of("decisions.csv"));
  for (const RunResult& run : runs) {
    for (const DecisionRecord& record : run.decisions) {
      const std::optional<Judgement>& seen = record.decision.judgement;
      const auto value = [&](double Judgement::*member) {
        return seen ? std::optional((*seen).*member) : std::nullopt;
      };
      table.add(run.seed.replication)
          .add(record.time)
          .add(record.updates)
          .add(record.phase)
          .add(to_string(record.decision.kind))
          .add(record.decision.worker.value)
          .add(value(&Judgement::throughput))
          .add(value(&Judgement::baseline))
          .add(value(&Judgement::cluster_mean))
          .add(value(&Judgement::cluster_deviation))
          .end_row();
    }
  }
  return table.text();
}

std::string attribution_csv(const std::vector<RunResult>& runs) {
  CsvTable table(columns_of("attribution.csv"));
  for (const RunResult& run : runs) {
    for (std::size_t w = 0; w < run.attribution.size(); ++w) {
      table.add(run.seed.replication).add(w);
      for (const Seconds time : run.attribution[w]) table.add(time);
      // A job of no duration has no shares.
      for (const Seconds time : run.attribution[w])
        table.add(run.end_time > Seconds{} ? std::optional(100.0 * (time / run.end_time)) : std::nullopt);
      table.end_row();
    }
  }
  return table.text();
}

std::string bottlenecks_csv(const std::vector<RunResult>& runs) {
  CsvTable table(columns_of("bottlenecks.csv"));
  for (const RunResult& run : runs)
    for (const ResourceUse& resource : resources_of(run))
      table.add(run.seed.replication)
          .add(resource.name)
          .add(resource.bytes ? std::optional(resource.bytes->value()) : std::nullopt)
          .add(resource.busy)
          .add(resource.saturated)
          .add(run.end_time > Seconds{} ? std::optional(100.0 * (resource.saturated / run.end_time))
                                        : std::nullopt)
          .end_row();
  return table.text();
}

std::string iterations_csv(const std::vector<RunResult>& runs) {
  CsvTable table(columns_of("iterations.csv"));
  for (const RunResult& run : runs) {
    for (const IterationRecord& record : run.iterations) {
      table.add(run.seed.replication)
          .add(record.worker.value)
          .add(record.iteration)
          .add(record.batch_samples)
          .add(record.release)
          .add(record.start)
          .add(record.finish)
          .add(record.arrival)
          .add(record.applied);
      if (record.fate == Fate::applied) {
        table.add(record.staleness).add(record.mean_staleness).add(record.weight);
      } else {
        table.add("").add("").add("");
      }
      table.add(to_string(record.fate)).end_row();
    }
  }
  return table.text();
}

std::string activities_csv(const RunResult& run) {
  CsvTable table(columns_of("activities.csv"));
  for (const ActivitySpan& span : run.trace->activities)
    table.add(run.seed.replication)
        .add(span.worker.value)
        .add(to_string(span.activity))
        .add(span.begin)
        .add(span.end)
        .end_row();
  return table.text();
}

}  // namespace paceline
