#include "sim/report/recording/run_result.hpp"

namespace paceline {
namespace {

// The mean over [first record, end) of what holds from each record to the next.
template <class Value>
double time_mean(const std::vector<BalanceRecord>& records, Seconds end, const Value& value) {
  if (records.empty()) return 1.0;
  double sum = 0.0;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const Seconds until = i + 1 < records.size() ? records[i + 1].time : end;
    sum += value(records[i]) * (until - records[i].time).value();
  }
  const double duration_s = (end - records.front().time).value();
  return duration_s > 0.0 ? sum / duration_s : value(records.back());
}

}  // namespace

double RunResult::mean_shard_staleness() const {
  return gradients_applied > 0 ? shard_staleness_sum / static_cast<double>(gradients_applied) : 0.0;
}

double RunResult::mean_staleness() const {
  double sum = 0.0;
  double count = 0.0;
  for (const auto& [key, gradients] : staleness) {
    sum += static_cast<double>(key.second) * static_cast<double>(gradients);
    count += static_cast<double>(gradients);
  }
  return count > 0.0 ? sum / count : 0.0;
}

std::string_view to_string(BalanceCause cause) {
  constexpr std::string_view names[] = {"start", "adjustment", "conditions"};
  return names[static_cast<std::size_t>(cause)];
}

double RunResult::mean_imbalance() const {
  return time_mean(balances, end_time, [](const Balance& balance) { return balance.imbalance(); });
}

double RunResult::mean_batch_growth() const {
  if (balances.empty()) return 1.0;
  const auto start = static_cast<double>(balances.front().total_samples);
  return time_mean(balances, end_time, [start](const Balance& balance) {
    return static_cast<double>(balance.total_samples) / start;
  });
}

std::optional<Seconds> RunResult::mean_lag() const {
  Seconds sum;
  double answered = 0.0;
  for (const BalanceRecord& record : balances) {
    if (!record.lag) continue;
    sum += *record.lag;
    answered += 1.0;
  }
  return answered > 0.0 ? std::optional(sum / answered) : std::nullopt;
}

Seconds RunResult::evaluation_interval() const {
  if (curve.size() < 2) return Seconds{};
  return (curve.back().time - curve.front().time) / static_cast<double>(curve.size() - 1);
}

}  // namespace paceline
