#include "calibrate/asynchronous/prediction.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "calibrate/asynchronous/exchange_model.hpp"
#include "calibrate/asynchronous/server_queue.hpp"
#include "sim/base/csv.hpp"
#include "sim/base/order_statistics.hpp"

namespace paceline {
namespace {

// Rates and durations of a long job follow from this many updates; 64,000 change them by less than 0.2 %.
constexpr double simulated_updates = 6'400.0;
// Nearly deterministic: recorded workers that keep a server 97 % busy are as fast as alone.
constexpr double update_variation = 0.03;

enum Part : std::uint32_t { queue_part, speed_part, accuracy_part };

RunRange range_of(double mean, const std::vector<double>& draws) {
  return {mean, quantile(draws, 0.05), quantile(draws, 0.95)};
}

// Longer latencies than recorded: of how many times the recorded one the region is. Only the first is known.
struct Distance {
  double least, most;
};
Distance distance_of(const std::string& region) {
  if (region.empty()) return {0.0, 0.0};
  if (region == "west") return {1.0, 2.0};
  return {1.0, 1.0};
}

std::string format_field(const std::optional<double>& value, int decimals) {
  return value ? fmt::format("{:.{}f}", *value, decimals) : "";
}

}  // namespace

AsynchronousPredictor::AsynchronousPredictor(const AsynchronousRecords& records,
                                             const std::vector<AccuracyRun>& further,
                                             const PredictionOptions& options, const std::string& left_out)
    : records_(records),
      options_(options),
      left_out_(left_out),
      speed_(records, observe_rates(records, left_out)),
      accuracy_([&] {
        std::vector<AccuracyRun> runs = accuracy_runs(records, left_out);
        runs.insert(runs.end(), further.begin(), further.end());
        return runs;
      }()) {}

AsynchronousPrediction AsynchronousPredictor::predict(const std::string& name,
                                                      const std::string& campaign) const {
  const ParsedConfiguration parsed = parse_configuration(name);
  if (parsed.configuration) return predict(*parsed.configuration, campaign);
  AsynchronousPrediction prediction;
  prediction.configuration = name;
  prediction.note = "refused: " + parsed.reason;
  return prediction;
}

AsynchronousPrediction AsynchronousPredictor::predict(const Configuration& configuration,
                                                      const std::string& campaign) const {
  AsynchronousPrediction prediction;
  prediction.configuration = configuration.name;
  const auto changes = [](const AsynchronousWorker& worker) { return worker.joins_s || worker.leaves_s; };
  if (configuration.kind != ConfigurationKind::training &&
      std::ranges::any_of(configuration.workers, changes)) {
    prediction.note = "refused: workers that join or leave have no steady rate; name a training";
  } else if (configuration.kind == ConfigurationKind::exchange) {
    const auto time = predict_exchange(records_.exchanges, configuration, left_out_);
    if (time)
      prediction.duration_s = RunRange{time->seconds, time->low_s, time->high_s};
    else
      prediction.note = "refused: no exchange of this algorithm is recorded";
  } else if (changes(configuration.workers.front())) {
    prediction.note = "refused: worker 0 is the chief: nobody trains before it joins or after it leaves";
  } else {
    predict_job(configuration, campaign, prediction);
  }
  return prediction;
}

void AsynchronousPredictor::predict_job(const Configuration& configuration, const std::string& campaign_name,
                                        AsynchronousPrediction& prediction) const {
  const bool is_training = configuration.kind == ConfigurationKind::training;
  std::vector<AloneRate> near;
  std::vector<AloneRate> far;
  std::set<std::string> notes;
  for (const AsynchronousWorker& worker : configuration.workers) {
    const Distance distance = distance_of(worker.region);
    const auto rate_at = [&](double latencies) {
      return latencies == 0.0 ? speed_.alone(configuration.network, worker.gpu, is_training, campaign_name)
                              : speed_.remote(configuration.network, worker.gpu, is_training, latencies);
    };
    const std::optional<AloneRate> low = rate_at(distance.least);
    const std::optional<AloneRate> high = rate_at(distance.most);
    if (!low || !high) {
      prediction.note = fmt::format("refused: {} alone on {}{} is not recorded", configuration.network,
                                    worker.gpu, worker.region.empty() ? "" : " with added latency");
      return;
    }
    near.push_back(*low);
    far.push_back(*high);
    if (!worker.region.empty())
      notes.insert(
          distance.most > 1.0
              ? fmt::format("assumed: {} is 1 to 2 times the recorded added latency away", worker.region)
              : fmt::format("assumed: {} is the recorded added latency away", worker.region));
  }
  const std::optional<ServiceTime> service = speed_.service(configuration.network);
  if (!service) {
    prediction.note = fmt::format("refused: the service time of {} does not follow from the records",
                                  configuration.network);
    return;
  }
  if (service->knowledge == ServiceKnowledge::bounded && configuration.workers.size() > 1)
    notes.insert("service time from runs below saturation: the server may do more");
  if (service->knowledge == ServiceKnowledge::extrapolated && configuration.workers.size() > 1)
    notes.insert("service time from other networks by tensors and bytes");
  if (configuration.servers > 1)
    notes.insert(speed_.knows_variables(configuration.network)
                     ? "assumed: whole variables placed in turn, a worker alone as fast"
                     : "assumed: variables split 0.54 to 0.46, a worker alone as fast");

  const auto queue_of = [&](const std::vector<double>& alone, double service_s, double base_s) {
    constexpr double scale = simulated_updates / training_updates;
    ServerQueue queue;
    for (std::size_t i = 0; i < alone.size(); ++i) {
      const AsynchronousWorker& worker = configuration.workers[i];
      QueueWorker& added = queue.workers.emplace_back(QueueWorker{alone[i]});
      if (worker.joins_s) added.joins_s = *worker.joins_s * scale;
      if (worker.leaves_s) added.leaves_s = *worker.leaves_s * scale;
    }
    queue.evaluations = evaluations_of_a_job;
    queue.service_s = speed_.services_of(configuration.network, configuration.servers, service_s, base_s);
    queue.compute_variation = update_variation;
    queue.service_variation = update_variation;
    queue.updates = simulated_updates;
    if (is_training) {
      queue.pause_s = records_.checkpoint_s * scale;
      queue.pause_updates = checkpoint_updates * scale;
    }
    return queue;
  };
  const auto seconds_of = [](const QueueResult& result) {
    return result.seconds * training_updates / simulated_updates;
  };
  std::vector<double> central;
  for (std::size_t i = 0; i < near.size(); ++i)
    central.push_back(0.5 * (1.0 / near[i].rate + 1.0 / far[i].rate));
  const double base_s = std::min(0.5 * speed_.base_s(), service->seconds);
  const Seed seed{options_.seed, 0};
  const QueueResult middle = simulate_queue(queue_of(central, service->seconds, base_s),
                                            RandomStream(seed, Purpose::bootstrap, queue_part));
  // A campaign named and recorded is the same cluster again.
  const bool is_same_cluster =
      options_.same_cluster ||
      (!campaign_name.empty() && std::ranges::all_of(near, &AloneRate::is_own_campaign));
  std::vector<double> durations;
  std::vector<std::vector<double>> evaluation_s;
  for (int draw = 0; draw < options_.draws; ++draw) {
    const auto index = static_cast<std::uint64_t>(draw);
    RandomStream random(seed, Purpose::bootstrap, speed_part, index);
    const double campaign = is_same_cluster ? 0.0 : random.normal(0.0, 1.0);
    const double error = random.normal(0.0, 1.0);
    const double position = random.uniform();
    const double service_s =
        position < 0.5 ? service->low_s + 2.0 * position * (service->seconds - service->low_s)
                       : service->seconds + (2.0 * position - 1.0) * (service->high_s - service->seconds);
    const double base_draw = random.uniform() * std::min(speed_.base_s(), service_s);
    const double distance = random.uniform();
    const double grid = is_training ? evaluation_grid_s * (random.uniform() - random.uniform()) : 0.0;
    const double job = random.normal(0.0, 1.0);
    std::vector<double> alone;
    for (std::size_t i = 0; i < near.size(); ++i) {
      const double step_s = 1.0 / near[i].rate;
      const double log_factor = campaign * speed_.campaign_deviation().of(step_s) +
                                job * speed_.machine_deviation(is_training).of(step_s) +
                                near[i].error * error;
      const double seconds = step_s + distance * (1.0 / far[i].rate - step_s);
      alone.push_back(seconds * std::exp(log_factor));
    }
    const QueueResult result = simulate_queue(queue_of(alone, service_s, base_draw),
                                              RandomStream(seed, Purpose::bootstrap, queue_part, index + 1));
    durations.push_back(seconds_of(result) + grid);
    std::vector<double>& evaluated = evaluation_s.emplace_back();
    for (const QueueResult::Evaluation& evaluation : result.evaluations)
      evaluated.push_back(evaluation.seconds / result.seconds * durations.back());
  }
  prediction.duration_s = range_of(seconds_of(middle), durations);
  prediction.mean_staleness = middle.mean_staleness;
  const auto is_over = [&](const std::optional<double>& time) {
    return time && *time >= prediction.duration_s->mean;
  };
  for (std::size_t i = 0; i < configuration.workers.size(); ++i)
    if (is_over(configuration.workers[i].joins_s) || is_over(configuration.workers[i].leaves_s))
      notes.insert(fmt::format("worker {} joins or leaves after the job has ended", i));
  for (const std::string& note : notes) prediction.note += (prediction.note.empty() ? "" : "; ") + note;
  if (is_training) {
    const double workers = static_cast<double>(configuration.workers.size());
    std::vector<double> exposures;
    for (const QueueResult::Evaluation& evaluation : middle.evaluations)
      exposures.push_back(evaluation.mean_staleness / std::sqrt(workers));
    predict_accuracy(exposures, evaluation_s, prediction);
  }
}

void AsynchronousPredictor::predict_accuracy(const std::vector<double>& exposures,
                                             const std::vector<std::vector<double>>& evaluation_s,
                                             AsynchronousPrediction& prediction) const {
  std::vector<double> finals;
  std::array<std::vector<double>, 2> times;
  constexpr std::array<double, 2> targets{0.85, 0.90};
  constexpr int runs_per_draw = 10;
  for (std::size_t draw = 0; draw < evaluation_s.size(); ++draw) {
    RandomStream random({options_.seed, 0}, Purpose::bootstrap, accuracy_part, draw);
    const double slope_error = random.normal(0.0, 1.0);
    for (int run = 0; run < runs_per_draw; ++run) {
      const PredictedCurve curve = accuracy_.draw(exposures, slope_error, random);
      finals.push_back(curve.final_accuracy);
      for (std::size_t target = 0; target < targets.size(); ++target) {
        const auto first =
            std::ranges::find_if(curve.accuracy, [&](double a) { return a >= targets[target]; });
        if (first == curve.accuracy.end()) continue;
        times[target].push_back(evaluation_s[draw][static_cast<std::size_t>(first - curve.accuracy.begin())]);
      }
    }
  }
  prediction.accuracy = range_of(accuracy_.mean_final(exposures.back()), finals);
  if (!times[0].empty()) prediction.to_85_s = range_of(spread_of(times[0]).mean, times[0]);
  if (!times[1].empty()) prediction.to_90_s = range_of(spread_of(times[1]).mean, times[1]);
  prediction.reach_90 = static_cast<double>(times[1].size()) / static_cast<double>(finals.size());
}

std::string predictions_csv(const std::vector<AsynchronousPrediction>& predictions) {
  CsvTable table({"configuration", "duration_s", "duration_lo", "duration_hi", "accuracy", "accuracy_lo",
                  "accuracy_hi", "to85_s", "to85_lo", "to85_hi", "to90_s", "to90_lo", "to90_hi", "reach90",
                  "mean_staleness", "joins", "leaves", "note"});
  const auto add = [&](const std::optional<RunRange>& range, int decimals) {
    using Member = double RunRange::*;
    for (const Member member : {&RunRange::mean, &RunRange::low, &RunRange::high})
      table.add(format_field(range ? std::optional((*range).*member) : std::nullopt, decimals));
  };
  for (const AsynchronousPrediction& prediction : predictions) {
    table.add(prediction.configuration);
    add(prediction.duration_s, prediction.configuration.starts_with("exchange/") ? 4 : 1);
    add(prediction.accuracy, 4);
    add(prediction.to_85_s, 0);
    add(prediction.to_90_s, 0);
    table.add(format_field(prediction.reach_90, 2)).add(format_field(prediction.mean_staleness, 2));
    table.add(prediction.joins).add(prediction.leaves).add(prediction.note);
    table.end_row();
  }
  return table.text();
}

std::vector<AsynchronousPrediction> read_predictions(const std::string& file) {
  const CsvFile csv(
      file,
      {"configuration", "duration_s", "duration_lo", "duration_hi", "accuracy", "accuracy_lo", "accuracy_hi"},
      {.is_hand_written = true});
  const auto range = [&](const CsvRow& row, const std::string& name,
                         const std::string& unit) -> std::optional<RunRange> {
    if (!csv.has(name + unit)) return std::nullopt;
    const std::optional<double> mean = row.positive_if_given(name + unit);
    if (!mean) return std::nullopt;
    const RunRange found{*mean, row.number(name + "_lo"), row.number(name + "_hi")};
    if (found.low > found.high)
      row.fail_at(name + "_lo", fmt::format("a range from {:g} to {:g} is empty", found.low, found.high));
    return found;
  };
  std::vector<AsynchronousPrediction> predictions;
  for (const CsvRow& row : csv.rows()) {
    AsynchronousPrediction& prediction = predictions.emplace_back();
    prediction.configuration = row.text("configuration");
    if (csv.has("joins")) prediction.joins = row.text("joins");
    if (csv.has("leaves")) prediction.leaves = row.text("leaves");
    prediction.duration_s = range(row, "duration", "_s");
    prediction.accuracy = range(row, "accuracy", "");
    prediction.to_85_s = range(row, "to85", "_s");
    prediction.to_90_s = range(row, "to90", "_s");
  }
  return predictions;
}

}  // namespace paceline
